import type { LocalDate } from '../dates.ts'
import { invalidArgument } from '../errors.ts'

/** What a loan may be secured by. */
export const COLLATERAL_KINDS = [
  'vehicle',
  'land',
  'building',
  'equipment',
  'livestock',
  'stock',
  'deposit',
  'salary',
  'other',
] as const
export type CollateralKind = (typeof COLLATERAL_KINDS)[number]

/** The texts of collateral, and the greatest length of each in characters. */
export const LONGEST_COLLATERAL = { description: 500, registration: 100, owner: 200 } as const

/** The most characters of what a guarantor is to the borrower. */
export const LONGEST_RELATIONSHIP = 100
/** The most characters of why a guarantor or collateral was released. */
export const LONGEST_RELEASE = 200
/** The most guarantors, and the most collateral, that a loan has at a time. */
export const MOST_SECURITY = 20

/** What is said of collateral in words that tell of a person; null where nothing is known. */
export interface CollateralDetails {
  readonly description: string
  /** Its number in a register: of a vehicle, of a piece of land. */
  readonly registration: string | null
  /** Who owns it. */
  readonly owner: string | null
}

/** Writes the details of collateral as text: JSON, in one order. */
export const detailsToText = ({ description, registration, owner }: CollateralDetails): string =>
  JSON.stringify({ description, registration, owner })

/** Reads the details of collateral from their text. */
export const detailsFromText = (text: string): CollateralDetails => JSON.parse(text) as CollateralDetails

/**
 * Requires that a guarantee has begun, and does not end before that.
 * @throws LendingError `invalid_argument`
 */
export function requireDays(from: LocalDate, until: LocalDate | null, today: LocalDate): void {
  if (from > today) throw invalidArgument('from', `must not be in the future: today is ${today}`)
  if (until !== null && until < from) throw invalidArgument('until', `must not be before the guarantee begins, ${from}`)
}

/** Requires that a value was found by today. @throws LendingError `invalid_argument` */
export function requireValued(valuedOn: LocalDate, today: LocalDate): void {
  if (valuedOn > today) throw invalidArgument('valuedOn', `must not be in the future: today is ${today}`)
}

/**
 * Requires that a guarantor or collateral can be released on a day.
 * @param since the day from which it stood; null: that is not known
 * @throws LendingError `invalid_argument`
 */
export function requireReleasable(on: LocalDate, since: LocalDate | null, today: LocalDate): void {
  if (on > today) throw invalidArgument('releaseDate', `must not be in the future: today is ${today}`)
  if (since !== null && on < since) throw invalidArgument('releaseDate', `must not be before the guarantee, ${since}`)
}
