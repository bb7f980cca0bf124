import type { CreditPolicy } from '../../domain/credit/policy.ts'
import { daysBetween, type LocalDate } from '../../domain/dates.ts'
import { invalidArgument, LendingError, type Wording } from '../../domain/errors.ts'
import type { StatementFigures } from './parse.ts'

/** The owner that a statement should have, and the day on which it is shown. */
export interface StatementClaim {
  readonly fullName: string | undefined
  readonly mobileNumber: string | undefined
  readonly today: LocalDate
}

type Rules = Pick<CreditPolicy['statement'], 'leastMonths' | 'oldestDays' | 'anonymous'>

/**
 * Requires a name or a number to compare the statement with, unless the policy takes anonymous statements. Otherwise a
 * customer could show the statement of another person.
 * @throws LendingError `invalid_argument` on `fullName` and `mobileNumber`
 */
export function requireClaim(
  { fullName, mobileNumber }: Pick<StatementClaim, 'fullName' | 'mobileNumber'>,
  { anonymous }: Pick<Rules, 'anonymous'>,
): void {
  if (anonymous || fullName !== undefined || mobileNumber !== undefined) return
  const either = (['fullName', 'mobileNumber'] as const).map((role) => ({
    role,
    wording: 'is required, unless the other is given',
  }))
  throw new LendingError('invalid_argument', nothingToCompare, either)
}

const nothingToCompare: Wording = (nameOf) =>
  `give ${nameOf('fullName')} or ${nameOf('mobileNumber')}, or both: whose the statement is has to be compared with it`

/**
 * Checks that a statement is the customer's, recent and long enough. In this order: name, phone, age, length.
 * @throws LendingError `invalid_argument` on `fullName`, `mobileNumber` or `statement`, saying which
 */
export function checkStatement(
  figures: StatementFigures,
  { fullName, mobileNumber, today }: StatementClaim,
  { leastMonths, oldestDays, anonymous }: Rules,
): void {
  requireClaim({ fullName, mobileNumber }, { anonymous })
  if (fullName !== undefined && !namesMatch(fullName, figures.owner))
    throw invalidArgument('fullName', 'is not the name on the statement')
  if (mobileNumber !== undefined && figures.phone !== null && !phonesMatch(mobileNumber, figures.phone))
    throw invalidArgument('mobileNumber', 'is not the number on the statement')
  if (fullName === undefined && mobileNumber !== undefined && figures.phone === null && !anonymous)
    throw invalidArgument(
      'fullName',
      (nameOf) => `is required: the statement names no number to compare ${nameOf('mobileNumber')} with`,
    )
  if (figures.to > today) throw invalidArgument('statement', `ends on ${figures.to}, in the future: today is ${today}`)
  const age = daysBetween(figures.to, today)
  if (age > oldestDays) throw invalidArgument('statement', `ended ${age} days ago: at most ${oldestDays} are accepted`)
  if (figures.months < leastMonths)
    throw invalidArgument(
      'statement',
      `covers ${figures.months} whole ${figures.months === 1 ? 'month' : 'months'}: at least ${leastMonths} are needed`,
    )
}

/**
 * Returns whether two spellings can be one person's name: every word of the shorter name is in the longer one, in any
 * order, without regard to case, accents and apostrophes; an initial matches a word. Two words have to agree, one of
 * them in full, unless the statement has one word alone. Misspellings do not match: siblings' names differ by as
 * little.
 */
export function namesMatch(given: string, shown: string): boolean {
  const names = [wordsOf(given), wordsOf(shown)] as const
  const [shorter, longer] = names[0].length <= names[1].length ? names : [names[1], names[0]]
  if (shorter.length === 0 || (shorter.length === 1 && names[1].length > 1)) return false
  const left = [...longer]
  let full = 0
  // Whole words first, so that an initial does not match a word that a whole word needs.
  for (const word of shorter.toSorted((a, b) => b.length - a.length)) {
    const same = left.indexOf(word)
    const at = same === -1 ? left.findIndex((other) => isInitial(word, other) || isInitial(other, word)) : same
    if (at === -1) return false
    if (same !== -1 && word.length > 1) full += 1
    left.splice(at, 1)
  }
  return full > 0
}

const isInitial = (short: string, long: string): boolean => short.length === 1 && long.startsWith(short)

const TITLES = new Set(['mr', 'mrs', 'ms', 'miss', 'dr', 'prof', 'eng', 'hon', 'bw', 'bi'])

const wordsOf = (name: string): string[] =>
  name
    .normalize('NFD')
    .replace(/[\p{M}'’‘`]/gu, '')
    .toLowerCase()
    .split(/[^\p{L}]+/u)
    .filter((word) => word !== '' && !TITLES.has(word))

/** Digits after the country code or the leading nought, in every country of the region. */
const SUBSCRIBER_DIGITS = 9
/** A mask that shows fewer digits than this says nothing. */
const LEAST_SHOWN = 3

/**
 * Returns whether two numbers are the same subscriber's. Compares their last nine digits, and where the statement masks
 * some (`2557*****123`), those that it shows.
 */
export function phonesMatch(given: string, shown: string): boolean {
  const number = given.replace(/\D/g, '').slice(-SUBSCRIBER_DIGITS)
  if (number.length < SUBSCRIBER_DIGITS) return false
  const signs = shown.replace(/[^\d*x•#]/gi, '').replace(/\D/g, '*')
  if (!signs.includes('*')) return signs.slice(-SUBSCRIBER_DIGITS) === number
  const local = signs.replace(/^(?:25[0-7]|0)/, '')
  if (local.replaceAll('*', '').length < LEAST_SHOWN) return false
  if (local.length === SUBSCRIBER_DIGITS) return [...local].every((sign, at) => sign === '*' || sign === number[at])
  // Some masks have more or fewer signs than digits: the digits before and after them count.
  const head = local.slice(0, local.indexOf('*'))
  const tail = local.slice(local.lastIndexOf('*') + 1)
  return number.startsWith(head) && number.endsWith(tail)
}
