import { applyRate, divideHalfEven, RATE_UNIT, type Rate } from '../money.ts'
import type { Tax } from '../product/terms.ts'
import type { Cells } from './onBalance.ts'

// Taxes that are added to charges (contract 10.14). Amounts in minor units.

/** Returns the tax on an amount, rounded half-even; 0 without a tax. */
export const taxOn = (amount: bigint, tax: Tax | null): bigint => (tax === null ? 0n : applyRate(amount, tax.rate))

/** Returns the tax in an amount to which it was added: what `taxOn` has said of the amount without it. */
export const taxIn = (amount: bigint, tax: Tax | null): bigint => (tax === null ? 0n : taxAtRate(amount, tax.rate))

/** Returns the tax of a rate in an amount to which it was added. */
export const taxAtRate = (amount: bigint, rate: Rate): bigint => divideHalfEven(amount * rate, RATE_UNIT + rate)

/**
 * Adds a tax to the interest of each instalment. The tax of the first instalments together is that on their interest together:
 * so the parts add up to the tax on the whole.
 */
export function withInterestTax(cells: readonly Cells[], tax: Tax | null): readonly Cells[] {
  if (tax === null) return cells
  let [interest, before] = [0n, 0n]
  return cells.map((cell) => {
    interest += cell.interest
    const taxed = taxOn(interest, tax)
    const part = taxed - before
    before = taxed
    return { ...cell, interest: cell.interest + part }
  })
}

/** Returns the tax in the interest of each instalment of a schedule. */
export function interestTaxesIn(schedule: readonly Pick<Cells, 'interest'>[], tax: Tax | null): bigint[] {
  let [interest, before] = [0n, 0n]
  return schedule.map((line) => {
    interest += line.interest
    const taxed = taxIn(interest, tax)
    const part = taxed - before
    before = taxed
    return part
  })
}

/** Returns the principal and the interest of each instalment of a schedule, without tax. */
export function withoutInterestTax(schedule: readonly Cells[], tax: Tax | null): Cells[] {
  const taxes = interestTaxesIn(schedule, tax)
  return schedule.map(({ principal, interest }, index) => ({ principal, interest: interest - taxes[index]! }))
}
