import { addPeriods, dayBefore, daysBetween, type LocalDate } from '../../dates.ts'
import type { Distance } from '../../product/terms.ts'
import type { HeldDays } from './heldDaysText.ts'
import type { PenaltyRule } from './loanRules.ts'

/** The days on which penalties that follow one due date may be raised. */
export interface Occurrences {
  readonly first: LocalDate
  /** The distance of the days; null: there is one. */
  readonly every: Distance | null
  /** Days on which none is raised, apart from each other, ascending; left out: none. */
  readonly held?: readonly HeldDays[] | undefined
}

/** Returns the occurrences of a rule after a due date. */
export const occurrencesAfter = ({ every, graceDays, held }: PenaltyRule, dueDate: LocalDate): Occurrences => ({
  first: graceDays === 0 ? dueDate : addPeriods(dueDate, graceDays, 'days'),
  every,
  held,
})

/** Returns the number of occurrences up to a day, that day included. */
export function countThrough(occurrences: Occurrences, day: LocalDate): number {
  let count = countAll(occurrences, day)
  for (const { from, through } of occurrences.held ?? []) {
    if (from > day) break
    count -= countAll(occurrences, day < through ? day : through) - countAll(occurrences, dayBefore(from))
  }
  return count
}

/** Returns the number of occurrences up to a day, those of held days among them. */
function countAll({ first, every }: Occurrences, day: LocalDate): number {
  if (day < first) return 0
  if (every === null) return 1
  if (every.unit === 'days' || every.unit === 'weeks') {
    const days = every.every * (every.unit === 'weeks' ? 7 : 1)
    return Math.floor(daysBetween(first, day) / days) + 1
  }
  // Whole calendar months: the day within the month may not have come yet, so that the estimate may be one too many.
  const months = every.every * (every.unit === 'years' ? 12 : 1)
  const passed = Math.floor(monthsBetween(first, day) / months)
  return anyAt({ first, every }, passed) > day ? passed : passed + 1
}

/** Returns the occurrence with an index, from 0, those of held days among them. */
const anyAt = ({ first, every }: Occurrences, index: number): LocalDate =>
  every === null || index === 0 ? first : addPeriods(first, index * every.every, every.unit)

/** Returns the occurrence with an index, from 0. */
export function occurrenceAt(occurrences: Occurrences, index: number): LocalDate {
  if (!occurrences.held || occurrences.every === null) return anyAt(occurrences, index)
  let any = index
  let day = anyAt(occurrences, any)
  while (countThrough(occurrences, day) <= index) day = anyAt(occurrences, ++any)
  return day
}

/** Returns the first occurrence after a day; null where there is none. */
export function nextAfter(occurrences: Occurrences, day: LocalDate): LocalDate | null {
  const count = countAll(occurrences, day)
  if (count > 0 && occurrences.every === null) return null
  const next = anyAt(occurrences, count)
  const held = occurrences.held?.find(({ from, through }) => from <= next && next <= through)
  return held ? nextAfter(occurrences, held.through) : next
}

/** Returns the calendar months from the month of a date to that of a later one. */
const monthsBetween = (from: LocalDate, to: LocalDate): number =>
  (Number(to.slice(0, 4)) - Number(from.slice(0, 4))) * 12 + Number(to.slice(5, 7)) - Number(from.slice(5, 7))
