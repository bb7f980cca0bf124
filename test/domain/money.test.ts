import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { invalidArgument } from '../../src/domain/errors.ts'
import {
  applyRate,
  currencyOf,
  divideHalfEven,
  minorToNumber,
  minorToText,
  parseDecimal,
  roundToMultiple,
  toMinor,
} from '../../src/domain/money.ts'
import { runs } from '../support/runs.ts'

const TZS = currencyOf('TZS')
const UGX = currencyOf('UGX')

const read = (text: string, currency = TZS) => toMinor(parseDecimal(text)!, currency, 'amount')

describe('an amount is read exactly', () => {
  it.each([
    ['1', 100n],
    ['0.01', 1n],
    ['100.10', 10_010n],
    ['1e3', 100_000n],
    ['1.5E1', 1_500n],
    ['120e-1', 1_200n],
    ['999999999999.99', 99_999_999_999_999n],
    ['1.000000000000000000000000', 100n],
  ])('%s TZS is %s cents', (text, minor) => expect(read(text)).toBe(minor))

  it.each([
    ['0', 'must be greater than 0'],
    ['-0', 'must be greater than 0'],
    ['-5', 'must be greater than 0'],
    ['100.001', 'must have at most 2 decimals in TZS'],
    ['1.0000000000000000001', 'must have at most 2 decimals in TZS'],
    ['1000000000000', 'must be at most 999999999999.99'],
  ])('%s TZS: %s', (text, message) => {
    expect(() => read(text)).toThrow(invalidArgument('amount', message))
  })

  it('takes no decimals in a currency without', () => {
    expect(read('7', UGX)).toBe(7n)
    expect(() => read('7.5', UGX)).toThrow('must be a whole number: UGX has no decimals')
    expect(() => read('1000000000000', UGX)).toThrow('must be at most 999999999999.99')
  })

  it.each(['', 'abc', '1e400', '1e-400', '0x10', '1.', '.5', '١', 'NaN', '1'.repeat(65)])('%j is no amount', (text) =>
    expect(parseDecimal(text)).toBeUndefined(),
  )

  it('gives back what it was written as', () => {
    fc.assert(
      fc.property(fc.bigInt(1n, 99_999_999_999_999n), fc.constantFrom(TZS, UGX), (minor, currency) => {
        fc.pre(currency === TZS || minor <= 999_999_999_999n)
        const text = minorToText(minor, currency)
        expect(read(text, currency)).toBe(minor)
        // The number in an answer is the same decimal, to the last cent.
        expect(read(JSON.stringify(minorToNumber(minor, currency)), currency)).toBe(minor)
      }),
    )
  })

  it('is the same number that its text is read as', () => {
    const most = 999_999_999_999_999n
    fc.assert(
      fc.property(fc.bigInt(-most, most), fc.constantFrom(TZS, UGX), (minor, currency) => {
        expect(minorToNumber(minor, currency)).toBe(Number(minorToText(minor, currency)))
      }),
      { numRuns: runs(1_000) },
    )
  })
})

describe('rounding', () => {
  it.each([
    [5n, 2n, 2n],
    [7n, 2n, 4n],
    [-5n, 2n, -2n],
    [-7n, 2n, -4n],
    [10n, 4n, 2n],
    [11n, 4n, 3n],
    [0n, 3n, 0n],
  ])('%s / %s is %s, halves to even', (a, b, result) => expect(divideHalfEven(a, b)).toBe(result))

  it('is never more than half a unit off', () => {
    fc.assert(
      fc.property(fc.bigInt(-(10n ** 20n), 10n ** 20n), fc.bigInt(1n, 10n ** 10n), (a, b) => {
        const off = 2n * (divideHalfEven(a, b) * b - a)
        expect(off <= b && off >= -b).toBe(true)
      }),
    )
  })

  it('takes the nearest multiple', () => {
    expect(roundToMultiple(10_333n, 1_000n)).toBe(10_000n)
    expect(roundToMultiple(10_500n, 1_000n)).toBe(10_000n)
    expect(roundToMultiple(11_500n, 1_000n)).toBe(12_000n)
  })

  it('applies a rate in millionths of a percent', () => {
    expect(applyRate(10_000_000n, 10_000_000n)).toBe(1_000_000n)
    expect(applyRate(12_50n, 1_250_000n, 3n)).toBe(47n)
  })
})
