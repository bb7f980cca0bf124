// Days as numbers from 1970-01-01, and the time in Nairobi, which is three hours ahead of UTC all year. Written without
// the calendar of the service.

/** Days since 1970-01-01. */
export type Day = number

const DAY_MS = 86_400_000
const AHEAD_MS = 3 * 3_600_000

const days = new Map<string, Day>()

export function dayOf(date: string): Day {
  const known = days.get(date)
  if (known !== undefined) return known
  const day = Date.parse(`${date}T00:00:00Z`) / DAY_MS
  days.set(date, day)
  return day
}

export const dateOf = (day: Day): string => new Date(day * DAY_MS).toISOString().slice(0, 10)

/** Returns the day in Nairobi at an instant. */
export const dayAt = (instant: number): Day => Math.floor((instant + AHEAD_MS) / DAY_MS)

/** Returns the instant on a day at the time of day that another instant has in Nairobi. */
export const sameTime = (day: Day, instant: number): number => day * DAY_MS - AHEAD_MS + ((instant + AHEAD_MS) % DAY_MS)

/** Returns the first instant of a day in Nairobi. */
export const startOf = (day: Day): number => day * DAY_MS - AHEAD_MS

/** Where a day is in the calendar. */
interface Place {
  /** Months since the year 0. */
  readonly month: number
  /** From 1. */
  readonly ofMonth: number
  readonly daysInMonth: number
}

const places = new Map<Day, Place>()

function placeOf(day: Day): Place {
  const known = places.get(day)
  if (known) return known
  const date = new Date(day * DAY_MS)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  const daysInMonth = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  const place = { month: year * 12 + month, ofMonth: date.getUTCDate(), daysInMonth }
  places.set(day, place)
  return place
}

/** Returns whether a day is a whole number of distances after the first, or the first itself; clamped to the end of a month. */
export function isRepeat(first: Day, day: Day, every: number, unit: 'days' | 'weeks' | 'months' | 'years'): boolean {
  if (day < first) return false
  if (unit === 'days') return (day - first) % every === 0
  if (unit === 'weeks') return (day - first) % (every * 7) === 0
  const [from, to] = [placeOf(first), placeOf(day)]
  const months = every * (unit === 'years' ? 12 : 1)
  const isClamped = to.ofMonth === to.daysInMonth && from.ofMonth > to.daysInMonth
  return (to.month - from.month) % months === 0 && (to.ofMonth === from.ofMonth || isClamped)
}
