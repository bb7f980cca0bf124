import { applyRate, sum } from '../money.ts'
import type { Fee } from '../product/terms.ts'
import type { Cells } from './onBalance.ts'
import { taxOn } from './taxes.ts'

// The fees of a schedule (contract 10.4), each with its tax (10.14). Amounts in minor units. `cells` have the principal and the
// interest of each instalment, without tax.

/** Returns the fees of each instalment with their taxes, without those that are deducted. */
export const feesOf = (fees: readonly Fee[], principal: bigint, cells: readonly Cells[]): bigint[] =>
  sumsOf(fees, cells, (fee, cell) => withTax(fee, principal, cell))

/** Returns the taxes in the fees of each instalment. */
export const feeTaxesIn = (fees: readonly Fee[], principal: bigint, cells: readonly Cells[]): bigint[] =>
  sumsOf(fees, cells, (fee, cell) => taxOn(amountOf(fee, principal, cell), fee.tax))

/** Returns the fees that are kept back from what is paid out, with their taxes. */
export const deductedOf = (fees: readonly Fee[], principal: bigint): bigint =>
  sum(fees.filter(isDeducted).map((fee) => withTax(fee, principal)))

/** The tax of a name that is in the fees of a loan. */
export interface FeeTax {
  readonly name: string
  /** In the fees of its instalments. */
  readonly added: bigint
  /** In the fees that were kept back from what was paid out. */
  readonly deducted: bigint
}

/** Returns the taxes in the fees of a loan, by name in the order of the fees. */
export function feeTaxesOf(fees: readonly Fee[], principal: bigint, cells: readonly Cells[]): FeeTax[] {
  const names = [...new Set(fees.flatMap(({ tax }) => (tax === null ? [] : [tax.name])))]
  return names.map((name) => {
    const ofName = fees.filter(({ tax }) => tax?.name === name)
    return {
      name,
      added: sum(feeTaxesIn(ofName, principal, cells)),
      deducted: sum(ofName.filter(isDeducted).map((fee) => taxOn(amountOf(fee, principal), fee.tax))),
    }
  })
}

/** Returns the sum of a figure of the fees that are due with each instalment. */
function sumsOf(fees: readonly Fee[], cells: readonly Cells[], figure: (fee: Fee, cell: Cells) => bigint): bigint[] {
  return cells.map((cell, index) => {
    let total = 0n
    for (const fee of fees) if (isDue(fee, index, cells.length)) total += figure(fee, cell)
    return total
  })
}

const isDeducted = ({ treatment }: Fee): boolean => treatment === 'deducted'

const isDue = (fee: Fee, index: number, count: number): boolean =>
  !isDeducted(fee) && (fee.when === 'each_instalment' || index === (fee.when === 'disbursement' ? 0 : count - 1))

const withTax = (fee: Fee, principal: bigint, cell?: Cells): bigint => {
  const amount = amountOf(fee, principal, cell)
  return amount + taxOn(amount, fee.tax)
}

/** Returns the amount of a fee without its tax, rounded half-even. @param cell the instalment of which the fee is a share */
function amountOf({ base, value }: Fee, principal: bigint, cell?: Cells): bigint {
  if (base === 'fixed') return value
  return applyRate(base === 'instalment' && cell ? cell.principal + cell.interest : principal, value)
}
