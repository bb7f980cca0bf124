import { fromClock, fromRfc3339, type Instant, toRfc3339 } from '../../dates.ts'
import type { TimeFormat } from './adapter.ts'

interface Format {
  /** Reads a text; undefined for one of another format, and for a moment that does not exist. */
  read(text: string, zone: string): Instant | undefined
  /** Writes a moment. */
  write(instant: Instant, zone: string): string
}

/** The letters of a format that stand for digits, and where RFC 3339 has these. */
const DIGITS: Readonly<Record<string, readonly [from: number, to: number]>> = {
  yyyy: [0, 4],
  MM: [5, 7],
  dd: [8, 10],
  HH: [11, 13],
  mm: [14, 16],
  ss: [17, 19],
}

const LETTERS = /yyyy|MM|dd|HH|mm|ss/g

/** Returns a format of digits in the zone of a channel, from its letters. */
function digitsOf(letters: Exclude<TimeFormat, 'RFC 3339'>): Format {
  const escaped = letters.replaceAll('.', '\\.')
  const pattern = new RegExp(`^${escaped.replaceAll(LETTERS, (one) => `(?<${one}>\\d{${one.length}})`)}$`)
  return {
    read(text, zone) {
      const { yyyy, MM, dd, HH, mm, ss } = pattern.exec(text)?.groups ?? {}
      return yyyy === undefined ? undefined : fromClock(`${yyyy}-${MM}-${dd}`, `${HH}:${mm}:${ss}`, zone)
    },
    write(instant, zone) {
      const text = toRfc3339(instant, zone)
      return letters.replaceAll(LETTERS, (one) => text.slice(...DIGITS[one]!))
    },
  }
}

const FORMATS: Readonly<Record<TimeFormat, Format>> = {
  yyyyMMddHHmmss: digitsOf('yyyyMMddHHmmss'),
  'yyyy-MM-dd HH:mm:ss': digitsOf('yyyy-MM-dd HH:mm:ss'),
  'dd.MM.yyyy HH:mm:ss': digitsOf('dd.MM.yyyy HH:mm:ss'),
  'dd-MM-yyyy HH:mm:ss': digitsOf('dd-MM-yyyy HH:mm:ss'),
  'RFC 3339': { read: (text) => fromRfc3339(text), write: toRfc3339 },
}

/** Reads a moment in one of some formats; undefined where it is in none of them. */
export function readTime(text: string, formats: readonly TimeFormat[], zone: string): Instant | undefined {
  for (const format of formats) {
    const instant = FORMATS[format].read(text, zone)
    if (instant !== undefined) return instant
  }
  return undefined
}

/** Writes a moment in a format. */
export const writeTime = (instant: Instant, format: TimeFormat, zone: string): string =>
  FORMATS[format].write(instant, zone)
