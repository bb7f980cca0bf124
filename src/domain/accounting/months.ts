import { addPeriods, FIRST_DATE, isCalendarDate, LAST_DATE, type LocalDate } from '../dates.ts'

/** Returns the month of a day: `2026-01`. */
export const monthOf = (day: LocalDate): string => day.slice(0, 7)

/** Returns the first day of a month, such as `2026-01`; undefined for a text that is no month. */
export function firstDayOf(month: string): LocalDate | undefined {
  const day = `${month}-01`
  const isMonth = /^\d{4}-\d{2}$/.test(month) && isCalendarDate(day)
  return isMonth && day >= FIRST_DATE && day <= LAST_DATE ? day : undefined
}

/** Returns the first day of the month after the one that begins on a day. */
export const firstDayAfter = (firstDay: LocalDate): LocalDate => addPeriods(firstDay, 1, 'months')

/** Returns the last day of the month that begins on a day. */
export const lastDayOf = (firstDay: LocalDate): LocalDate => addPeriods(firstDayAfter(firstDay), -1, 'days')
