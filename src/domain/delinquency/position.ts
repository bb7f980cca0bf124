import { dateIn, dayAfter, daysBetween, type Instant, type LocalDate, startOfDay } from '../dates.ts'
import type { Entry } from '../loan/entry.ts'
import type { Replayable } from '../loan/fold.ts'
import { restructuresIn } from '../loan/restructure/plan.ts'
import type { LoanTerms } from '../loan/terms/terms.ts'
import { applyRate } from '../money.ts'
import { type Bucket, bucketIndex, type DelinquencyPolicy, isMaterial, policyIn } from './policy.ts'
import { daysPastDueOn, type Segment, segmentsOf } from './segments.ts'
import { standingAt } from './standings.ts'

/** How late an open loan is on a day, and what is at stake. Amounts in minor units. */
export interface Position {
  /** The index of the bucket. */
  readonly index: number
  readonly daysPastDue: number
  /** The principal outstanding. */
  readonly principal: bigint
  /** The provision that the bucket asks for; 0 where it has no rate, and for a loan that is charged off. */
  readonly provision: bigint
}

/** Why a loan has no position on a day. */
export type NoPosition = 'not lent' | 'closed' | 'written off'

/**
 * Returns whether the bucket of a day follows from the arrears of that day alone, so that no day before it has to be
 * looked at.
 */
export const followsFromDay = ({ countFrom, cureDays }: DelinquencyPolicy): boolean =>
  countFrom === 'oldest_unpaid' && cureDays === 0

/** A loan, as far as its positions follow from it. */
export interface Positioned {
  readonly terms: LoanTerms
  readonly entries: readonly Replayable[]
}

/**
 * Returns the positions of a loan at moments of some days; of each, the entries dated up to its day count.
 * @param moments ascending, each of another day
 */
export function positionsOn(
  loan: Positioned,
  policy: DelinquencyPolicy,
  moments: readonly Instant[],
): (Position | NoPosition)[] {
  if (followsFromDay(policy) && moments.length <= FEW_DAYS) return moments.map((at) => positionAt(loan, policy, at))
  return positionsByWalk(loan, policy, moments)
}

/** The days that are looked at one by one: more of them are found by one walk through all days. */
const FEW_DAYS = 2

/** Returns the position at a moment of a day, by a policy whose buckets follow from one day. */
function positionAt({ terms, entries }: Positioned, policy: DelinquencyPolicy, asOf: Instant): Position | NoPosition {
  const day = dateIn(terms.zone, asOf)
  if (day < terms.disbursedOn) return 'not lent'
  const { state, oldestDue, overdue, principal, isChargedOff } = standingAt(terms, datedUpTo(day, entries), asOf)
  if (state !== 'open') return state
  const isLate = oldestDue !== null && isMaterial(policyIn(policy, terms.currency), overdue, terms.principal)
  const daysPastDue = isLate ? daysBetween(oldestDue, day) : 0
  const index = bucketIndex(policy, daysPastDue)
  return { index, daysPastDue, principal, provision: provisionOf(policy, { index, principal, isChargedOff }) }
}

/** Returns the positions by one walk through all segments up to the last moment. */
function positionsByWalk(
  { terms, entries }: Positioned,
  policy: DelinquencyPolicy,
  moments: readonly Instant[],
): (Position | NoPosition)[] {
  const days = moments.map((at) => dateIn(terms.zone, at))
  const positions: (Position | NoPosition)[] = days.filter((day) => day < terms.disbursedOn).map(() => 'not lent')
  const [last, asOf] = [days.at(-1), moments.at(-1)]
  if (last === undefined || asOf === undefined || last < terms.disbursedOn) return positions
  for (const segment of segmentsOf(terms, datedUpTo(last, entries), policy, asOf))
    for (let day = days[positions.length]; day !== undefined && day <= segment.to; day = days[positions.length])
      positions.push(positionOf(policy, segment, day))
  return positions
}

/** Returns the position on a day of a segment. */
export function positionOf(policy: DelinquencyPolicy, segment: Segment, day: LocalDate): Position | NoPosition {
  const { state, principal, isChargedOff } = segment.standing
  if (state !== 'open') return state
  const { index } = segment
  const provision = provisionOf(policy, { index, principal, isChargedOff })
  return { index, daysPastDue: daysPastDueOn(segment, day), principal, provision }
}

interface AtStake {
  readonly index: number
  readonly principal: bigint
  readonly isChargedOff: boolean
}

/**
 * Returns the provision for a loan (contract 11.8): its principal outstanding at the rate of its bucket, rounded half to
 * even. A loan that is charged off has none: its whole principal is an expense already.
 */
export function provisionOf({ buckets }: DelinquencyPolicy, { index, principal, isChargedOff }: AtStake): bigint {
  const rate = buckets[index]!.provisionRate
  return rate === null || isChargedOff ? 0n : applyRate(principal, rate)
}

/**
 * Returns the moment of a day that is looked at: its end; of the day of the knowledge, the instant of the knowledge.
 * @param knownAt now, or an earlier instant
 */
export const momentOf = (day: LocalDate, knownAt: Instant, zone: string): Instant =>
  day === dateIn(zone, knownAt) ? knownAt : startOfDay(dayAfter(day), zone) - 1

/** Returns the entries that were posted up to an instant; those reversed later count as unreversed. */
export const knownThen = <Posted extends Pick<Entry, 'postedAt' | 'reversedAt'>>(
  entries: readonly Posted[],
  at: Instant,
): Posted[] =>
  entries
    .filter(({ postedAt }) => postedAt <= at)
    .map((entry) => (entry.reversedAt !== null && entry.reversedAt > at ? { ...entry, reversedAt: null } : entry))

/** Returns the entries that are dated up to a day. */
export const datedUpTo = <Dated extends Pick<Entry, 'valueDate'>>(day: LocalDate, entries: readonly Dated[]): Dated[] =>
  entries.filter(({ valueDate }) => valueDate <= day)

/** Returns the day from which the last restructure of a loan counts; null: none does. */
export const restructuredOn = (entries: readonly Replayable[]): LocalDate | null =>
  restructuresIn(entries).reduce<LocalDate | null>(
    (last, { valueDate }) => (last === null || valueDate > last ? valueDate : last),
    null,
  )

/** Returns whether a restructure of a loan counts from a day or from one before it. */
export const isRestructuredBy = (day: LocalDate, entries: readonly Replayable[]): boolean =>
  restructuresIn(entries).some(({ valueDate }) => valueDate <= day)

/** How late a loan is by a policy. */
export interface DelinquencyNow {
  readonly daysPastDue: number
  readonly bucket: Bucket
  /** The first day of the span that goes on. */
  readonly since: LocalDate
  /** In minor units; null: the bucket has no rate. */
  readonly provision: bigint | null
  /** The day from which the last restructure counts; null: the loan was not restructured. */
  readonly restructuredOn: LocalDate | null
}

/** Returns how late a loan is at a moment; null where it owes nothing then. */
export function delinquencyNow(
  { terms, entries }: Positioned,
  policy: DelinquencyPolicy,
  asOf: Instant,
): DelinquencyNow | null {
  let last: Segment | undefined
  let since = terms.disbursedOn
  for (const segment of segmentsOf(terms, entries, policy, asOf)) {
    if (last?.standing.state !== 'open' || last.index !== segment.index) since = segment.from
    last = segment
  }
  if (last?.standing.state !== 'open') return null
  const { index, standing } = last
  const bucket = policy.buckets[index]!
  const provision = bucket.provisionRate === null ? null : provisionOf(policy, { index, ...standing })
  const daysPastDue = daysPastDueOn(last, dateIn(terms.zone, asOf))
  return { daysPastDue, bucket, since, provision, restructuredOn: restructuredOn(entries) }
}
