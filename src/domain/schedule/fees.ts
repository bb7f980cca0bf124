import { applyRate, sum } from '../money.ts'
import type { Fee } from '../product/terms.ts'
import type { Cells } from './onBalance.ts'

/**
 * Returns the fees of each instalment, in minor units (contract 10.4), without those that are deducted. Each fee is rounded half-even once in each
 * instalment.
 */
export function feesOf(fees: readonly Fee[], principal: bigint, cells: readonly Cells[]): bigint[] {
  return cells.map((cell, index) => {
    let total = 0n
    for (const fee of fees) if (isDue(fee, index, cells.length)) total += amountOf(fee, principal, cell)
    return total
  })
}

const isDue = ({ when, treatment }: Fee, index: number, count: number): boolean =>
  treatment === 'added' && (when === 'each_instalment' || index === (when === 'disbursement' ? 0 : count - 1))

function amountOf({ base, value }: Fee, principal: bigint, cell: Cells): bigint {
  if (base === 'fixed') return value
  return applyRate(base === 'principal' ? principal : cell.principal + cell.interest, value)
}

/** Returns the fees that are kept back from what is paid out, in minor units; each is rounded half-even once. */
export const deductedOf = (fees: readonly Fee[], principal: bigint): bigint =>
  sum(
    fees
      .filter(({ treatment }) => treatment === 'deducted')
      .map(({ base, value }) => (base === 'fixed' ? value : applyRate(principal, value))),
  )
