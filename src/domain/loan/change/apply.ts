import type { Instant } from '../../dates.ts'
import { isHead, type LoanHead } from '../carriedForward/loanHead.ts'
import type { Entry } from '../entry.ts'
import { withEntry } from '../entryIndex.ts'
import { advanceHead, type Decision, type Loan, remember } from '../loan.ts'

/**
 * The moment at which the sweep reviews a loan next: no later than time alone changes a figure of it. The moment that is stored
 * is kept where it is early enough, as it is when an instalment is paid before it is due. It is in an index: to move it
 * would write the loan into all eight again, once an instalment. The sweep moves it on when it comes, off the peak. One
 * that has come already is not kept: just before the moment that is stored, a loan is always what its columns say.
 * @param next when time next changes a figure; null: never
 * @param at when the loan is saved
 */
export const nextReviewAt = (stored: Instant | null, next: Instant | null, at: Instant): Instant | null =>
  stored !== null && next !== null && at < stored && stored <= next ? stored : next

/** The part of a stored loan that each change moves on. */
interface Moving {
  readonly version: number
  readonly updatedAt: Instant
  readonly nextChangeAt: Instant | null
}

/**
 * Returns the loan as a decision leaves it, before or after it is saved. The loan before it does not change.
 * @param posted the entry of the decision, with its id
 */
export function apply<Row extends Moving & (Loan | LoanHead)>(
  loan: Row,
  decision: Decision,
  posted: Entry | null,
  now: Instant,
): Row {
  const { reversed, state, modifiedTerms, penaltyHolds } = decision
  const nextChangeAt = nextReviewAt(loan.nextChangeAt, state.nextChangeAt, now)
  const terms = modifiedTerms?.terms ?? (penaltyHolds ? { ...loan.terms, penaltyHolds } : loan.terms)
  const change = { version: loan.version + 1, updatedAt: now, nextChangeAt, terms }
  // Without an entry, only time has passed.
  if (isHead(loan)) return posted ? advanceHead({ ...loan, ...change }, decision, posted) : { ...loan, ...change }
  const { entries: before } = loan as Loan
  const marked = reversed
    ? before.map((entry) => (entry.id === reversed.id ? { ...entry, reversedAt: now } : entry))
    : before
  const after = { ...loan, ...change, entries: posted ? withEntry(marked, posted) : marked }
  remember(after as Loan, decision)
  return after
}
