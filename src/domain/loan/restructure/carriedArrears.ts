import type { LocalDate } from '../../dates.ts'
import type { Period, Totals } from '../allocation.ts'
import { totalOf } from '../portions.ts'
import type { MovedDues } from './movedDues.ts'
import type { RestructurePlan, RestructureReason } from './plan.ts'

/** What a restructure counts as where arrears are judged. */
export type CountsAs = 'commercial' | 'hardship'

/** An amount that was overdue at a restructure, with all that was due before it: minor units. */
interface Late {
  readonly dueDate: LocalDate
  readonly owed: bigint
}

/** What the last restructure of a loan has made of it. */
export interface Restructured {
  /** The ordinal of the restructure, and the day from which it counts. */
  readonly ordinal: number
  readonly on: LocalDate
  readonly countsAs: CountsAs
  /** The last due date of the schedule in force. */
  readonly dueOn: LocalDate
  /** What was overdue then, by due date: it counts as overdue until as much is paid, waived or written off. */
  readonly arrears: readonly Late[]
  /** What was settled of the loan before the restructure, minor units. */
  readonly settledBefore: bigint
  /** The due dates of before each restructure of the loan that was told late. */
  readonly moved: readonly MovedDues[]
}

/** Arrears of before a restructure that count as overdue. */
export interface CarriedArrears {
  readonly oldestDue: LocalDate
  readonly overdue: bigint
}

/** Returns what was paid, waived and written off of a loan, minor units. */
export const settledOf = ({ paid, waived, writtenOff }: Readonly<Totals>): bigint =>
  totalOf(paid) + totalOf(waived) + totalOf(writtenOff)

/** The part of a fold that carried arrears follow from. */
interface Carrying {
  readonly periods: readonly Period[]
  readonly totals: Readonly<Totals>
  readonly restructured: Restructured | null
}

/** Returns the arrears of before the last restructure that still count; null where none do. */
export function carriedArrears({
  restructured,
  totals,
}: Pick<Carrying, 'restructured' | 'totals'>): CarriedArrears | null {
  if (restructured === null || restructured.arrears.length === 0) return null
  const left = leftOf(restructured, totals)
  const [first] = left
  return first ? { oldestDue: first.dueDate, overdue: left.at(-1)!.owed } : null
}

function leftOf({ arrears, settledBefore }: Restructured, totals: Readonly<Totals>): Late[] {
  const settled = settledOf(totals) - settledBefore
  return arrears.flatMap(({ dueDate, owed }) => (owed > settled ? [{ dueDate, owed: owed - settled }] : []))
}

/**
 * Returns the arrears that a restructure carries: what is overdue on its day, and what an earlier one carried. The correction
 * of an error carries only the latter.
 */
export function arrearsCarried(fold: Carrying, reason: RestructureReason, on: LocalDate): Late[] {
  const before = fold.restructured ? leftOf(fold.restructured, fold.totals) : []
  const now = reason === 'error' ? [] : overdueOn(fold.periods, on)
  const days = [...new Set([...before, ...now].map(({ dueDate }) => dueDate))].toSorted()
  const upTo = (late: readonly Late[], day: LocalDate) => late.findLast(({ dueDate }) => dueDate <= day)?.owed ?? 0n
  return days.map((dueDate) => {
    const [a, b] = [upTo(before, dueDate), upTo(now, dueDate)]
    return { dueDate, owed: a > b ? a : b }
  })
}

/** Returns what is overdue on a day, by due date, each with all that was due before it. */
function overdueOn(periods: readonly Period[], on: LocalDate): Late[] {
  let owed = 0n
  return periods
    .filter((period) => period.owed > 0n && period.dueDate < on)
    .map((period) => {
      owed += period.owed
      return { dueDate: period.dueDate, owed }
    })
}

/**
 * Returns what a restructure counts as: hardship where that is its reason or where the loan carries arrears into it, unless it
 * corrects an error; else commercial.
 */
export function countsAs({ reason }: RestructurePlan, arrears: readonly Late[]): CountsAs {
  if (reason === 'hardship') return 'hardship'
  return reason !== 'error' && arrears.length > 0 ? 'hardship' : 'commercial'
}
