import { addPeriods, daysBetween, type Instant, type LocalDate } from '../../dates.ts'
import type { Rate } from '../../money.ts'
import type { Distance, RatePer } from '../../product/terms.ts'

/** The ways in which a restructure changes the instalments of a loan. */
export const CHANGE_KINDS = [
  'newFirstDueDate',
  'postponeBy',
  'numberOfRepayments',
  'instalmentAmount',
  'until',
] as const

/** What a restructure changes of the instalments that owe something. */
export type ScheduleChange =
  /** The first is due on a day, and the others follow it. */
  | { readonly kind: 'newFirstDueDate'; readonly on: LocalDate }
  /** A holiday: each waits for a number of periods. */
  | { readonly kind: 'postponeBy'; readonly periods: number }
  /** What is owed is divided into a number of instalments; `every` is their new distance, null: that of before. */
  | { readonly kind: 'numberOfRepayments'; readonly count: number; readonly every: Distance | null }
  /** What is owed is divided into instalments of an amount, in minor units. */
  | { readonly kind: 'instalmentAmount'; readonly amount: bigint }
  /** A roll-over: what is left is due on a later day. */
  | { readonly kind: 'until'; readonly on: LocalDate }

/** The interest of the time that a restructure adds: by the rate of the loan, none, or by another rate. */
export type AddedInterest = 'keep' | 'none' | { readonly rate: Rate; readonly ratePer: RatePer }

/** Why a loan is restructured. */
export const RESTRUCTURE_REASONS = ['hardship', 'roll_over', 'disaster', 'error', 'other'] as const
export type RestructureReason = (typeof RESTRUCTURE_REASONS)[number]

/** What a restructure changes. The schedule that follows from it is computed in each replay. */
export interface RestructurePlan {
  readonly change: ScheduleChange
  /** The distance of the instalments before the restructure. */
  readonly every: Distance
  readonly interest: AddedInterest
  readonly reason: RestructureReason
}

/** What an entry has to do with a restructure: it is one, or it is a waiver or a fee that was posted with one. */
export type RestructureRole =
  | { readonly plan: RestructurePlan }
  /** `of` is the ordinal of the restructure; a fee that `isDueNow` has an instalment on its own day. */
  | { readonly of: number; readonly isDueNow: boolean }

/** Returns the plan of an entry that is a restructure; undefined for any other entry. */
export const planOf = (role: RestructureRole | null | undefined): RestructurePlan | undefined =>
  role && 'plan' in role ? role.plan : undefined

/** Returns the ordinal of the restructure with which an entry was posted; undefined for any other entry. */
export const causeOf = (role: RestructureRole | null | undefined): number | undefined =>
  role && 'of' in role ? role.of : undefined

/** An entry, as far as it says whether it restructures its loan. */
interface Restructurable {
  readonly restructure?: RestructureRole | null
  readonly reversedAt: Instant | null
}

/** Returns the restructures of a loan that are not reversed, in the order of their posting. */
export const restructuresIn = <One extends Restructurable>(entries: readonly One[]): One[] =>
  entries.filter(({ restructure, reversedAt }) => reversedAt === null && planOf(restructure) !== undefined)

/**
 * Returns the distance of the instalments of a schedule: that of its due dates, counted from the disbursement in months, or
 * else from the last due date but one to the last in days.
 */
export function distanceIn({
  disbursedOn,
  schedule,
}: {
  readonly disbursedOn: LocalDate
  readonly schedule: readonly { readonly dueDate: LocalDate }[]
}): Distance {
  const dates = [disbursedOn, ...schedule.map(({ dueDate }) => dueDate)]
  const [first, second] = [monthOf(dates[0]!), monthOf(dates[1]!)]
  const months = second - first
  const isMonthly =
    months > 0 &&
    schedule.every(({ dueDate }, index) => dueDate === addPeriods(disbursedOn, (index + 1) * months, 'months'))
  if (isMonthly) return { every: months, unit: 'months' }
  return { every: Math.max(1, daysBetween(dates.at(-2)!, dates.at(-1)!)), unit: 'days' }
}

const monthOf = (date: LocalDate): number => Number(date.slice(0, 4)) * 12 + Number(date.slice(5, 7))
