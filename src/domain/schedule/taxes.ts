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

/** Adds a tax to the interest of each instalment. The parts add up to the tax on the whole. */
export function withInterestTax(cells: readonly Cells[], tax: Tax | null): readonly Cells[] {
  if (tax === null) return cells
  const taxes = partsOf(cells, (interest) => taxOn(interest, tax))
  return cells.map((cell, index) => ({ ...cell, interest: cell.interest + taxes[index]! }))
}

/** Returns the tax in the interest of each instalment of a schedule. */
export const interestTaxesIn = (schedule: readonly Pick<Cells, 'interest'>[], tax: Tax | null): bigint[] =>
  partsOf(schedule, (interest) => taxIn(interest, tax))

/** Returns what each instalment adds to a figure of the interest from the first one on. */
function partsOf(lines: readonly Pick<Cells, 'interest'>[], figure: (interest: bigint) => bigint): bigint[] {
  let [interest, before] = [0n, 0n]
  return lines.map((line) => {
    interest += line.interest
    const after = figure(interest)
    const part = after - before
    before = after
    return part
  })
}

/** Returns the principal and the interest of each instalment of a schedule, without tax. */
export function withoutInterestTax(schedule: readonly Cells[], tax: Tax | null): Cells[] {
  const taxes = interestTaxesIn(schedule, tax)
  return schedule.map(({ principal, interest }, index) => ({ principal, interest: interest - taxes[index]! }))
}
