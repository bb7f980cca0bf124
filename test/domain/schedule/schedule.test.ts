import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { currencyOf, minorToText, sum } from '../../../src/domain/money.ts'
import { productSchedule, type ScheduleTerms } from '../../../src/domain/schedule/schedule.ts'

const TZS = currencyOf('TZS')
const PERCENT = 1_000_000n

const base: ScheduleTerms = {
  principal: 100_000_00n,
  ratePerPeriod: 10n * PERCENT,
  numberOfRepayments: 1,
  repayEvery: 1,
  repayUnit: 'months',
  totalMultipleOf: null,
  terms: null,
  disbursedOn: '2026-01-31',
}

/** A schedule as a table: due date, principal, interest. */
const table = (terms: Partial<ScheduleTerms>) =>
  productSchedule({ ...base, ...terms }).map(
    (line) => `${line.dueDate} ${minorToText(line.principal, TZS)} ${minorToText(line.interest, TZS)}`,
  )

describe('flat interest, fixed at disbursement', () => {
  it('100,000 at 10% for one month: one period, 100,000 and 10,000', () => {
    expect(table({})).toEqual(['2026-02-28 100000.00 10000.00'])
  })

  it('62.50 of interest in four parts: 15.625 rounds half-even to 15.62, the last takes the rest', () => {
    // I = 1,250 × 1.25 % × 4 = 62.50; 62.50 / 4 = 15.625 → 15.62, three times; 62.50 − 46.86 = 15.64
    expect(table({ principal: 1_250_00n, ratePerPeriod: 1_250_000n, numberOfRepayments: 4 })).toEqual([
      '2026-02-28 312.50 15.62',
      '2026-03-31 312.50 15.62',
      '2026-04-30 312.50 15.62',
      '2026-05-31 312.50 15.64',
    ])
  })

  it('1,000 in three: the last takes the cent that is over', () => {
    expect(table({ principal: 1_000_00n, ratePerPeriod: 0n, numberOfRepayments: 3 })).toEqual([
      '2026-02-28 333.33 0.00',
      '2026-03-31 333.33 0.00',
      '2026-04-30 333.34 0.00',
    ])
  })

  it('totals rounded to a multiple of 10: the principal gives way', () => {
    // I = 1,000 × 2 % × 12 = 240, 20 each; 83.33 + 20 = 103.33 → 100, so principal 80; last 1,000 − 880 = 120
    const weekly = table({
      principal: 1_000_00n,
      ratePerPeriod: 2n * PERCENT,
      numberOfRepayments: 12,
      repayUnit: 'weeks',
      totalMultipleOf: 10_00n,
    })
    expect(weekly[0]).toBe('2026-02-07 80.00 20.00')
    expect(weekly[10]).toBe('2026-04-18 80.00 20.00')
    expect(weekly[11]).toBe('2026-04-25 120.00 20.00')
  })

  it('laws: the lines sum to principal and interest, none is negative, dates follow each other', () => {
    fc.assert(
      fc.property(
        fc.bigInt(1n, 10n ** 14n),
        fc.bigInt(0n, 60n * PERCENT),
        fc.integer({ min: 1, max: 60 }),
        fc.constantFrom('days' as const, 'weeks' as const, 'months' as const, 'years' as const),
        fc.option(fc.bigInt(1n, 100_000n), { nil: null }),
        (principal, ratePerPeriod, numberOfRepayments, repayUnit, totalMultipleOf) => {
          const lines = productSchedule({
            ...base,
            principal,
            ratePerPeriod,
            numberOfRepayments,
            repayUnit,
            totalMultipleOf,
          })
          expect(lines).toHaveLength(numberOfRepayments)
          expect(sum(lines.map((line) => line.principal))).toBe(principal)
          const interest = sum(lines.map((line) => line.interest))
          const exact = principal * ratePerPeriod * BigInt(numberOfRepayments)
          const off = 2n * (interest * 100_000_000n - exact)
          expect(off <= 100_000_000n && off >= -100_000_000n).toBe(true)
          for (const [index, line] of lines.entries()) {
            expect(line.principal >= 0n && line.interest >= 0n).toBe(true)
            expect(line.dueDate > line.fromDate).toBe(true)
            expect(line.fromDate).toBe(index === 0 ? '2026-01-31' : lines[index - 1]!.dueDate)
          }
        },
      ),
    )
  })
})
