import { readId } from '../api/wire.ts'
import { FIRST_DATE, isCalendarDate, LAST_DATE, type LocalDate } from '../domain/dates.ts'
import { LendingError, notFound } from '../domain/errors.ts'

/** The fields of a form or a query, as they were sent. */
export type Fields = Readonly<Record<string, unknown>>

const LONGEST = 2_000

const refusal = (message: string) => new LendingError('invalid_argument', message)

/**
 * Reads a text; an empty field of a form is left out.
 * @throws LendingError `invalid_argument`
 */
export function textOf(fields: Fields, name: string, longest = LONGEST): string | undefined {
  const given = fields[name]
  if (given === undefined || given === '') return undefined
  if (typeof given !== 'string') throw refusal(`${name} must be given once`)
  if (given.length > longest) throw refusal(`${name} must have at most ${longest} characters`)
  if (given.includes('\0')) throw refusal(`${name} must not have the character U+0000`)
  return given.trim() === '' ? undefined : given
}

/** Reads one of some words. @throws LendingError `invalid_argument` */
export function wordOf<Word extends string>(words: readonly Word[], fields: Fields, name: string): Word | undefined {
  const given = textOf(fields, name)
  if (given === undefined) return undefined
  const word = words.find((one) => one === given)
  if (word === undefined) throw refusal(`${name} must be one of ${words.join(', ')}`)
  return word
}

/** Reads a date. @throws LendingError `invalid_argument` */
export function dayOf(fields: Fields, name: string): LocalDate | undefined {
  const given = textOf(fields, name)
  if (given === undefined) return undefined
  if (isCalendarDate(given) && given >= FIRST_DATE && given <= LAST_DATE) return given
  throw refusal(`${name} must be a date, YYYY-MM-DD, from ${FIRST_DATE} to ${LAST_DATE}`)
}

/** Reads a number of the service in a path. @throws LendingError `not_found` for a text that is none */
export function idOf(text: string, thing: string): bigint {
  const id = readId(text)
  if (id === null) throw notFound(`no ${thing} has that id`)
  return id
}
