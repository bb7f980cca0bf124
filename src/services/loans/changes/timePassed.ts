import { service } from '../../../db/audit/trail.ts'
import type { LoanChange } from '../../../db/loans/saveLoans.ts'
import type { StoredHead, StoredLoan } from '../../../db/loans/storedLoan.ts'
import type { Instant } from '../../../domain/dates.ts'
import { consequencesOf } from '../../../domain/events/consequences.ts'
import type { Balances } from '../../../domain/loan/balances.ts'
import { dayThatWasOver, loanReviewed } from '../../../domain/loan/change/change.ts'
import { balancesNow } from '../../../domain/loan/loan.ts'

/**
 * Returns the balances that the columns of a loan say: of the moment before its next review, where that has come.
 * Undefined where it has not come.
 */
export function balancesAsStored(loan: StoredLoan | StoredHead, now: Instant): Balances | undefined {
  const { nextChangeAt, terms } = loan
  if (nextChangeAt === null || now < nextChangeAt) return undefined
  return balancesNow(loan, Math.max(terms.disbursedAt, nextChangeAt - 1))
}

/** The most changes of time before one of a caller: a year of days. The rest is one more change. */
const MOST_CHANGES = 366

/**
 * Returns the changes that time has made of a loan where the sweep has not come yet, each of the moment at which it was
 * to be reviewed. They are saved with the change that a caller makes, right before it: otherwise no receiver would be
 * told of them, because the sweep would find them saved.
 */
export function timePassed(loan: StoredLoan | StoredHead, now: Instant): LoanChange[] {
  const { terms, organizationId } = loan
  const changes: LoanChange[] = []
  let before = balancesAsStored(loan, now)
  let review = loan.nextChangeAt
  while (before && review !== null && review <= now) {
    const state: Balances = balancesNow(loan, changes.length < MOST_CHANGES ? review : now)
    if (state.totalOverdue !== before.totalOverdue || consequencesOf(before, state).length > 0) {
      const decision = { before, reason: null, posted: null, outcome: undefined, reversed: null, state }
      const on = dayThatWasOver({ terms, nextChangeAt: review }, now)
      const version = loan.version + changes.length + 1
      const changed = loanReviewed(loan, { version, on, before, after: state })
      changes.push({ author: service(organizationId), decision, posted: null, at: now, changed })
    }
    before = state
    review = changes.length < MOST_CHANGES ? state.nextChangeAt : null
  }
  return changes
}
