import { dayBefore, type Instant, type LocalDate } from '../dates.ts'
import type { Replayable } from '../loan/fold.ts'
import type { LoanTerms } from '../loan/terms.ts'
import type { Bucket, DelinquencyPolicy } from './policy.ts'
import { daysPastDueOn, type Segment, segmentsOf, type Turn } from './segments.ts'

/** Days in a row on which a loan was in one bucket. */
export interface Span {
  readonly from: LocalDate
  /** The last day; null: the span goes on. */
  readonly to: LocalDate | null
  readonly bucket: Bucket
  /** Days past due on the first day. */
  readonly daysFrom: number
  /** Days past due on the last day, or on the day that was asked for. */
  readonly daysTo: number
  readonly began: readonly Turn[]
  /** Empty while the span goes on. */
  readonly ended: readonly Turn[]
}

/**
 * Returns the spans of a loan by a policy, from disbursement to the day of a moment (contract 11.2); none for the time
 * in which nothing is owed.
 */
export function spansOf(
  terms: LoanTerms,
  entries: Iterable<Replayable>,
  policy: DelinquencyPolicy,
  asOf: Instant,
): Span[] {
  const spans: Span[] = []
  for (const segment of segmentsOf(terms, entries, policy, asOf)) {
    if (segment.standing.state === 'open') extend(spans, policy, segment)
    else close(spans, segment)
  }
  return spans
}

/** Adds a segment to the spans: to the last one where the bucket is the same. */
function extend(spans: Span[], { buckets }: DelinquencyPolicy, segment: Segment): void {
  const { from, to, turns } = segment
  const bucket = buckets[segment.index]!
  const last = spans.at(-1)
  const daysTo = daysPastDueOn(segment, to)
  if (last?.to === null && last.bucket === bucket) {
    spans[spans.length - 1] = { ...last, daysTo }
    return
  }
  close(spans, segment)
  spans.push({ from, to: null, bucket, daysFrom: daysPastDueOn(segment, from), daysTo, began: turns, ended: [] })
}

/** Ends the last span on the day before a segment. */
function close(spans: Span[], { from, turns }: Segment): void {
  const last = spans.at(-1)
  if (last?.to === null) spans[spans.length - 1] = { ...last, to: dayBefore(from), ended: turns }
}
