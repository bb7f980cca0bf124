import { type SearchAsked, searchBook } from '../../db/office/search.ts'
import { arrayOf } from '../../db/queries/rows.ts'
import { hasPermission } from '../../domain/access/permissions.ts'
import { invalidArgument } from '../../domain/errors.ts'
import { LARGEST_INT64 } from '../../toolbox/integers.ts'
import type { Caller } from '../access/caller.ts'
import type { PersonHashes } from '../customers/people.ts'
import type { Deps } from '../deps.ts'

/** Characters of a search at most, and of the beginning of a name at least. */
export const LONGEST_SEARCH = 100
const SHORTEST_NAME = 2
/** Characters of the longest word of a name at least: a trigram has three. */
const SHORTEST_WORD = 3
/** Rows of each kind that a search gives. */
export const MOST_FOUND = 25
/** The country codes of the lenders' customers: Kenya, Tanzania, Uganda, Rwanda, Burundi, Ethiopia. */
const COUNTRY_CODES = ['254', '255', '256', '250', '257', '251']

/**
 * Searches the book of the caller's organization: customers by external id, number, phone, the beginning of a name or of any
 * of its words, and a name with a slip; loans
 * by external id or number, and for those who may read it by who a customer is; transactions by number or receipt (the reference that came with them).
 * @returns `MOST_FOUND` of each kind at most
 * @throws LendingError `invalid_argument`
 */
export async function search({ db, people }: Pick<Deps, 'db' | 'people'>, caller: Caller, given: string) {
  const text = given.trim()
  if (text === '' || text.length > LONGEST_SEARCH || /\p{Cc}/u.test(text))
    throw invalidArgument('search', `must be 1 to ${LONGEST_SEARCH} characters`)
  const { organizationId } = caller
  const person = hasPermission(caller, 'people.read') ? people.searched(organizationId, text) : undefined
  return searchBook(db, { ...askedOf(organizationId, text), ...hashesOf(person) })
}

/** Escapes what LIKE reads as a pattern. */
const escaped = (text: string) => text.replaceAll(/[\\%_]/g, '\\$&')

const hashesOf = (person: PersonHashes | undefined) => ({
  allHashes: person && 'all' in person ? arrayOf(person.all) : null,
  anyHashes: person && 'any' in person ? arrayOf(person.any) : null,
})

const askedOf = (organizationId: number, text: string): Omit<SearchAsked, 'allHashes' | 'anyHashes'> => ({
  organizationId,
  text,
  prefix: text.length < SHORTEST_NAME ? null : `${escaped(text)}%`,
  words: wordsOf(text),
  phones: phonesOf(text),
  number: numberOf(text),
  most: MOST_FOUND,
})

/** Returns the beginnings of words as patterns of LIKE, the longest first; none where the longest is too short to look for. */
function wordsOf(text: string): string[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .toSorted((a, b) => b.length - a.length)
  return words[0]!.length < SHORTEST_WORD ? [] : words.map((word) => `% ${escaped(word)}%`)
}

function numberOf(text: string): bigint | null {
  const number = /^#?\d{1,19}$/.test(text) ? BigInt(text.replace('#', '')) : null
  return number !== null && number <= LARGEST_INT64 ? number : null
}

/** Returns the ways to write a phone number: as it stands, with and without the code of a country, and with a plus. */
export function phonesOf(text: string): string[] {
  const digits = text.replaceAll(/[\s().-]/g, '')
  if (!/^\+?\d{6,15}$/.test(digits)) return [text]
  const bare = digits.replace('+', '')
  const code = COUNTRY_CODES.find((one) => bare.startsWith(one) && bare.length >= one.length + 8)
  const local = code === undefined ? bare.replace(/^0/, '') : bare.slice(code.length)
  const codes = code === undefined ? COUNTRY_CODES : [code]
  return [
    ...new Set([
      text,
      digits,
      bare,
      `0${local}`,
      local,
      ...codes.flatMap((one) => [`${one}${local}`, `+${one}${local}`]),
    ]),
  ]
}
