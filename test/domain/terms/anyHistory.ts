import fc from 'fast-check'
import { type Day, dayOf, sameTime, startOf } from './naive/calendar.ts'
import type { Kind, NaiveLoan } from './naive/loan.ts'

/** Something to do to a loan: what it means depends on the loan then. */
export interface Step {
  readonly does: 'post' | 'pay off' | 'reverse' | 'adjust' | 'look'
  readonly type: Exclude<Kind, 'Settlement Waiver' | 'Waive Fees' | 'Waive Penalty' | 'Restructure'>
  /** Of what the transaction is about, in thousandths. */
  readonly share: number
  readonly isExact: boolean
  /** How the clock goes on: by hours, or to one of the next moments at which something changes, nearly. */
  readonly clock: { readonly hours: number } | { readonly moments: number; readonly offset: number }
  /** Days from the value date to today. */
  readonly ago: number
  readonly target: number
  /** Days from today to the due date of a single charge. */
  readonly dueIn: number
}

const HOUR_MS = 3_600_000

const kinds = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Step['type']>('Repayment') },
  { weight: 4, arbitrary: fc.constantFrom<Step['type'][]>('Fee', 'Penalty') },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Step['type'][]>(
      'Waive Interest',
      'Refund',
      'Credit Balance Refund',
      'Recovery Repayment',
    ),
  },
  { weight: 3, arbitrary: fc.constantFrom<Step['type'][]>('Charge-off', 'Charge-off', 'Charge-off', 'Write-off') },
)

const clock = fc.oneof(
  fc.record({
    hours: fc.oneof(
      fc.integer({ min: 0, max: 4 }),
      fc.integer({ min: 0, max: 30 }),
      fc.integer({ min: 0, max: 1_500 }),
    ),
  }),
  fc.record({
    moments: fc.integer({ min: 1, max: 4 }),
    offset: fc.constantFrom(0, 0, -1, 1, HOUR_MS, -HOUR_MS, 2 * HOUR_MS),
  }),
)

const step: fc.Arbitrary<Step> = fc.record({
  does: fc.constantFrom('post', 'post', 'post', 'post', 'post', 'post', 'pay off', 'reverse', 'adjust', 'look'),
  type: kinds,
  share: fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 1, max: 400 }) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 1_300 }) },
  ),
  isExact: fc.integer({ min: 0, max: 6 }).map((one) => one === 0),
  clock,
  ago: fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 4 }) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 120 }) },
  ),
  target: fc.nat({ max: 50 }),
  dueIn: fc.oneof(fc.constant(0), fc.integer({ min: -40, max: 90 })),
})

const spread = fc.array(step, { minLength: 1, maxLength: 10 })

/** Histories of which all but the first happens on nearly the same day: what comes first is all that matters then. */
const crowded = fc
  .tuple(spread, fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 10, maxLength: 10 }))
  .map(([steps, hours]) =>
    steps.map(
      (one, index): Step => (index === 0 ? one : { ...one, clock: { hours: hours[index]! }, ago: one.ago % 3 }),
    ),
  )

/** Any history of a loan. */
export const anyHistory: fc.Arbitrary<Step[]> = fc.oneof(
  { weight: 3, arbitrary: spread },
  { weight: 1, arbitrary: crowded },
)

/** How far after the last due date the clock goes. */
const DAYS_AFTER = 120

/** Returns moments near which something changes by time alone: the end of due dates, and penalty occurrences. */
export function momentsOf({ schedule, product, disbursedAt }: NaiveLoan): number[] {
  const grace = product.terms?.penalty?.graceDays ?? 0
  const moments = new Set<number>()
  for (const { dueDate } of schedule) {
    const due = dayOf(dueDate)
    moments.add(startOf(due + 1))
    for (const after of [0, grace, grace + 1, grace + 2, grace + 7, grace + 14, grace + 30, grace + 31])
      moments.add(sameTime(due + after, disbursedAt))
  }
  return [...moments].toSorted((a, b) => a - b)
}

/** Returns the moment at which the clock ends. */
export const lastMoment = ({ schedule, disbursedAt }: NaiveLoan): number =>
  sameTime(dayOf(schedule.at(-1)!.dueDate) + DAYS_AFTER, disbursedAt)

/** Returns the next moment of the clock, which never goes back nor beyond its end. */
export function momentAfter(now: number, clock: Step['clock'], moments: readonly number[], last: number): number {
  const next = 'hours' in clock ? now + clock.hours * HOUR_MS : momentFrom(now, clock, moments)
  return Math.min(Math.max(next, now), last)
}

function momentFrom(
  now: number,
  { moments: count, offset }: Extract<Step['clock'], { readonly moments: number }>,
  moments: readonly number[],
): number {
  const later = moments.filter((moment) => moment > now)
  return (later[Math.min(count, later.length) - 1] ?? now) + offset
}

/** Returns a day some days before another, and not before the first that a loan has. */
export const daysBefore = (day: Day, ago: number, first: Day): Day => Math.max(first, day - ago)
