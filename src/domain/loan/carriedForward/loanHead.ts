import type { Instant } from '../../dates.ts'
import type { Entry, EntryType } from '../entry.ts'
import type { Outcome } from '../outcomes.ts'
import { comesLast, type End } from '../replay.ts'
import type { HeadTerms } from '../terms.ts'

/** An entry, and what it did when it was posted. */
export interface PostedEntry {
  readonly entry: Entry
  readonly outcome: Outcome
}

/**
 * A loan as the next posting needs it: its terms, its totals and its open instalments, without its schedule and without
 * its entries. `needsHistory` says which postings cannot be decided on a head.
 */
export interface LoanHead {
  readonly terms: HeadTerms
  /** The totals and the open instalments. */
  readonly end: End
  /** The number of entries of the loan. */
  readonly count: number
  /** Entries that were posted since the head was read. Nothing is known of the entries before them but their sums. */
  readonly since: readonly PostedEntry[]
}

/** Returns whether a loan is a head, without its entries. */
export const isHead = (loan: object): loan is LoanHead => 'since' in loan

/** The part of a posting that decides whether it needs the history of its loan. */
export interface DatedPosting {
  readonly type: EntryType
  readonly valueDate: Entry['valueDate']
}

/** Types that pay money back, which is taken from the latest instalments paid, or that close the loan. */
const NEEDS_HISTORY: ReadonlySet<EntryType> = new Set(['Refund', 'Credit Balance Refund', 'Write-off'])

/**
 * Returns whether a posting can be decided only on the whole loan, with its schedule and its entries:
 * - a refund or a write-off always;
 * - a posting dated before the last entry, which changes what later entries did;
 * - any posting when the instant of the penalty has passed since the head was stored;
 * - a posting dated up to the due date when the instant of the penalty has passed, because it comes before the penalty.
 */
export function needsHistory(
  { terms, end, count }: Pick<LoanHead, 'terms' | 'end' | 'count'>,
  { type, valueDate }: DatedPosting,
  now: Instant,
): boolean {
  if (NEEDS_HISTORY.has(type)) return true
  const ordinal = count + 1
  return !comesLast(terms, end, { valueDate, place: ordinal, ordinal }, now)
}
