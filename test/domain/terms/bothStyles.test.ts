import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { currencyOf, divideHalfEven } from '../../../src/domain/money.ts'
import { productOf } from '../../../src/domain/product/newProduct.ts'
import { recordSchedule } from '../../../src/domain/schedule/recordSchedule.ts'
import { type Instalment, productSchedule } from '../../../src/domain/schedule/schedule.ts'
import { base } from '../schedule/recordScheduleTable.ts'

const METHODS = [
  ['declining_equal_instalments', 'reducing_rate_equal_installments'],
  ['declining_equal_principal', 'reducing_rate_equal_principal'],
  ['interest_only', 'interest_only'],
] as const

/** The payment schemes of the record style, as distances of instalments. */
const SCHEMES = [
  [6, 1, 'days'],
  [4, 1, 'weeks'],
  [9, 2, 'weeks'],
  [3, 1, 'months'],
  [13, 3, 'months'],
  [11, 1, 'years'],
] as const

const PERS = [
  ['month', 'Month'],
  ['year', 'Year'],
] as const

/** Whether a cell is exactly on a half, where the styles differ: to the even unit, and away from zero (contract 4.3.1, 5.3). */
const isHalf = (over: bigint, under: bigint) => (2n * over) % under === 0n && over % under !== 0n

describe('a loan of a product and the same terms in an extended body', () => {
  it('have the same schedule to the cent, but where a cell is exactly on a half', () => {
    let compared = 0
    fc.assert(
      fc.property(
        fc.constantFrom(...METHODS),
        fc.constantFrom(...SCHEMES),
        fc.constantFrom(...PERS),
        fc.integer({ min: 1, max: 40 }),
        fc.bigInt(1n, 20_000n),
        fc.bigInt(1n, 10n ** 10n),
        (
          [interestMethod, method],
          [schemeId, repayEvery, repayUnit],
          [ratePer, interestPeriod],
          count,
          rate,
          principal,
        ) => {
          const interest = { units: rate, scale: 4 }
          const product = productOf(
            {
              ...{ name: 'Same', currency: 'TZS', interestMethod, ratePer, interestRate: interest },
              ...{ principalMin: { units: 1n, scale: 2 }, principalMax: { units: 10n ** 8n, scale: 0 } },
              ...{ numberOfRepayments: count, repayEvery, repayUnit },
            },
            1,
          )
          const lines = productSchedule({ ...product, principal, disbursedOn: '2026-01-31' })
          const [over, under] = ratioOf(rate, repayEvery, repayUnit, ratePer)
          fc.pre(!hasHalf(lines, principal, BigInt(count), over, under))
          const terms = {
            ...base,
            ...{ currency: currencyOf('TZS'), principal, releasedOn: '2026-01-31', method, interest, interestPeriod },
            ...{ durationUnit: repayUnit, duration: Math.min(count * repayEvery, 730), schemeId },
            ...{ numberOfRepayments: count, interestType: 'percentage' as const },
            rounding: 'round_off_to_two_decimal' as const,
          }
          expect(lines).toEqual(recordSchedule(terms))
          compared++
        },
      ),
      { numRuns: 1_000 },
    )
    expect(compared).toBeGreaterThanOrEqual(1_000)
  })
})

/** The interest of a period as a share: the rate has four decimals, in percent. */
function ratioOf(rate: bigint, every: number, unit: 'days' | 'weeks' | 'months' | 'years', per: 'month' | 'year') {
  const perMonth = { days: [1n, 30n], weeks: [1n, 4n], months: [1n, 1n], years: [12n, 1n] } as const
  const perYear = { days: [1n, 360n], weeks: [1n, 52n], months: [1n, 12n], years: [1n, 1n] } as const
  const [over, under] = (per === 'month' ? perMonth : perYear)[unit]
  return [rate * BigInt(every) * over, 1_000_000n * under] as const
}

function hasHalf(lines: readonly Instalment[], principal: bigint, count: bigint, over: bigint, under: bigint): boolean {
  let balance = principal
  for (const line of lines) {
    if (isHalf(balance * over, under)) return true
    expect(line.interest).toBe(divideHalfEven(balance * over, under))
    balance -= line.principal
  }
  return isHalf(principal, count)
}
