import { min } from '../money.ts'
import type { CellRounding, Fraction } from './fraction.ts'

/** The principal and the interest of one instalment, in minor units. */
export interface Cells {
  readonly principal: bigint
  readonly interest: bigint
}

/** The interest of each instalment's period as a share of the balance: each of `overs`, divided by `under`. */
export interface PeriodRates {
  readonly overs: readonly bigint[]
  readonly under: bigint
}

/** Returns the same rate for each of `count` periods. */
export const sameRates = ({ over, under }: Fraction, count: number): PeriodRates => ({
  overs: Array<bigint>(count).fill(over),
  under,
})

/** The terms of a loan that bears interest on what is still owed. */
export interface BalanceTerms {
  readonly principal: bigint
  readonly rates: PeriodRates
  /** Instalments at the beginning without interest; it is due with the first instalment after them. Default 0. */
  readonly interestGrace?: number
  readonly round: CellRounding
  /**
   * Returns the principal of an instalment before the last.
   * @param interest the interest of its period
   * @param interestDue the interest that is due with it
   */
  readonly principalOf: (index: number, interest: bigint, interestDue: bigint) => bigint
}

/**
 * Computes the cells of a loan with interest on the balance. Interest that waits bears no interest. No instalment has
 * less principal than 0, or more than the balance; the last has the balance.
 */
export function cellsOnBalance({ principal, rates, interestGrace = 0, round, principalOf }: BalanceTerms): Cells[] {
  let balance = principal
  let waiting = 0n
  return rates.overs.map((over, index) => {
    const interest = round({ over: balance * over, under: rates.under })
    waiting += interest
    const interestDue = index < interestGrace ? 0n : waiting
    waiting -= interestDue
    const asked = index === rates.overs.length - 1 ? balance : principalOf(index, interest, interestDue)
    const repaid = asked < 0n ? 0n : min(asked, balance)
    balance -= repaid
    return { principal: repaid, interest: interestDue }
  })
}

/**
 * Returns the exact level payment that repays a principal with the interest of each period from `first` on (from 0):
 * A = P × Πf / Σ over j of the product of the f after j, where f = 1 + r of a period. With one r it is the annuity
 * P × r(1 + r)^n / ((1 + r)^n − 1), and at 0 it is P / n. Periods of the same rate at the end are taken at once.
 */
export function levelPayment(principal: bigint, { overs, under }: PeriodRates, first = 0): Fraction {
  const over = overs.at(-1)!
  let alike = overs.length
  while (over > 0n && alike > first && overs[alike - 1] === over) alike--
  let grown = 1n
  let power = 1n
  let sums = 0n
  for (let index = first; index < alike; index++) {
    const factor = under + overs[index]!
    power *= under
    grown *= factor
    sums = sums * factor + power
  }
  if (over === 0n) return { over: principal * grown, under: sums }
  const count = BigInt(overs.length - alike)
  const [factors, unders] = [(under + over) ** count, under ** count]
  // The sum of the last `count` terms is under × (f^n − under^n) / over, of which the division is left out until the end.
  return {
    over: principal * grown * factors * over,
    under: sums * factors * over + power * under * (factors - unders),
  }
}
