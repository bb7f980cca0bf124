import { describe, expect, it } from 'vitest'
import { basicSchedule } from '../../../src/domain/schedule/recordSchedule.ts'
import { cells, interestOf, scheduleWith, table } from './recordScheduleTable.ts'

describe('flat_rate', () => {
  it('70,000 at 5% a month for 12 months: 42,000 of interest', () => {
    // 70,000 × 5 % × 12 = 42,000; 42,000 / 12 = 3,500; 70,000 / 12 = 5,833.33; last 70,000 − 11 × 5,833.33 = 5,833.37
    const terms = { principal: 70_000_00n, interest: '5', duration: 12, numberOfRepayments: 12 }
    expect(interestOf(terms)).toBe('42000.00')
    expect(cells(terms)).toEqual([...Array(11).fill('5833.33 3500.00'), '5833.37 3500.00'])
  })

  it('the duration decides the interest, the number of repayments only its parts', () => {
    // 1,000 × 10 % × 3 = 300, in 2 and in 7: 300 / 7 = 42.857 → 42.86, last 300 − 6 × 42.86 = 42.84
    expect(cells({ numberOfRepayments: 2 })).toEqual(['500.00 150.00', '500.00 150.00'])
    expect(cells({ numberOfRepayments: 7 })).toEqual([...Array(6).fill('142.86 42.86'), '142.84 42.84'])
  })

  it.each([
    // [interest period, duration, unit, total of 1,000 at 10 %]
    ['Day', 10, 'days', '1000.00'], // 10 days
    ['Day', 1, 'weeks', '700.00'], // 7 days
    ['Day', 1, 'months', '3000.00'], // 30 days
    ['Day', 1, 'years', '36000.00'], // 360 days
    ['Week', 14, 'days', '200.00'], // 14 / 7
    ['Week', 3, 'months', '1200.00'], // 3 × 4
    ['Week', 1, 'years', '5200.00'], // 52
    ['Month', 45, 'days', '150.00'], // 45 / 30
    ['Month', 6, 'weeks', '150.00'], // 6 / 4
    ['Month', 2, 'years', '2400.00'], // 24
    ['Year', 90, 'days', '25.00'], // 90 / 360
    ['Year', 52, 'weeks', '100.00'], // 52 / 52
    ['Year', 1, 'weeks', '1.92'], // 100 / 52 = 1.923
    ['Year', 6, 'months', '50.00'], // 6 / 12
    ['Loan', 730, 'days', '100.00'],
    ['Loan', 3, 'years', '100.00'],
  ] as const)('10%% per %s for %s %s is %s on 1,000', (interestPeriod, duration, durationUnit, total) =>
    expect(interestOf({ interestPeriod, duration, durationUnit })).toBe(total),
  )

  it('a fixed amount is money per interest period: 12.50 a month for three months', () => {
    // 12.50 × 3 = 37.50, whatever the principal
    expect(cells({ interestType: 'fixed', interest: '12.50' })).toEqual([
      '333.33 12.50',
      '333.33 12.50',
      '333.34 12.50',
    ])
    expect(interestOf({ interestType: 'fixed', interest: '12.50', principal: 7n })).toBe('37.50')
    expect(interestOf({ interestType: 'fixed', interest: '12.50', interestPeriod: 'Loan' })).toBe('12.50')
    expect(interestOf({ interestType: 'fixed', interest: '1', interestPeriod: 'Week' })).toBe('12.00')
  })
})

describe('reducing_rate_equal_installments', () => {
  const method = 'reducing_rate_equal_installments'

  it('1,200 at 1% a month in four: the annuity of 307.54', () => {
    // A = 1,200 × 0.01 / (1 − 1.01^−4) = 307.537…; interest 12.00, then 904.46 × 1 % = 9.04, 605.96 → 6.06, 304.48 →
    // 3.04
    expect(cells({ method, principal: 1_200_00n, interest: '1', duration: 4, numberOfRepayments: 4 })).toEqual([
      '295.54 12.00',
      '298.50 9.04',
      '301.48 6.06',
      '304.48 3.04',
    ])
  })

  it('the last takes what is left: 10,000 at 2% in three', () => {
    // A = 10,000 × 0.02 / (1 − 1.02^−3) = 3,467.546… → 3,467.55; 3,399.55 left, its interest 67.99: 3,467.54 at the end
    expect(cells({ method, principal: 10_000_00n, interest: '2' })).toEqual([
      '3267.55 200.00',
      '3332.90 134.65',
      '3399.55 67.99',
    ])
  })

  it('the rate of a year, by the week: 12% / 52', () => {
    // r = 0.12 / 52 = 0.0023077; A = 1,000 × r / (1 − (1 + r)^−4) = 251.44; 1,000 r = 2.31, 750.87 r = 1.73, 501.16 r =
    // 1.16, 250.88 r = 0.58
    const weekly = { method, interest: '12', interestPeriod: 'Year', schemeId: 4, numberOfRepayments: 4 } as const
    expect(cells(weekly)).toEqual(['249.13 2.31', '249.71 1.73', '250.28 1.16', '250.88 0.58'])
  })

  it('a rate for the whole loan is spread over the cycles, an own scheme divides the duration', () => {
    // 6 % over 3 = 2 % a cycle; six months in three of two months at 1 % a month = 2 % a cycle: as 10,000 above
    const as = cells({ method, principal: 10_000_00n, interest: '2' })
    expect(cells({ method, principal: 10_000_00n, interest: '6', interestPeriod: 'Loan' })).toEqual(as)
    expect(cells({ method, principal: 10_000_00n, interest: '1', duration: 6, schemeId: 12 })).toEqual(as)
    expect(cells({ method, principal: 10_000_00n, interest: '1', duration: 6, schemeId: 77 })).toEqual(as)
  })
})

describe('reducing_rate_equal_principal', () => {
  it('1,000 at 3% a month in three: 30, 20, 10', () => {
    // 333.33 each; 1,000 × 3 % = 30.00, 666.67 × 3 % = 20.0001, 333.34 × 3 % = 10.0002
    expect(table({ method: 'reducing_rate_equal_principal', interest: '3' })).toEqual([
      '2026-02-28 333.33 30.00',
      '2026-03-31 333.33 20.00',
      '2026-04-30 333.34 10.00',
    ])
  })
})

describe('interest_only', () => {
  const method = 'interest_only'

  it('interest on the full principal each cycle, the principal with the last', () => {
    expect(cells({ method })).toEqual(['0.00 100.00', '0.00 100.00', '1000.00 100.00'])
  })

  it('each cycle alone: 1,000 at 1.2345% is 12.345, 12.35 each time', () => {
    expect(cells({ method, interest: '1.2345' })).toEqual(['0.00 12.35', '0.00 12.35', '1000.00 12.35'])
  })

  it('for the whole loan: 10% of 1,000 in three, and the last makes it 100', () => {
    expect(cells({ method, interestPeriod: 'Loan' })).toEqual(['0.00 33.33', '0.00 33.33', '1000.00 33.34'])
  })

  it('a fixed amount: 7 a week is 14 every two weeks, and 84 at the end of three months', () => {
    const fixed = { method, interestType: 'fixed', interest: '7', interestPeriod: 'Week' } as const
    expect(cells({ ...fixed, schemeId: 9, numberOfRepayments: 2 })).toEqual(['0.00 14.00', '1000.00 14.00'])
    expect(cells({ ...fixed, schemeId: 10, numberOfRepayments: 1 })).toEqual(['1000.00 84.00'])
  })
})

describe('compound_interest', () => {
  const method = 'compound_interest'

  it('1,000 at 10% a month for three months: 331 in equal parts', () => {
    // 1,000 × 1.1³ − 1,000 = 331; 331 / 3 = 110.33, last 110.34
    expect(cells({ method })).toEqual(['333.33 110.33', '333.33 110.33', '333.34 110.34'])
  })

  it('for the whole loan, 30% in three cycles of 10%: the same', () => {
    expect(interestOf({ method, interest: '30', interestPeriod: 'Loan' })).toBe('331.00')
  })

  it('a lump sum compounds each interest period, a part of one at simple interest', () => {
    const lump = { method, schemeId: 10, numberOfRepayments: 1 } as const
    // 1,000 × 1.05^12 − 1,000 = 795.856…
    expect(cells({ ...lump, interest: '5', duration: 12 })).toEqual(['1000.00 795.86'])
    // 45 days are a month and a half: 1,000 × 1.1 × 1.05 − 1,000 = 155
    expect(cells({ ...lump, duration: 45, durationUnit: 'days' })).toEqual(['1000.00 155.00'])
    // half a year at 10 % a year is simple: 50; the whole loan is one period: 100
    expect(cells({ ...lump, duration: 6, interestPeriod: 'Year' })).toEqual(['1000.00 50.00'])
    expect(cells({ ...lump, duration: 6, interestPeriod: 'Loan' })).toEqual(['1000.00 100.00'])
  })
})

describe('the lines', () => {
  it('follow each other from the release, without fees', () => {
    expect(scheduleWith({ numberOfRepayments: 2 })).toEqual([
      { period: 1, fromDate: '2026-01-31', dueDate: '2026-02-28', principal: 50_000n, interest: 15_000n, fees: 0n },
      { period: 2, fromDate: '2026-02-28', dueDate: '2026-03-31', principal: 50_000n, interest: 15_000n, fees: 0n },
    ])
  })
})

describe('the basic body', () => {
  const basic = { principal: 1_000_00n, releasedOn: '2026-01-31', dueOn: '2026-07-31' }

  it('one instalment, no interest, due on due_date', () => {
    expect(basicSchedule(basic)).toEqual([
      { period: 1, fromDate: '2026-01-31', dueDate: '2026-07-31', principal: 100_000n, interest: 0n, fees: 0n },
    ])
    expect(basicSchedule({ ...basic, dueOn: '2026-01-31' })).toHaveLength(1)
  })

  it('not due before its release', () =>
    expect(() => basicSchedule({ ...basic, dueOn: '2026-01-30' })).toThrow('must not be before releasedOn'))
})
