import { type Instant, isCalendarDate, type LocalDate } from './dates.ts'

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
