import { describe, expect, it } from 'vitest'
import {
  decimalPlaces,
  defaultDecimalPlaces,
  durationPeriods,
  interestMethods,
  interestPeriods,
  interestTypes,
  readDecimalPlaces,
  readDurationPeriod,
  readInterestMethod,
  readInterestPeriod,
  readInterestType,
} from '../../../src/domain/schedule/recordTerms.ts'

const vocabularies: readonly [string, readonly string[], (text: string) => string | undefined][] = [
  ['loan_interest_method', interestMethods, readInterestMethod],
  ['loan_interest_type', interestTypes, readInterestType],
  ['loan_interest_period', interestPeriods, readInterestPeriod],
  ['loan_decimal_places', decimalPlaces, readDecimalPlaces],
]

describe.each(vocabularies)('%s', (_, names, read) => {
  it.each(names)('%s, in any case, with spaces or underscores', (name) => {
    for (const spelling of [name, name.toUpperCase(), name.toLowerCase(), name.replaceAll('_', ' '), ` ${name} `])
      expect(read(spelling)).toBe(name)
  })

  it.each(['', ' ', '_', 'flat', 'toString', '__proto__', 'Fortnight', '3', 'Months'])('%j is none', (text) =>
    expect(read(text)).toBeUndefined(),
  )
})

describe('other spellings', () => {
  it.each([
    ['Flat Rate', 'flat_rate'],
    ['Reducing Rate - Equal Installments', 'reducing_rate_equal_installments'],
    ['REDUCING RATE_EQUAL  PRINCIPAL', 'reducing_rate_equal_principal'],
  ])('method %s', (text, method) => expect(readInterestMethod(text)).toBe(method))

  it.each([
    ['Daily', 'Day'],
    ['weekly', 'Week'],
    ['MONTHLY', 'Month'],
    ['Yearly', 'Year'],
  ])('interest %s', (text, period) => expect(readInterestPeriod(text)).toBe(period))

  it.each([
    ['0', 'round_off_to_integer'],
    ['1', 'round_off_to_one_decimal'],
    ['2', 'round_off_to_two_decimal'],
    ['Round Up To Ten', 'round_up_to_ten'],
  ])('decimal places %s', (text, places) => expect(readDecimalPlaces(text)).toBe(places))

  it('two decimals where none are named', () => expect(defaultDecimalPlaces).toBe('round_off_to_two_decimal'))
})

describe('duration_period and loan_duration_period', () => {
  it.each(durationPeriods)('%s, in any case, singular or plural', (name) => {
    const unit = name.toLowerCase()
    for (const spelling of [name, unit, name.toUpperCase(), name.slice(0, -1), unit.slice(0, -1)])
      expect(readDurationPeriod(spelling)).toBe(unit)
  })

  it.each(['', 'Loan', 'Monthly', 'Monthss', 'quarter'])('%j is none', (text) =>
    expect(readDurationPeriod(text)).toBeUndefined(),
  )
})
