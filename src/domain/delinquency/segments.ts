import { addPeriods, dateIn, dayBefore, daysBetween, type Instant, type LocalDate } from '../dates.ts'
import type { Replayable } from '../loan/fold.ts'
import type { LoanTerms } from '../loan/terms/terms.ts'
import { type Bucket, bucketIndex, type DelinquencyPolicy, isMaterial, policyIn } from './policy.ts'
import { type Cause, type Standing, standingsOf } from './standings.ts'

/** What began or ended a span: a cause, a number of days past due that was reached, or the end of the days of cure. */
export type Turn = Cause | 'days passed' | 'cured'

/** Days in a row on which a loan owes the same, is in one bucket, and the days past due grow evenly or are 0. */
export interface Segment {
  readonly from: LocalDate
  readonly to: LocalDate
  /** The index of the bucket. */
  readonly index: number
  /** The day from which days past due are counted; null: nothing is past due. */
  readonly countedFrom: LocalDate | null
  /** What the loan owes on these days. */
  readonly standing: Standing
  readonly turns: readonly Turn[]
}

/** Returns the days past due on a day of a segment. */
export const daysPastDueOn = ({ countedFrom }: Pick<Segment, 'countedFrom'>, day: LocalDate): number =>
  countedFrom === null ? 0 : daysBetween(countedFrom, day)

/**
 * Returns the segments of a loan by a policy, from disbursement to the day of a moment. The days on which nothing is owed
 * are segments, too: of the best bucket.
 */
export function* segmentsOf(
  terms: LoanTerms,
  entries: Iterable<Replayable>,
  ofLender: DelinquencyPolicy,
  asOf: Instant,
): Generator<Segment> {
  const policy = policyIn(ofLender, terms.currency)
  const today = dateIn(terms.zone, asOf)
  const standings = standingsOf(terms, entries, asOf)
  let held: Held | undefined
  let arrearsSince: LocalDate | null = null
  for (const [place, standing] of standings.entries()) {
    const next = standings[place + 1]
    const to = next ? dayBefore(next.from) : today
    const isLate = standing.state === 'open' && isMaterial(policy, standing.overdue, terms.principal)
    arrearsSince = isLate ? (arrearsSince ?? standing.from) : null
    if (standing.state !== 'open') {
      yield { from: standing.from, to, index: 0, countedFrom: null, standing, turns: standing.causes }
      held = undefined
      continue
    }
    const countedFrom = !isLate
      ? null
      : policy.countFrom === 'oldest_unpaid'
        ? standing.oldestDue
        : dayBefore(arrearsSince ?? standing.from)
    for (const stretch of stretchesOf(policy, standing, { to, countedFrom }))
      for (const part of heldParts(policy, held, stretch)) {
        held = part.held
        yield { ...part.stretch, index: held.index }
      }
  }
}

/** Divides the days of a standing where another bucket is reached. */
function stretchesOf(
  policy: DelinquencyPolicy,
  standing: Standing,
  { to, countedFrom }: { readonly to: LocalDate; readonly countedFrom: LocalDate | null },
): Segment[] {
  const { from, causes } = standing
  if (countedFrom === null) return [{ from, to, countedFrom, index: 0, standing, turns: causes }]
  const index = bucketIndex(policy, daysBetween(countedFrom, from))
  // Most standings end in the bucket in which they begin, and then no day of a bucket is looked for.
  if (to === from || bucketIndex(policy, daysBetween(countedFrom, to)) === index)
    return [{ from, to, countedFrom, index, standing, turns: causes }]
  const reached = policy.buckets.map(({ fromDays }) => addPeriods(countedFrom, fromDays, 'days'))
  const starts = [from, ...reached.filter((day) => day > from && day <= to)]
  return starts.map((start, place) => ({
    from: start,
    to: starts[place + 1] ? dayBefore(starts[place + 1]!) : to,
    countedFrom,
    index: bucketIndex(policy, daysBetween(countedFrom, start)),
    standing,
    turns: place === 0 ? causes : ['days passed'],
  }))
}

/** The bucket in which a loan is, and since when it would be in a better one. */
interface Held {
  readonly index: number
  readonly betterSince: LocalDate | null
}

interface Part {
  readonly held: Held
  readonly stretch: Segment
}

/** Divides a stretch where the days of cure are over: until then, the loan stays in its bucket. */
function heldParts({ cureDays }: DelinquencyPolicy, before: Held | undefined, stretch: Segment): Part[] {
  const { index, from, to } = stretch
  const moved = { index, betterSince: null }
  if (before === undefined || index >= before.index) return [{ held: moved, stretch }]
  const betterSince = before.betterSince ?? from
  const cured = addPeriods(betterSince, cureDays, 'days')
  if (cured <= from) return [{ held: moved, stretch: cureDays === 0 ? stretch : { ...stretch, turns: ['cured'] } }]
  const held = { index: before.index, betterSince }
  if (cured > to) return [{ held, stretch }]
  return [
    { held, stretch: { ...stretch, to: dayBefore(cured) } },
    { held: moved, stretch: { ...stretch, from: cured, turns: ['cured'] } },
  ]
}

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
