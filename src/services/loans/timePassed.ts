import { service } from '../../db/audit/trail.ts'
import type { LoanChange } from '../../db/loans/saveLoans.ts'
import type { StoredHead, StoredLoan } from '../../db/loans/storedLoan.ts'
import type { Instant } from '../../domain/dates.ts'
import { consequencesOf } from '../../domain/events/consequences.ts'
import type { Balances } from '../../domain/loan/balances.ts'
import { balancesNow } from '../../domain/loan/loan.ts'

/**
 * Returns the balances that the columns of a loan say: of the moment before its next review, where that has come.
 * Undefined where it has not come.
 */
export function balancesAsStored(loan: StoredLoan | StoredHead, now: Instant): Balances | undefined {
  const { nextChangeAt, terms } = loan
  if (nextChangeAt === null || now < nextChangeAt) return undefined
  return balancesNow(loan, Math.max(terms.disbursedAt, nextChangeAt - 1))
}

/**
 * Returns the change that time has made of a loan where the sweep has not come yet. It is saved with the change that a
 * caller makes, right before it: otherwise no receiver would be told of it, because the sweep would find it saved.
 * @returns undefined where time has changed nothing
 */
export function timePassed(loan: StoredLoan | StoredHead, now: Instant): LoanChange | undefined {
  const before = balancesAsStored(loan, now)
  if (!before) return undefined
  const state = balancesNow(loan, now)
  if (state.totalOverdue === before.totalOverdue && consequencesOf(before, state).length === 0) return undefined
  const decision = { before, reason: null, posted: null, outcome: undefined, reversed: null, state }
  return { author: service(loan.organizationId), decision, posted: null, at: now }
}
