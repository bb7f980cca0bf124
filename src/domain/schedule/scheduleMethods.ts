import { min } from '../money.ts'
import { type Fraction, fraction, growth, restOf, times, wholePart } from './fraction.ts'
import { type BalanceTerms, type Cells, cellsOnBalance, levelPayment, sameRates } from './onBalance.ts'
import type { InterestMethod } from './recordTerms.ts'
import type { CellRounding } from './scheduleRounding.ts'

/** The terms that a method of interest needs, without dates and units. */
export interface Pricing {
  readonly principal: bigint
  readonly count: number
  /** Interest per interest period, as a share of the principal. */
  readonly rate: Fraction
  readonly periodsInLoan: Fraction
  readonly periodsInCycle: Fraction
  /** True where the rate is for the whole loan: the interest of all cycles then sums to that. */
  readonly forWholeLoan: boolean
  /** True for one instalment at the end: there is no cycle. */
  readonly lumpSum: boolean
  /** The most interest that the service can store, in minor units. */
  readonly mostInterest: bigint
  readonly round: CellRounding
}

/** Returns the cells of each instalment, in order; undefined where the interest is more than can be stored. */
export function cellsOf(method: InterestMethod, pricing: Pricing): Cells[] | undefined {
  switch (method) {
    case 'flat_rate':
      return inEqualParts(pricing, share(pricing, pricing.periodsInLoan))
    case 'compound_interest': {
      const interest = compoundInterest(pricing)
      return interest && inEqualParts(pricing, interest)
    }
    case 'interest_only':
      return interestOnly(pricing)
    case 'reducing_rate_equal_principal':
      return equalPrincipal(pricing)
    case 'reducing_rate_equal_installments':
      return equalInstalments(pricing)
  }
}

/** Returns simple interest on the full principal over a number of interest periods. */
const share = ({ principal, rate }: Pricing, periods: Fraction): Fraction =>
  times(times(fraction(principal), rate), periods)

/** Computes flat and compound loans: P / n and I / n, rounded; I is rounded too, and the last takes both remainders. */
function inEqualParts(pricing: Pricing, interest: Fraction): Cells[] {
  const interests = shareOut(pricing.round(interest), interest, pricing)
  return principalParts(pricing).map((principal, index) => ({ principal, interest: interests[index]! }))
}

/**
 * Returns compound interest, P(1 + r)^n − P over n cycles. A lump sum has no cycle: its interest compounds at each
 * interest period instead, and the last part of a period bears simple interest.
 */
function compoundInterest(pricing: Pricing): Fraction | undefined {
  const { principal, rate, periodsInCycle, periodsInLoan, mostInterest } = pricing
  const [cycleRate, cycles, rest] = pricing.lumpSum
    ? [rate, wholePart(periodsInLoan), times(rate, restOf(periodsInLoan))]
    : [times(rate, periodsInCycle), BigInt(pricing.count), fraction(0n)]
  // 2 and not 1: the quotient has lost its fraction, and what is only just too much is refused with its exact sum.
  const grown = growth(cycleRate, cycles, mostInterest / principal + 2n)
  if (!grown) return undefined
  // Not through fraction(): the greatest common divisor of numbers this long takes longer than all the rest.
  const under = grown.under * rest.under
  return { over: principal * (grown.over * (rest.under + rest.over) - under), under }
}

/** Computes instalments of interest on the full principal, with the principal in the last one. */
function interestOnly(pricing: Pricing): Cells[] {
  const { principal, count, round, forWholeLoan } = pricing
  if (!forWholeLoan) return cellsOnBalance({ ...onBalance(pricing), principalOf: () => 0n })
  const total = share(pricing, pricing.periodsInLoan)
  const interests = shareOut(round(total), total, pricing)
  return interests.map((interest, index) => ({ principal: index === count - 1 ? principal : 0n, interest }))
}

/** Computes instalments of P / n, with interest on the balance. */
function equalPrincipal(pricing: Pricing): Cells[] {
  const each = pricing.round({ over: pricing.principal, under: BigInt(pricing.count) })
  return cellsOnBalance({ ...onBalance(pricing), principalOf: () => each })
}

/**
 * Computes the annuity: each instalment A = P × r(1 + r)^n / ((1 + r)^n − 1), rounded; interest on what was still owed,
 * the rest of A is principal, and the last takes the balance. As rounding is monotone A is never below its interest, so
 * the balance only falls; rounded far up it reaches 0 before the end, rounded far down the last is the larger.
 */
function equalInstalments(pricing: Pricing): Cells[] {
  const terms = onBalance(pricing)
  const instalment = pricing.round(levelPayment(pricing.principal, terms.rates))
  return cellsOnBalance({ ...terms, principalOf: (_, interest) => instalment - interest })
}

/** Returns the terms of interest on the balance, at the rate of one cycle. */
const onBalance = ({ principal, rate, periodsInCycle, count, round }: Pricing): Omit<BalanceTerms, 'principalOf'> => ({
  principal,
  rates: sameRates(times(rate, periodsInCycle), count),
  round,
})

const principalParts = (pricing: Pricing): bigint[] => shareOut(pricing.principal, fraction(pricing.principal), pricing)

/**
 * Divides `total` into `count` parts: each the exact amount / count, rounded, the last the remainder. Rounded up, the
 * parts may use up the total before the last: none takes more than what is left, and none is negative.
 */
function shareOut(total: bigint, exact: Fraction, { count, round }: Pricing): bigint[] {
  const each = round({ over: exact.over, under: exact.under * BigInt(count) })
  let left = total
  return Array.from({ length: count }, (_, index) => {
    const part = index === count - 1 ? left : min(each, left)
    left -= part
    return part
  })
}
