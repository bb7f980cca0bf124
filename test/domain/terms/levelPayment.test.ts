import { expect, it } from 'vitest'
import { parseDecimal } from '../../../src/domain/money.ts'
import { productOf } from '../../../src/domain/product/newProduct.ts'
import { productSchedule } from '../../../src/domain/schedule/schedule.ts'

// A first due date that is so far off that its interest is above the level payment, as of a loan until the harvest: the
// payment is that of the instalments after it, P × r(1 + r)^n / ((1 + r)^n − 1) of what is left of them.

const decimal = (text: string) => parseDecimal(text)!

it.each([
  [12, '36', { every: 12, unit: 'months' }, 1_080_774n],
  [24, '60', { every: 6, unit: 'months' }, 741_368n],
])(
  '%d monthly instalments at %s percent a year are level to the last one',
  (count, percent, firstDueAfter, payment) => {
    const product = productOf(
      {
        ...{ name: 'Harvest', currency: 'KES', principalMin: decimal('1'), principalMax: decimal('1000000') },
        ...{ numberOfRepayments: count, repayEvery: 1, repayUnit: 'months', interestRate: decimal(percent) },
        ...{ interestMethod: 'declining_equal_instalments', ratePer: 'year', grace: { firstDueAfter } },
      },
      1,
    )
    const lines = productSchedule({ ...product, principal: 10_000_000n, disbursedOn: '2026-01-31' })
    const [first, ...others] = lines.map(({ principal, interest }) => ({ principal, total: principal + interest }))
    const last = others.pop()!
    expect(first!.principal).toBe(0n)
    expect([...new Set(others.map(({ total }) => total))]).toEqual([payment])
    expect(last.total > payment - 50n && last.total < payment + 50n).toBe(true)
  },
)
