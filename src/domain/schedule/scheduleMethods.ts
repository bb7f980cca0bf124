import { min } from '../money.ts'
import { dividedBy, type Fraction, fraction, growth, restOf, times, wholePart } from './fraction.ts'
import type { InterestMethod } from './recordTerms.ts'
import type { CellRounding } from './scheduleRounding.ts'

/** What one instalment takes of principal and of interest, in minor units. */
export interface Cells {
  readonly principal: bigint
  readonly interest: bigint
}

/** A loan as its method of interest sees it: no dates, no units. */
export interface Pricing {
  readonly principal: bigint
  readonly count: number
  /** Interest per interest period, as a share of the principal. */
  readonly rate: Fraction
  readonly periodsInLoan: Fraction
  readonly periodsInCycle: Fraction
  /** The rate is for the whole loan: what a method shares out over the cycles then sums to it. */
  readonly forWholeLoan: boolean
  /** One instalment at the end: there is no cycle. */
  readonly lumpSum: boolean
  /** Interest above this many minor units is more than the service can hold. */
  readonly mostInterest: bigint
  readonly round: CellRounding
}

/** The cells of each instalment, in order; undefined where the interest is more than can be held. */
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

/** Simple interest on the full principal over so many interest periods. */
const share = ({ principal, rate }: Pricing, periods: Fraction): Fraction =>
  times(times(fraction(principal), rate), periods)

/** Flat and compound: P / n and I / n, rounded; I is rounded too, and the last takes the remainders of both. */
function inEqualParts(pricing: Pricing, interest: Fraction): Cells[] {
  const interests = shareOut(pricing.round(interest), interest, pricing)
  return principalParts(pricing).map((principal, index) => ({ principal, interest: interests[index]! }))
}

/**
 * P(1 + r)^n − P over n cycles (compound interest). A lump sum has no cycle to compound over and would come out flat:
 * it compounds at each interest period instead, a last part of a period at simple interest.
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

/** Interest each cycle on the full principal, the principal with the last. */
function interestOnly(pricing: Pricing): Cells[] {
  const { principal, count, round, forWholeLoan } = pricing
  const total = share(pricing, pricing.periodsInLoan)
  const each = round(share(pricing, pricing.periodsInCycle))
  const interests = forWholeLoan ? shareOut(round(total), total, pricing) : Array<bigint>(count).fill(each)
  return interests.map((interest, index) => ({ principal: index === count - 1 ? principal : 0n, interest }))
}

/** P / n each time, and interest on what was still owed. */
function equalPrincipal(pricing: Pricing): Cells[] {
  const interestOn = onBalance(pricing)
  let balance = pricing.principal
  return principalParts(pricing).map((principal) => {
    const interest = interestOn(balance)
    balance -= principal
    return { principal, interest }
  })
}

/**
 * The annuity: each instalment A = P × r(1 + r)^n / ((1 + r)^n − 1), rounded; interest on what was still owed, the rest
 * of A is principal, and the last takes the balance. As rounding is monotone A is never below its interest, so the
 * balance only falls; rounded far up it reaches 0 before the end, rounded far down the last is the larger.
 */
function equalInstalments(pricing: Pricing): Cells[] {
  const { principal, count, round } = pricing
  const interestOn = onBalance(pricing)
  const instalment = round(annuity(principal, times(pricing.rate, pricing.periodsInCycle), count))
  let balance = principal
  return Array.from({ length: count }, (_, index) => {
    const interest = interestOn(balance)
    const repaid = index === count - 1 ? balance : min(instalment - interest, balance)
    balance -= repaid
    return { principal: repaid, interest }
  })
}

/** The exact level payment per cycle; P / n at a rate of 0, where the formula divides by 0. */
function annuity(principal: bigint, rate: Fraction, count: number): Fraction {
  if (rate.over === 0n) return dividedBy(fraction(principal), count)
  const grown = (rate.under + rate.over) ** BigInt(count)
  return { over: principal * rate.over * grown, under: rate.under * (grown - rate.under ** BigInt(count)) }
}

/** Interest of one cycle on a balance, rounded. */
function onBalance({ rate, periodsInCycle, round }: Pricing): (balance: bigint) => bigint {
  const { over, under } = times(rate, periodsInCycle)
  return (balance) => round({ over: balance * over, under })
}

const principalParts = (pricing: Pricing): bigint[] => shareOut(pricing.principal, fraction(pricing.principal), pricing)

/**
 * `total` in `count` parts: each the exact amount / count, rounded, the last what is left. Rounded up, the parts may
 * use the total up before the last: what is left bounds each, and none is negative.
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
