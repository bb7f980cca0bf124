// The model's own calendar: days are text, and Nairobi is three hours ahead of UTC all year.

export type Day = string

const DAY_MS = 86_400_000
const EAST_MS = 3 * 3_600_000

const utc = (day: Day): number => Date.parse(`${day}T00:00:00Z`)
const dayOf = (ms: number): Day => new Date(ms).toISOString().slice(0, 10)

/** Returns the day in Nairobi at an instant. */
export const dayAt = (instant: number): Day => dayOf(instant + EAST_MS)

export const plusDays = (day: Day, days: number): Day => dayOf(utc(day) + days * DAY_MS)

export const daysFrom = (from: Day, to: Day): number => (utc(to) - utc(from)) / DAY_MS

/** Returns the same day of a later month, or its last day. */
export function plusMonths(day: Day, months: number): Day {
  const [year, month, date] = day.split('-').map(Number) as [number, number, number]
  const lastOfMonth = new Date(Date.UTC(year, month - 1 + months + 1, 0))
  lastOfMonth.setUTCDate(Math.min(date, lastOfMonth.getUTCDate()))
  return dayOf(lastOfMonth.getTime())
}

/** Returns `day` at the time of day that `instant` has in Nairobi. */
export const sameTime = (day: Day, instant: number): number => utc(day) - EAST_MS + ((instant + EAST_MS) % DAY_MS)

/** Writes an instant in RFC 3339, as the service does. */
export const rfc3339 = (instant: number): string => new Date(instant + EAST_MS).toISOString().replace('Z', '+03:00')
