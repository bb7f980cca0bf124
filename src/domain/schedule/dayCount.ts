import { daysBetween, type LocalDate } from '../dates.ts'

/** The rules by which days become years, by their names in contracts (contract 10.2). */
export const DAY_COUNTS = ['actual/365', 'actual/360', 'actual/actual', '30/360'] as const
export type DayCount = (typeof DAY_COUNTS)[number]

/** The parts of which each rule counts so many in a year; of `actual/actual` the product of 365 and 366. */
export const PARTS_OF_YEAR: Readonly<Record<DayCount, bigint>> = {
  'actual/365': 365n,
  'actual/360': 360n,
  'actual/actual': 365n * 366n,
  '30/360': 360n,
}

/** Returns the length of the time from one date to a later one, in the rule's parts of a year. */
export function partsBetween(rule: DayCount, from: LocalDate, to: LocalDate): bigint {
  switch (rule) {
    case 'actual/365':
    case 'actual/360':
      return BigInt(daysBetween(from, to))
    case 'actual/actual':
      return actualParts(from, to)
    case '30/360':
      return BigInt(thirtiesOf(to) - thirtiesOf(from))
  }
}

/** Counts each day as a part of its own calendar year: 1/366 in a leap year, 1/365 in any other. */
function actualParts(from: LocalDate, to: LocalDate): bigint {
  let parts = 0n
  let day = from
  while (day < to) {
    const year = Number(day.slice(0, 4))
    const newYear = `${String(year + 1).padStart(4, '0')}-01-01`
    const end = newYear < to ? newYear : to
    parts += BigInt(daysBetween(day, end)) * (isLeap(year) ? 365n : 366n)
    day = end
  }
  return parts
}

const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)

/**
 * Returns the number of a day in a calendar of months of 30 days. The 31st and the last day of February count as the 30th:
 * due dates that are clamped to the end of a month are 30 days apart.
 */
function thirtiesOf(date: LocalDate): number {
  const [year, month, day] = date.split('-').map(Number) as [number, number, number]
  const isEnd = day >= 30 || (month === 2 && day === (isLeap(year) ? 29 : 28))
  return 360 * year + 30 * month + (isEnd ? 30 : day)
}
