import type { LocalDate } from '../dates.ts'
import { invalidArgument } from '../errors.ts'

/** The genders of a person, as files for credit bureaux know them. */
export const GENDERS = ['female', 'male', 'other'] as const
/** The kinds of documents that say who a person is. */
export const ID_TYPES = [
  'national_id',
  'passport',
  'alien_id',
  'service_id',
  'voter_id',
  'driving_licence',
  'other',
] as const
/** What a lender found when it checked who a person is. */
export const VERIFICATION_RESULTS = ['verified', 'not_verified', 'mismatch'] as const

/** The check of an identity, as the lender made it. */
export interface Verification {
  /** Who checked: a person, or a register. */
  readonly by: string
  readonly on: LocalDate
  readonly result: (typeof VERIFICATION_RESULTS)[number]
  readonly reference: string | null
}

/** The texts of an identity, and the greatest length of each in characters. */
export const LONGEST_IDENTITY = {
  firstName: 100,
  middleName: 100,
  lastName: 100,
  idNumber: 50,
  phone: 50,
  email: 254,
  address: 500,
} as const
type IdentityText = keyof typeof LONGEST_IDENTITY

/** The most characters of who made a check, and of its number there. */
export const LONGEST_REFERENCE = 100

/** Who a person is, as the lender knows it; null where it does not. */
export interface Identity extends Readonly<Record<IdentityText, string | null>> {
  readonly dateOfBirth: LocalDate | null
  readonly gender: (typeof GENDERS)[number] | null
  /** The country, by its two letters (ISO 3166-1). */
  readonly nationality: string | null
  readonly idType: (typeof ID_TYPES)[number] | null
  readonly verification: Verification | null
}

/** An identity of which nothing is known. */
export const UNKNOWN: Identity = {
  firstName: null,
  middleName: null,
  lastName: null,
  dateOfBirth: null,
  gender: null,
  nationality: null,
  idType: null,
  idNumber: null,
  phone: null,
  email: null,
  address: null,
  verification: null,
}

const MEMBERS = Object.keys(UNKNOWN) as (keyof Identity)[]

/** Returns an identity with what is given of it; what is left out is unknown. */
export const identityOf = (given: { readonly [Member in keyof Identity]?: Identity[Member] | undefined }): Identity =>
  Object.fromEntries(MEMBERS.map((member) => [member, given[member] ?? null])) as unknown as Identity

/** Writes an identity as text: JSON of what is known, in one order. */
export const identityToText = (identity: Identity): string =>
  JSON.stringify(
    Object.fromEntries(MEMBERS.flatMap((member) => (identity[member] === null ? [] : [[member, identity[member]]]))),
  )

/** Reads an identity from its text. */
export const identityFromText = (text: string): Identity => identityOf(JSON.parse(text) as Partial<Identity>)

/**
 * Requires that an identity can be true: somebody is born, and was checked, before today or on it.
 * @throws LendingError `invalid_argument`
 */
export function requirePossible({ dateOfBirth, verification }: Identity, today: LocalDate): void {
  if (dateOfBirth !== null && dateOfBirth > today)
    throw invalidArgument('dateOfBirth', `must not be in the future: today is ${today}`)
  if (verification !== null && verification.on > today)
    throw invalidArgument('verifiedOn', `must not be in the future: today is ${today}`)
}

/** Returns whether two identities say the same. */
export const sameIdentity = (one: Identity, other: Identity): boolean => identityToText(one) === identityToText(other)

/** The full name of a person; empty where no part of it is known. */
export const fullName = ({ firstName, middleName, lastName }: Identity): string =>
  [firstName, middleName, lastName].filter((part) => part !== null).join(' ')

/** What a person is looked for by: all of the words of a name, or any of the texts that one person has alone. */
export type PersonTerms = { readonly words: readonly string[] } | { readonly any: readonly string[] }

/** Returns the terms by which an identity is found: each word of the names, and the ends of what is one person's alone. */
export function termsOfIdentity(identity: Identity): string[] {
  const { firstName, middleName, lastName, idNumber, phone, email } = identity
  const words = [firstName, middleName, lastName].flatMap((name) => wordsOf(name ?? ''))
  return [
    ...new Set([
      ...words.map(nameTerm),
      ...[idNumber && idTerm(idNumber), phone && phoneTerm(phone), email && emailTerm(email)].filter(
        (term) => term !== null,
      ),
    ]),
  ].filter((term) => term !== '')
}

/** Returns what a text that somebody searches for may be of a person: with a digit or an @ no name, otherwise words of a name. */
export const searchedTerms = (text: string): PersonTerms =>
  /[\d@]/.test(text)
    ? { any: [idTerm(text), phoneTerm(text), emailTerm(text)].filter((term) => term !== '') }
    : { words: wordsOf(text).map(nameTerm) }

/** The fewest digits of a phone number, of which the last nine are compared: how its beginning is written differs. */
const SHORTEST_PHONE = 6

const wordsOf = (name: string): string[] =>
  name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .split(/[^\p{L}]+/u)
    .filter((word) => word !== '')

const nameTerm = (word: string): string => `name ${word}`

function idTerm(text: string): string {
  const plain = text.toUpperCase().replace(/[^A-Z0-9]/g, '')
  return plain === '' ? '' : `id ${plain}`
}

/** Returns the term of a phone number; empty for a text that is none. */
export function phoneTerm(text: string): string {
  const digits = text.replace(/\D/g, '')
  return digits.length < SHORTEST_PHONE ? '' : `phone ${digits.slice(-9)}`
}

const emailTerm = (text: string): string => (text.includes('@') ? `email ${text.trim().toLowerCase()}` : '')
