import type { LocalDate, PeriodUnit } from '../dates.ts'
import type { Currency, Decimal } from '../money.ts'

// The words of the record style's extended loan body (contract 5.3), in the spelling that messages and documents use.

export const interestMethods = [
  'flat_rate',
  'reducing_rate_equal_installments',
  'reducing_rate_equal_principal',
  'interest_only',
  'compound_interest',
] as const
export const interestTypes = ['percentage', 'fixed'] as const
export const interestPeriods = ['Day', 'Week', 'Month', 'Year', 'Loan'] as const
export const durationPeriods = ['Days', 'Weeks', 'Months', 'Years'] as const
export const decimalPlaces = [
  'round_off_to_two_decimal',
  'round_off_to_integer',
  'round_down_to_integer',
  'round_up_to_integer',
  'round_off_to_one_decimal',
  'round_up_to_one_decimal',
  'round_up_to_five',
  'round_up_to_ten',
  'round_off_to_hundred',
] as const

export type InterestMethod = (typeof interestMethods)[number]
export type InterestType = (typeof interestTypes)[number]
/** The period that the interest is for: a day, …, or the whole loan. */
export type InterestPeriod = (typeof interestPeriods)[number]
/** The rounding of each cell of the schedule. */
export type DecimalPlaces = (typeof decimalPlaces)[number]

/** The rounding of a loan whose body names none. */
export const defaultDecimalPlaces: DecimalPlaces = 'round_off_to_two_decimal'

/**
 * The terms from which the schedule of an extended body is computed. Its words are read, its bounds not yet checked.
 */
export interface RecordTerms {
  readonly currency: Currency
  /** Minor units, above 0. */
  readonly principal: bigint
  readonly releasedOn: LocalDate
  readonly method: InterestMethod
  readonly interestType: InterestType
  /** Percent per interest period; a money amount per interest period when the type is `fixed`. */
  readonly interest: Decimal
  readonly interestPeriod: InterestPeriod
  readonly durationUnit: PeriodUnit
  readonly duration: number
  /** One of the known payment schemes; any other number is an organization's own. */
  readonly schemeId: number
  readonly numberOfRepayments: number
  readonly rounding: DecimalPlaces
}

/** Returns a text in lower case, its words joined by underscores: case, spaces and hyphens do not matter. */
const normalized = (text: string): string =>
  text
    .toLowerCase()
    .split(/[\s_-]+/)
    .filter((word) => word !== '')
    .join('_')

/** Creates a reader of one vocabulary; it returns the canonical word, or undefined for an unknown spelling. */
function readerOf<Word>(spellings: readonly (readonly [spelling: string, word: Word])[]) {
  const words = new Map(spellings.map(([spelling, word]) => [normalized(spelling), word]))
  return (text: string): Word | undefined => words.get(normalized(text))
}

const itself = <Word extends string>(word: Word): readonly [string, Word] => [word, word]

/** `loan_interest_method`: "Flat Rate" → `flat_rate`. */
export const readInterestMethod = readerOf(interestMethods.map(itself))

/** `loan_interest_type`: "Percentage" → `percentage`. */
export const readInterestType = readerOf(interestTypes.map(itself))

/** `loan_interest_period`: "month" and "Monthly" → `Month`. */
export const readInterestPeriod = readerOf<InterestPeriod>([
  ...interestPeriods.map(itself),
  ['Daily', 'Day'],
  ['Weekly', 'Week'],
  ['Monthly', 'Month'],
  ['Yearly', 'Year'],
])

/** `loan_duration_period`, and the basic body's `duration_period`: "Months" and "month" → `months`. */
export const readDurationPeriod = readerOf<PeriodUnit>([
  ['Days', 'days'],
  ['Day', 'days'],
  ['Weeks', 'weeks'],
  ['Week', 'weeks'],
  ['Months', 'months'],
  ['Month', 'months'],
  ['Years', 'years'],
  ['Year', 'years'],
])

/** `loan_decimal_places`: "Round Off To Integer" and "0" → `round_off_to_integer`. */
export const readDecimalPlaces = readerOf<DecimalPlaces>([
  ...decimalPlaces.map(itself),
  ['0', 'round_off_to_integer'],
  ['1', 'round_off_to_one_decimal'],
  ['2', 'round_off_to_two_decimal'],
])
