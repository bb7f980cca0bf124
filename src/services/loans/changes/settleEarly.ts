import type { LoanChange } from '../../../db/loans/saveLoans.ts'
import { apply, type StoredHead, type StoredLoan } from '../../../db/loans/storedLoan.ts'
import { isHead } from '../../../domain/loan/carriedForward/loanHead.ts'
import { settle, settledDayOf } from '../../../domain/loan/rules/earlySettlement.ts'

/** The changes that a change of a loan comes to, in the order in which they are saved, and the loan after them. */
export interface Settlement<Loan = StoredLoan | StoredHead> {
  /** The change itself, as it is saved. */
  readonly change: LoanChange
  /** The waiver before it, where it settles the loan early. */
  readonly waiver: LoanChange | undefined
  readonly after: Loan
}

/**
 * Applies a change to a loan with the waiver that follows from it, where the change settles the loan early (contract 10.11). The
 * waiver is saved before the change, by the same author, whose Idempotency-Key belongs to the change alone. A head is never
 * settled: `needsHistory` says so.
 * @param nextId returns the id of the waiver
 */
export function withWaiver(loan: StoredLoan, change: LoanChange, nextId: () => bigint): Settlement<StoredLoan>
export function withWaiver(loan: StoredLoan | StoredHead, change: LoanChange, nextId: () => bigint): Settlement
export function withWaiver(loan: StoredLoan | StoredHead, change: LoanChange, nextId: () => bigint): Settlement {
  const { decision, posted, at } = change
  const after = apply(loan, decision, posted, at)
  const day = isHead(after) ? undefined : settledDayOf(after)
  if (isHead(after) || !day) return { change, waiver: undefined, after }
  const { claim: _, ...author } = change.author
  const { waiver, cause } = settle(after, decision, day, at)
  const saved = { author, decision: waiver, posted: waiver.posted && { ...waiver.posted, id: nextId() }, at }
  const settled = apply(after, { ...waiver, state: cause.state }, saved.posted, at)
  return { change: { ...change, decision: cause }, waiver: saved, after: settled }
}
