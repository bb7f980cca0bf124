import { DateTime } from 'luxon'
import { invariant } from './errors.ts'

/** A day of the tenant's calendar, `YYYY-MM-DD`. Dates compare as text. */
export type LocalDate = string

/** A moment, in milliseconds since 1970-01-01T00:00:00Z. */
export type Instant = number

/** The units of the distance between instalments. */
export const PERIOD_UNITS = ['days', 'weeks', 'months', 'years'] as const
export type PeriodUnit = (typeof PERIOD_UNITS)[number]

/** Returns whether a value is the name of a unit. */
export const isPeriodUnit = (unit: unknown): unit is PeriodUnit => PERIOD_UNITS.some((one) => one === unit)

const at = (date: LocalDate, zone = 'utc'): DateTime => {
  const moment = DateTime.fromISO(date, { zone })
  invariant(moment.isValid, `a calendar date, not ${date}`)
  return moment
}

const isoDate = (moment: DateTime): LocalDate => {
  const text = moment.toISODate()
  invariant(text !== null, 'a valid moment')
  return text
}

/** Returns whether the text is a day that exists: not 2026-02-30. */
export const isCalendarDate = (text: string): boolean => text.length === DATE_LENGTH && isDay(text)

const DATE_LENGTH = '2026-02-28'.length

const isDay = cached((text: string): boolean => {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  // `Date` takes a day that its month does not have for one of the next month.
  const day = new Date(text)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
})

/** The days that a caller may name. */
export const FIRST_DATE: LocalDate = '1900-01-01'
export const LAST_DATE: LocalDate = '2999-12-31'

const RFC_3339 =
  /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/**
 * Reads a moment in RFC 3339, with or without seconds.
 * @returns undefined for any other text, for a day that does not exist, and for one that no caller may name
 */
export function fromRfc3339(text: string): Instant | undefined {
  const date = RFC_3339.exec(text)?.[1]
  // Checked before parsing: `Date.parse` makes 2 March of 30 February.
  if (date === undefined || !isCalendarDate(date) || date < FIRST_DATE || date > LAST_DATE) return undefined
  return Date.parse(text)
}

/**
 * Returns a pure function of one value with a cache of its results, for the few thousand days of a book: a calendar is slow, and
 * is needed with the same values for every loan of a day.
 */
function cached<Value extends string | number, T>(compute: (value: Value) => T): (value: Value) => T {
  const known = new Map<Value, T>()
  return (value) => {
    let result = known.get(value)
    if (result === undefined) {
      if (known.size >= MOST_CACHED) known.clear()
      result = compute(value)
      known.set(value, result)
    }
    return result
  }
}

/** Returns the same for a function of two values, without making one text of both at each call. */
function cachedByFirst<First extends string | number, Value extends string | number, T>(
  compute: (first: First, value: Value) => T,
): (first: First, value: Value) => T {
  const known = new Map<First, Map<Value, T>>()
  let size = 0
  return (first, value) => {
    let result = known.get(first)?.get(value)
    if (result === undefined) {
      if (size >= MOST_CACHED) {
        known.clear()
        size = 0
      }
      result = compute(first, value)
      const ofFirst = known.get(first)
      if (ofFirst) ofFirst.set(value, result)
      else known.set(first, new Map([[value, result]]))
      size++
    }
    return result
  }
}

const MOST_CACHED = 20_000

/** No zone's offset has ever changed within a quarter of an hour. */
const QUARTER_MS = 900_000
const DAY_MS = 86_400_000

/** Returns the milliseconds by which a zone's clocks are ahead of UTC in the quarter of an hour with a number. */
const offsetInQuarter = cachedByFirst((zone: string, quarter: number): number => {
  const moment = DateTime.fromMillis(quarter * QUARTER_MS, { zone })
  invariant(moment.isValid, `a zone, not ${zone}`)
  return moment.offset * 60_000
})

const offsetAt = (zone: string, instant: Instant): number => offsetInQuarter(zone, Math.floor(instant / QUARTER_MS))

/** Returns the time on the zone's clocks, as ISO text with a Z that has no meaning. */
function clockIn(zone: string, instant: Instant): string {
  // The last result is kept: one decision needs the same moment several times.
  if (instant !== shown.instant || zone !== shown.zone)
    shown = { zone, instant, text: new Date(instant + offsetAt(zone, instant)).toISOString() }
  return shown.text
}

let shown = { zone: '', instant: Number.NaN, text: '' }

/** Returns the day in a zone at a moment. */
export function dateIn(zone: string, instant: Instant): LocalDate {
  const quarter = Math.floor(instant / QUARTER_MS)
  // Where the clocks are ahead of UTC by whole quarters of an hour, a day begins with a quarter, too.
  if (offsetInQuarter(zone, quarter) % QUARTER_MS === 0) return dayInQuarter(zone, quarter)
  return clockIn(zone, instant).slice(0, DATE_LENGTH)
}

const dayInQuarter = cachedByFirst(
  (zone: string, quarter: number): LocalDate => clockIn(zone, quarter * QUARTER_MS).slice(0, DATE_LENGTH),
)

const startInZone = cachedByFirst((zone: string, date: LocalDate): Instant => at(date, zone).startOf('day').toMillis())

/** Returns the first moment of a day in a zone. */
export const startOfDay = (date: LocalDate, zone: string): Instant => startInZone(zone, date)

/** Returns the moment on `date` with the time of day that `instant` has in the zone (contract 4.3.2: `dueDateTime`). */
export const sameTimeOn = (date: LocalDate, instant: Instant, zone: string): Instant =>
  momentOn(date, clockIn(zone, instant).slice(10), zone)

const TIME_OF_DAY = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d$/

/**
 * Returns the moment at which the clocks of a zone show a time of a day, such as `14:30:05`.
 * @returns undefined for a day or a time that does not exist, and for a day that no caller may name
 */
export function fromClock(date: string, time: string, zone: string): Instant | undefined {
  const isDated = isCalendarDate(date) && date >= FIRST_DATE && date <= LAST_DATE
  return isDated && TIME_OF_DAY.test(time) ? momentOn(date, `T${time}.000Z`, zone) : undefined
}

/** Returns the moment of a time of a day, as `clockIn` writes it, on a date. */
function momentOn(date: LocalDate, timeOfDay: string, zone: string): Instant {
  const shownAt = Date.parse(`${date}${timeOfDay}`)
  const offset = offsetAt(zone, startOfDay(date, zone))
  if (offsetAt(zone, shownAt - offset) === offset) return shownAt - offset
  // The clocks change between the start of that day and the time: the calendar decides which moment it is.
  const time = new Date(shownAt)
  const [hour, minute] = [time.getUTCHours(), time.getUTCMinutes()]
  const [second, millisecond] = [time.getUTCSeconds(), time.getUTCMilliseconds()]
  return at(date, zone).set({ hour, minute, second, millisecond }).toMillis()
}

/**
 * Returns the date `count` periods after `date`. Count from the first date: the day of the month is then kept where it
 * exists, and is the last of the month where it does not, without drift: 31 Jan, 28 Feb, 31 Mar (contract 4.3.2).
 */
export const addPeriods = (date: LocalDate, count: number, unit: PeriodUnit): LocalDate => addOf[unit](count, date)

const addOf: Readonly<Record<PeriodUnit, (count: number, date: LocalDate) => LocalDate>> = {
  days: addIn('days'),
  weeks: addIn('weeks'),
  months: addIn('months'),
  years: addIn('years'),
}

function addIn(unit: PeriodUnit) {
  return cachedByFirst((count: number, date: LocalDate): LocalDate => isoDate(at(date).plus({ [unit]: count })))
}

/** Returns the day after a date. */
export const dayAfter = cached((date: LocalDate): LocalDate => addPeriods(date, 1, 'days'))

/** Returns the day before a date. */
export const dayBefore = cached((date: LocalDate): LocalDate => addPeriods(date, -1, 'days'))

/** Returns the whole months from one date to a later one: 31 January to 28 February is one. 0 when it is not later. */
export function wholeMonths(from: LocalDate, to: LocalDate): number {
  const [fromYear, fromMonth] = from.split('-', 2).map(Number)
  const [toYear, toMonth] = to.split('-', 2).map(Number)
  const months = (toYear! - fromYear!) * 12 + (toMonth! - fromMonth!)
  return Math.max(0, addPeriods(from, months, 'months') > to ? months - 1 : months)
}

/** Returns the whole days from one date to a later one; 0 on the same day. */
export const daysBetween = (from: LocalDate, to: LocalDate): number => numberOfDay(to) - numberOfDay(from)

const numberOfDay = cached((date: LocalDate): number => Date.parse(date) / DAY_MS)

/** Writes a moment in RFC 3339 with the zone's offset: `2026-03-31T09:30:00.000+03:00`. */
export function toRfc3339(instant: Instant, zone: string): string {
  const minutes = Math.round(offsetAt(zone, instant) / 60_000)
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  const offset = `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`
  return `${clockIn(zone, instant).slice(0, -1)}${offset}`
}

/** Reads an instant that a stored text has as milliseconds. @throws SyntaxError */
export function toInstant(text: string | undefined): Instant {
  const instant = Number(text)
  if (!text || !Number.isSafeInteger(instant)) throw new SyntaxError('an instant')
  return instant
}

/** Reads a day that a stored text has. @throws SyntaxError */
export function toDay(text = ''): LocalDate {
  if (!isCalendarDate(text)) throw new SyntaxError('a day')
  return text
}
