import type { Instant } from '../../dates.ts'
import type { Entry, EntryType } from '../entry.ts'
import type { Outcome } from '../outcomes.ts'
import { comesLast, type End } from '../replay.ts'
import { forgivingRules, mostForgiven } from '../rules/settlement.ts'
import type { HeadTerms } from '../terms/terms.ts'

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
  /** Minor units; null: not known. */
  readonly amount: bigint | null
}

/**
 * Types that pay money back, which is taken from the latest instalments paid, that close the loan, that add to an instalment,
 * which may be paid, or that change the instalments.
 */
const NEEDS_HISTORY: ReadonlySet<EntryType> = new Set([
  ...(['Refund', 'Credit Balance Refund', 'Write-off', 'Fee', 'Penalty', 'Settlement Waiver'] as const),
  ...(['Waive Fees', 'Waive Penalty', 'Restructure'] as const),
])

/**
 * Returns whether a posting can be decided only on the whole loan, with its schedule and its entries:
 * - a refund, a write-off, a single charge or a restructure always;
 * - a posting dated before the last entry, which changes what later entries did;
 * - any posting when a penalty is raised since the head was stored;
 * - a posting dated up to the day of the latest penalty, because it comes before that penalty;
 * - a posting that may settle a loan early: what was paid of each instalment decides what is forgiven.
 */
export function needsHistory(
  { terms, end, count }: Pick<LoanHead, 'terms' | 'end' | 'count'>,
  { type, valueDate, amount }: DatedPosting,
  now: Instant,
): boolean {
  if (NEEDS_HISTORY.has(type) || maySettle(terms, end, amount)) return true
  const ordinal = count + 1
  return !comesLast(terms, end, { type, valueDate, place: ordinal, ordinal }, now)
}

/** Returns whether a loan may be settled early after an amount: no more is owed than all interest. */
const maySettle = (terms: HeadTerms, { fold: { owed, totals } }: End, amount: bigint | null): boolean =>
  forgivingRules(terms) !== null && (amount === null || owed - amount <= mostForgiven(terms, totals))
