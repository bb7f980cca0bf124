import { addPeriods, dateIn, dayBefore, daysBetween, type Instant, type LocalDate } from '../dates.ts'
import type { Replayable } from '../loan/fold.ts'
import type { LoanTerms } from '../loan/terms.ts'
import { type Bucket, bucketIndex, type DelinquencyPolicy, isMaterial } from './policy.ts'
import { type Cause, type Standing, standingsOf } from './standings.ts'

/** What began or ended a span: a cause, a number of days past due that was reached, or the end of the days of cure. */
export type Turn = Cause | 'days passed' | 'cured'

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

/** A stretch of days on which the days past due grow evenly, or are 0. */
interface Stretch {
  readonly from: LocalDate
  readonly to: LocalDate
  /** The day from which days past due are counted; null: nothing is past due. */
  readonly countedFrom: LocalDate | null
  readonly index: number
  readonly turns: readonly Turn[]
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
  const today = dateIn(terms.zone, asOf)
  const standings = standingsOf(terms, entries, asOf)
  const spans: Span[] = []
  let held: Held | undefined
  let arrearsSince: LocalDate | null = null
  for (const [place, standing] of standings.entries()) {
    const next = standings[place + 1]
    const to = next ? dayBefore(next.from) : today
    const isLate = standing.state === 'open' && isMaterial(policy, standing.overdue, terms.principal)
    arrearsSince = isLate ? (arrearsSince ?? standing.from) : null
    if (standing.state !== 'open') {
      close(spans, standing)
      held = undefined
      continue
    }
    const countedFrom = !isLate
      ? null
      : policy.countFrom === 'oldest_unpaid'
        ? standing.oldestDue
        : dayBefore(arrearsSince ?? standing.from)
    for (const stretch of stretchesOf(policy, standing, { to, countedFrom })) {
      for (const part of heldParts(policy, held, stretch)) {
        held = part.held
        extend(spans, policy, part)
      }
    }
  }
  return spans
}

/** Divides the days of a standing where another bucket is reached. */
function stretchesOf(
  policy: DelinquencyPolicy,
  { from, causes }: Standing,
  { to, countedFrom }: { readonly to: LocalDate; readonly countedFrom: LocalDate | null },
): Stretch[] {
  if (countedFrom === null) return [{ from, to, countedFrom, index: 0, turns: causes }]
  const reached = policy.buckets.map(({ fromDays }) => addPeriods(countedFrom, fromDays, 'days'))
  const starts = [from, ...reached.filter((day) => day > from && day <= to)]
  return starts.map((start, place) => ({
    from: start,
    to: starts[place + 1] ? dayBefore(starts[place + 1]!) : to,
    countedFrom,
    index: bucketIndex(policy, daysBetween(countedFrom, start)),
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
  readonly stretch: Stretch
}

/** Divides a stretch where the days of cure are over: until then, the loan stays in its bucket. */
function heldParts({ cureDays }: DelinquencyPolicy, before: Held | undefined, stretch: Stretch): Part[] {
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

/** Adds a part to the spans: to the last one where the bucket is the same. */
function extend(spans: Span[], { buckets }: DelinquencyPolicy, { held, stretch }: Part): void {
  const { from, to, countedFrom, turns } = stretch
  const daysOn = (day: LocalDate) => (countedFrom === null ? 0 : daysBetween(countedFrom, day))
  const bucket = buckets[held.index]!
  const last = spans.at(-1)
  if (last?.to === null && last.bucket === bucket) {
    spans[spans.length - 1] = { ...last, daysTo: daysOn(to) }
    return
  }
  if (last?.to === null) spans[spans.length - 1] = { ...last, to: dayBefore(from), ended: turns }
  spans.push({ from, to: null, bucket, daysFrom: daysOn(from), daysTo: daysOn(to), began: turns, ended: [] })
}

/** Ends the last span where the loan owes nothing any more. */
function close(spans: Span[], { from, causes }: Standing): void {
  const last = spans.at(-1)
  if (last?.to === null) spans[spans.length - 1] = { ...last, to: dayBefore(from), ended: causes }
}
