import type { LocalDate } from '../dates.ts'
import { owedOf, type Period, type Totals } from './allocation.ts'
import { type Portions, totalOf } from './portions.ts'

/** Interest and fees of instalments that have not fallen due, minor units: they are not earned yet. */
export interface Unearned {
  readonly interest: bigint
  readonly fees: bigint
}

/** Interest and fees that were given up before they fell due, by how they were given up: they are never earned. */
export interface Forgone {
  readonly waived: Unearned
  readonly writtenOff: Unearned
}

/** The totals of a loan right before it was charged off: what the books had recognised until then. */
export interface AtChargeOff extends Omit<Totals, 'recovered'> {
  readonly unearned: Unearned
  readonly forgone: Forgone
}

export const NOTHING_UNEARNED: Unearned = { interest: 0n, fees: 0n }
export const NOTHING_FORGONE: Forgone = { waived: NOTHING_UNEARNED, writtenOff: NOTHING_UNEARNED }

/** Returns whether an instalment has not fallen due on a day: it falls due at the end of its due date. */
export const isNotDue = ({ dueDate }: Pick<Period, 'dueDate'>, on: LocalDate): boolean => dueDate >= on

/** Returns the interest and the fees that are owed in instalments that have not fallen due on a day. */
export const unearnedOn = (periods: readonly Period[], on: LocalDate): Unearned => sumOfNotDue(periods, on, unearnedOf)

/**
 * Returns what is owed and not earned of an instalment that has not fallen due. What a restructure moved to it of instalments
 * that had fallen due is earned, and is paid first.
 */
export function unearnedOf(period: Period, part: 'interest' | 'fees'): bigint {
  const owed = owedOf(period, part)
  if (period.fallen === undefined) return owed
  const unearned = period.due[part] - period.fallen[part]
  return unearned < owed ? unearned : owed
}

/** Returns what of a bucket was given up before it was earned. */
function givenUpOf(period: Period, bucket: keyof Forgone, part: 'interest' | 'fees'): bigint {
  const given = period[bucket][part]
  if (period.fallen === undefined) return given
  const { paid, waived, writtenOff } = period
  const early = paid[part] + waived[part] + writtenOff[part] - period.fallen[part]
  return early <= 0n ? 0n : early < given ? early : given
}

/** Returns the interest and the fees in a bucket of instalments that have not fallen due on a day. */
export const givenUpEarly = (periods: readonly Period[], bucket: keyof Forgone, on: LocalDate): Unearned =>
  sumOfNotDue(periods, on, (period, part) => givenUpOf(period, bucket, part))

function sumOfNotDue(
  periods: readonly Period[],
  on: LocalDate,
  amountOf: (period: Period, part: 'interest' | 'fees') => bigint,
): Unearned {
  let interest = 0n
  let fees = 0n
  for (const period of periods) {
    if (!isNotDue(period, on)) continue
    interest += amountOf(period, 'interest')
    fees += amountOf(period, 'fees')
  }
  return { interest, fees }
}

/** Returns `forgone` with what a bucket has become, from `before` to `after`. */
export const forgoing = (forgone: Forgone, bucket: keyof Forgone, before: Unearned, after: Unearned): Forgone => ({
  ...forgone,
  [bucket]: {
    interest: forgone[bucket].interest + after.interest - before.interest,
    fees: forgone[bucket].fees + after.fees - before.fees,
  },
})

/** Returns whether nothing was waived, so that nothing can have been given up early. */
export const isNothingWaived = (waived: Readonly<Portions>): boolean => totalOf(waived) === 0n
