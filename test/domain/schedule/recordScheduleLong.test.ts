import { Decimal } from 'decimal.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sum } from '../../../src/domain/money.ts'
import { recordSchedule } from '../../../src/domain/schedule/recordSchedule.ts'
import { interestMethods } from '../../../src/domain/schedule/recordTerms.ts'
import { processorMs } from '../../support/patience.ts'
import { base, interestOf, scheduleWith } from './recordScheduleTable.ts'

describe('the annuity', () => {
  const reducing = { method: 'reducing_rate_equal_installments', interestPeriod: 'Month', schemeId: 3 } as const

  it('is P × r / (1 − (1 + r)^−n), computed another way, in every instalment but the last', () => {
    const Precise = Decimal.clone({ precision: 60 })
    fc.assert(
      fc.property(
        fc.bigInt(10_000n, 10n ** 13n),
        fc.integer({ min: 1, max: 50_000 }),
        fc.integer({ min: 1, max: 60 }),
        (principal, units, n) => {
          const terms = {
            ...base,
            ...reducing,
            principal,
            interest: { units: BigInt(units), scale: 4 },
            numberOfRepayments: n,
          }
          const rate = new Precise(units).div(1_000_000)
          const level = rate
            .mul(String(principal))
            .div(new Precise(1).sub(rate.add(1).pow(-n)))
            .toFixed(0, Decimal.ROUND_HALF_UP)
          let balance = principal
          for (const line of recordSchedule(terms)) {
            const owed = rate.mul(String(balance)).toFixed(0, Decimal.ROUND_HALF_UP)
            expect(String(line.interest)).toBe(owed)
            if (line.period < n && balance > BigInt(level)) expect(String(line.principal + line.interest)).toBe(level)
            balance -= line.principal
          }
          expect(balance).toBe(0n)
        },
      ),
    )
  })

  it('discounted at its rate, what is paid is worth the principal, to a minor unit an instalment', () => {
    const Precise = Decimal.clone({ precision: 60 })
    for (const [units, n] of [
      [12_500, 360],
      [1, 2000],
      [50_000, 24],
    ] as const) {
      const lines = recordSchedule({
        ...base,
        ...reducing,
        principal: 10n ** 12n,
        interest: { units: BigInt(units), scale: 4 },
        numberOfRepayments: n,
      })
      const step = new Precise(units).div(1_000_000).add(1)
      const worth = lines.reduce(
        (all, line) => all.add(new Precise(String(line.principal + line.interest)).div(step.pow(line.period))),
        new Precise(0),
      )
      expect(
        worth
          .sub(10 ** 12)
          .abs()
          .lte(n),
      ).toBe(true)
    }
  })
})

describe('the long ones', () => {
  it('360 daily instalments of a year, the rate by the year', () => {
    // 36 % a year is 0.1 % a day: flat 1,000 × 36 % = 360, 1.00 a day
    const daily = {
      schemeId: 6,
      numberOfRepayments: 360,
      duration: 1,
      durationUnit: 'years',
      interestPeriod: 'Year',
      interest: '36',
    } as const
    const lines = scheduleWith(daily)
    expect(lines.every((line) => line.interest === 100n)).toBe(true)
    expect(lines.at(-1)!.dueDate).toBe('2027-01-26')
    expect(interestOf(daily)).toBe('360.00')
  })

  it.each(interestMethods)('730 days and 2,000 repayments take less than a second of a processor: %s', (method) => {
    const long = {
      method,
      schemeId: 6,
      duration: 730,
      durationUnit: 'days',
      numberOfRepayments: 2000,
      interest: '0.0123',
      interestPeriod: 'Year',
      principal: 10n ** 13n,
    } as const
    let lines: ReturnType<typeof scheduleWith> = []
    expect(processorMs(() => (lines = scheduleWith(long)))).toBeLessThan(1_000)
    expect(lines).toHaveLength(2000)
    expect(sum(lines.map((line) => line.principal))).toBe(10n ** 13n)
  })
})
