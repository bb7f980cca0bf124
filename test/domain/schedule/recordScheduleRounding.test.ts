import { describe, expect, it } from 'vitest'
import { currencyOf, minorToText, parseDecimal } from '../../../src/domain/money.ts'
import { cellRounding, fraction } from '../../../src/domain/schedule/fraction.ts'
import type { DecimalPlaces } from '../../../src/domain/schedule/recordTerms.ts'
import { cells } from './recordScheduleTable.ts'

function rounded(places: DecimalPlaces, text: string, code = 'KES'): string {
  const currency = currencyOf(code)
  const { units, scale } = parseDecimal(text)!
  return minorToText(
    cellRounding(places, currency)(fraction(units * 10n ** BigInt(currency.decimals), 10n ** BigInt(scale))),
    currency,
  )
}

describe('a cell', () => {
  it.each([
    ['round_off_to_two_decimal', '2.359', '2.36'],
    ['round_off_to_two_decimal', '2.345', '2.35'],
    ['round_off_to_two_decimal', '2.3449', '2.34'],
    ['round_off_to_one_decimal', '2.55', '2.60'],
    ['round_off_to_one_decimal', '2.45', '2.50'],
    ['round_off_to_one_decimal', '2.449', '2.40'],
    ['round_up_to_one_decimal', '2.501', '2.60'],
    ['round_up_to_one_decimal', '2.5', '2.50'],
    ['round_off_to_integer', '2.539', '3.00'],
    ['round_off_to_integer', '2.5', '3.00'],
    ['round_off_to_integer', '2.499', '2.00'],
    ['round_down_to_integer', '2.999', '2.00'],
    ['round_up_to_integer', '2.001', '3.00'],
    ['round_up_to_five', '11', '15.00'],
    ['round_up_to_five', '15', '15.00'],
    ['round_up_to_five', '15.01', '20.00'],
    ['round_up_to_ten', '12.01', '20.00'],
    ['round_up_to_ten', '20', '20.00'],
    ['round_off_to_hundred', '149.99', '100.00'],
    ['round_off_to_hundred', '150', '200.00'],
    ['round_off_to_hundred', '49', '0.00'],
    ['round_up_to_ten', '0', '0.00'],
  ] as const)('%s: %s becomes %s', (places, text, result) => expect(rounded(places, text)).toBe(result))

  it.each([
    ['round_off_to_two_decimal', '2.5', '3'],
    ['round_off_to_one_decimal', '2.49', '2'],
    ['round_up_to_one_decimal', '2.01', '3'],
    ['round_down_to_integer', '2.9', '2'],
    ['round_up_to_five', '2.1', '5'],
    ['round_off_to_hundred', '150', '200'],
  ] as const)('%s in UGX, that has no decimals: %s becomes %s', (places, text, result) =>
    expect(rounded(places, text, 'UGX')).toBe(result),
  )
})

describe('a schedule', () => {
  // 1,000 at 1.2345 % a month for three months, flat: 333.333… of principal and 12.345 of interest, 37.035 in all.
  // The total is rounded like a cell; the last of each column is what the others leave.
  it.each([
    ['round_off_to_two_decimal', ['333.33 12.35', '333.33 12.35', '333.34 12.34']], // 37.04
    ['round_off_to_one_decimal', ['333.30 12.30', '333.30 12.30', '333.40 12.40']], // 37.0
    ['round_up_to_one_decimal', ['333.40 12.40', '333.40 12.40', '333.20 12.30']], // 37.1
    ['round_off_to_integer', ['333.00 12.00', '333.00 12.00', '334.00 13.00']], // 37
    ['round_down_to_integer', ['333.00 12.00', '333.00 12.00', '334.00 13.00']], // 37
    ['round_up_to_integer', ['334.00 13.00', '334.00 13.00', '332.00 12.00']], // 38
    ['round_up_to_five', ['335.00 15.00', '335.00 15.00', '330.00 10.00']], // 40
    ['round_up_to_ten', ['340.00 20.00', '340.00 20.00', '320.00 0.00']], // 40: used up by two
    ['round_off_to_hundred', ['300.00 0.00', '300.00 0.00', '400.00 0.00']], // 0
  ] as const)('%s, flat', (rounding, lines) => expect(cells({ interest: '1.2345', rounding })).toEqual(lines))

  it('rounded up, the principal may be used up before the end: 25 in four tens', () => {
    // 25 / 4 = 6.25 → 10, 10, the 5 that are left, nothing
    const few = { principal: 25_00n, interest: '0', numberOfRepayments: 4, rounding: 'round_up_to_ten' } as const
    expect(cells(few)).toEqual(['10.00 0.00', '10.00 0.00', '5.00 0.00', '0.00 0.00'])
  })

  it('an annuity rounded up to the integer: 3,468, and less at the end', () => {
    // 3,467.546 → 3,468; 200, then 6,732 × 2 % = 134.64 → 135, 3,399 × 2 % = 67.98 → 68
    const method = 'reducing_rate_equal_installments'
    expect(cells({ method, principal: 10_000_00n, interest: '2', rounding: 'round_up_to_integer' })).toEqual([
      '3268.00 200.00',
      '3333.00 135.00',
      '3399.00 68.00',
    ])
  })

  it('an annuity rounded to less than repays anything leaves the principal to the last', () => {
    // A = 1,000 × 0.1 / (1 − 1.1^−30) = 106.08 → 100, all of it interest
    const method = 'reducing_rate_equal_installments'
    const lines = cells({ method, duration: 30, numberOfRepayments: 30, rounding: 'round_off_to_hundred' })
    expect(lines).toEqual([...Array(29).fill('0.00 100.00'), '1000.00 100.00'])
  })

  it('in UGX: whole shillings under the default rounding', () => {
    // 1,000 / 3 = 333.33 → 333; 1,000 × 1.25 % × 3 = 37.5 → 38, 12.5 → 13
    expect(cells({ currency: currencyOf('UGX'), principal: 1_000n, interest: '1.25' })).toEqual([
      '333 13',
      '333 13',
      '334 12',
    ])
  })
})
