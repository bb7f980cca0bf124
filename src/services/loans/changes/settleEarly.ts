import type { Author } from '../../../db/audit/trail.ts'
import type { LoanChange } from '../../../db/loans/saveLoans.ts'
import type { StoredHead, StoredLoan } from '../../../db/loans/storedLoan.ts'
import type { Instant } from '../../../domain/dates.ts'
import { isHead } from '../../../domain/loan/carriedForward/loanHead.ts'
import { settle } from '../../../domain/loan/loan.ts'
import { settlementDay } from '../../../domain/loan/rules/earlySettlement.ts'

/**
 * Returns the waiver that follows from a change of a loan: the change settles the loan early (contract 10.11). The waiver
 * is saved with the change, by the same author, whose Idempotency-Key belongs to the change alone. A head is never settled: `needsHistory` says so.
 * @param nextId returns the id of the waiver
 * @returns undefined where the change does not settle the loan
 */
export function waiverAfter(
  loan: StoredLoan | StoredHead,
  { claim: _, ...author }: Author,
  now: Instant,
  nextId: () => bigint,
): LoanChange | undefined {
  if (isHead(loan)) return undefined
  const day = settlementDay(loan)
  if (day === undefined) return undefined
  const decision = settle(loan, day, now)
  return { author, decision, posted: decision.posted && { ...decision.posted, id: nextId() }, at: now }
}
