import { describe, expect, it } from 'vitest'
import { currencyOf, parseDecimal } from '../../../src/domain/money.ts'
import type { ExtendedBody } from '../../../src/domain/recordStyle/loanRecord.ts'
import {
  type Agreed,
  agree,
  type BasicLoan,
  sameLoan,
  sameSources,
  textOf,
} from '../../../src/domain/recordStyle/recordLoan.ts'
import { ratePerCycle } from '../../../src/domain/schedule/recordSchedule.ts'
import { type Differing, termsWith } from '../schedule/recordScheduleTable.ts'

const KES = currencyOf('KES')
const ZONE = 'Africa/Nairobi'
const NOW = Date.parse('2026-01-31T09:30:00+03:00')

const basic: BasicLoan = {
  principal: parseDecimal('1000.50')!,
  releasedOn: '2026-01-15',
  dueOn: '2026-04-15',
  duration: 3,
  durationPeriod: 'months',
}

const extended: ExtendedBody = {
  loan_principal_amount: '1200.00',
  loan_released_date: '"2026-01-31"',
  loan_interest_method: '"Flat Rate"',
  loan_interest_type: '"percentage"',
  loan_interest_period: '"Month"',
  loan_interest: '1.0',
  loan_duration_period: '"Months"',
  loan_duration: '4',
  loan_payment_scheme_id: '3',
  loan_num_of_repayments: '4',
  loan_decimal_places: '2',
}

describe('the terms of a record-style loan', () => {
  it('basic: one instalment; released on another day it is disbursed at the first moment of that day', () => {
    expect(agree({ basic }, KES, ZONE, NOW).terms).toEqual({
      currency: KES,
      zone: ZONE,
      principal: 100_050n,
      numberOfRepayments: 1,
      ratePerPeriod: 0n,
      penaltyAmount: null,
      rules: null,
      disbursedAt: Date.parse('2026-01-15T00:00:00+03:00'),
      disbursedOn: '2026-01-15',
      dueOn: '2026-04-15',
      dueAt: Date.parse('2026-04-15T00:00:00+03:00'),
      schedule: [
        { period: 1, fromDate: '2026-01-15', dueDate: '2026-04-15', principal: 100_050n, interest: 0n, fees: 0n },
      ],
    })
  })

  it('extended: read from what was sent; released today it is disbursed now', () => {
    const { terms, record } = agree({ extended }, KES, ZONE, NOW)
    expect(terms).toMatchObject({
      principal: 120_000n,
      ratePerPeriod: 1_000_000n,
      disbursedAt: NOW,
      dueOn: '2026-05-31',
      dueAt: Date.parse('2026-05-31T09:30:00+03:00'),
    })
    expect(terms.schedule.map(({ interest }) => interest)).toEqual([1_200n, 1_200n, 1_200n, 1_200n])
    expect(record).toEqual({
      loanType: null,
      description: null,
      duration: 4,
      durationPeriod: 'Months',
      products: [],
      extended,
    })
  })

  it('today is that of the zone', () => {
    const late = Date.parse('2026-01-30T22:00:00Z')
    expect(agree({ extended }, KES, ZONE, late).terms.disbursedAt).toBe(late)
  })

  it('a source is a text or a number', () =>
    expect(['"Flat \\u0052ate"', '2', '"2"'].map(textOf)).toEqual(['Flat Rate', '2', '2']))
})

describe('the rate per period of views', () => {
  it.each<[Differing, bigint]>([
    [{ interest: '10' }, 10_000_000n],
    // 10 % a month for three months in two parts: 15 % each.
    [{ interest: '10', numberOfRepayments: 2 }, 15_000_000n],
    [{ interest: '12', interestPeriod: 'Year', method: 'reducing_rate_equal_installments' }, 1_000_000n],
    [{ interest: '1', interestPeriod: 'Week', method: 'interest_only' }, 4_000_000n],
    [{ interest: '6', interestPeriod: 'Loan', method: 'compound_interest' }, 2_000_000n],
    // 12.50 on 1,000
    [{ interest: '12.50', interestType: 'fixed' }, 1_250_000n],
    [{ interest: '0' }, 0n],
    // Half-even at a millionth of a percent: 10 % / 360 = 0.02777…
    [{ interest: '10', interestPeriod: 'Year', schemeId: 6, method: 'interest_only' }, 27_778n],
    // As much as the book has room for.
    [{ interest: '999999999999.99', interestType: 'fixed', principal: 1n }, 9_223_372_036_854_775_807n],
  ])('%o: %s millionths of a percent', (differing, rate) => expect(ratePerCycle(termsWith(differing))).toBe(rate))
})

describe('the same loan', () => {
  const contentOf = ({ terms, record }: Agreed, borrowerId = 1n) => ({ ...terms, borrowerId, record })
  const one = contentOf(agree({ extended }, KES, ZONE, NOW))

  it('is one of the same content, numbers by their value, whenever it is sent', () => {
    const again = agree(
      { extended: { ...extended, loan_interest: '1', loan_principal_amount: '1.2e3' } },
      KES,
      ZONE,
      NOW + 864e5,
    )
    expect(sameLoan(one, contentOf(again))).toBe(true)
  })

  it('is not one with another borrower, another field, a field more, or of the other body', () => {
    expect(sameLoan(one, { ...one, borrowerId: 2n })).toBe(false)
    for (const change of [
      { loan_interest: '1.0001' },
      { loan_application_id: '5' },
      { loan_decimal_places: undefined },
    ])
      expect(sameLoan(one, contentOf(agree({ extended: { ...extended, ...change } }, KES, ZONE, NOW)))).toBe(false)
    expect(sameLoan(one, contentOf(agree({ basic }, KES, ZONE, NOW)))).toBe(false)
    expect(sameLoan({ ...one, record: null }, { ...one, record: null })).toBe(false)
  })

  it('an id of 19 digits is not its neighbour', () => {
    expect(sameSources({ a: '9223372036854775807' }, { a: '9223372036854775806' })).toBe(false)
    expect(sameSources({ a: '1.50' }, { a: '1.5' })).toBe(true)
    expect(sameSources({ a: '"1.50"' }, { a: '"1.5"' })).toBe(false)
  })
})
