import { LARGEST_INT64 } from '../../toolbox/integers.ts'
import type { LocalDate } from '../dates.ts'
import { type FaultRole, invalidArgument, invariant, type LendingError } from '../errors.ts'
import { divideHalfEven, largestIn, min, RATE_UNIT, type Rate, sum, toMinor } from '../money.ts'
import {
  type CellRounding,
  cellRounding,
  dividedBy,
  type Fraction,
  fraction,
  growth,
  restOf,
  times,
  wholePart,
} from './fraction.ts'
import { type BalanceTerms, type Cells, cellsOnBalance, levelPayment, sameRates } from './onBalance.ts'
import type { InterestMethod, RecordTerms } from './recordTerms.ts'
import { type Instalment, MOST_INSTALMENTS } from './schedule.ts'
import { dueDates, periodsInCycle, periodsInLoan, schemeOf } from './scheduleUnits.ts'

/** The largest `loan_duration`, in any unit. */
export const longestDuration = 730
/** The most decimals of `loan_interest` as a percentage. */
const interestDecimals = 4

/**
 * Computes the schedule of the record style's extended loan body (contract 5.3), amounts in minor units.
 *
 * - There are `numberOfRepayments` instalments, whatever the duration would hold. The total of flat interest comes from
 *   the duration; every other method charges for each cycle there is, at the rate of one cycle.
 * - Interest for the whole loan (`Loan`) counts the loan as one interest period, spread evenly over the instalments.
 * - Cells are rounded as `loan_decimal_places` says. The last instalment takes what is left of the principal and, for
 *   flat and compound interest and interest for the whole loan, of the total, which is itself rounded that way. In the
 *   other methods the interest of each cycle is a sum of its own, and the last is rounded like the rest.
 *
 * @throws LendingError `invalid_argument` with its role: `numberOfRepayments` and `termDuration` outside their bounds or
 *   their calendar; `interest` when it is negative, has too many decimals, or comes to more than can be held;
 *   `interestType` for a fixed amount with a method that needs a rate; `paymentScheme` for a lump sum with a reducing
 *   method
 */
export function recordSchedule(terms: RecordTerms): Instalment[] {
  invariant(terms.principal > 0n, 'a loan has a principal')
  checkTerms(terms)
  const due = dueDates(terms)
  return cellsFor(terms).map((cells, index) => ({
    period: index + 1,
    fromDate: index === 0 ? terms.releasedOn : due[index - 1]!,
    dueDate: due[index]!,
    ...cells,
    fees: 0n,
  }))
}

/**
 * Returns the rate per period of a loan: the interest of one instalment as a share of the principal, rounded. Of flat
 * interest, an equal part of the whole; of any other, the interest of one cycle on the full principal.
 */
export function ratePerCycle(terms: RecordTerms): Rate {
  const periods =
    terms.method === 'flat_rate' ? dividedBy(periodsInLoan(terms), terms.numberOfRepayments) : periodsInCycle(terms)
  const { over, under } = times(rateOf(terms), periods)
  return min(divideHalfEven(over * RATE_UNIT, under), LARGEST_INT64)
}

/** The terms from which a loan of the basic body is computed; the principal in minor units. */
export interface BasicTerms {
  readonly principal: bigint
  readonly releasedOn: LocalDate
  readonly dueOn: LocalDate
}

/**
 * The schedule of the basic loan body: one instalment without interest (contract 5.2). It may be due on the day of
 * the release.
 * @throws LendingError `invalid_argument` on `dueOn` before the release
 */
export function basicSchedule({ principal, releasedOn, dueOn }: BasicTerms): Instalment[] {
  invariant(principal > 0n, 'a loan has a principal')
  if (dueOn < releasedOn) throw invalidArgument('dueOn', (nameOf) => `must not be before ${nameOf('releasedOn')}`)
  return [{ period: 1, fromDate: releasedOn, dueDate: dueOn, principal, interest: 0n, fees: 0n }]
}

/** Checks the terms in the order of the body's fields. @throws LendingError `invalid_argument` */
function checkTerms({ method, interestType, duration, schemeId, numberOfRepayments }: RecordTerms): void {
  if (interestType === 'fixed' && method !== 'flat_rate' && method !== 'interest_only')
    throw invalidArgument(
      'interestType',
      (nameOf) => `must be percentage unless ${nameOf('interestMethod')} is flat_rate or interest_only`,
    )
  checkWhole('termDuration', duration, longestDuration)
  const lumpSum = schemeOf(schemeId).spacing === 'lump_sum'
  if (lumpSum && (method === 'reducing_rate_equal_installments' || method === 'reducing_rate_equal_principal'))
    throw invalidArgument('paymentScheme', `must not be a lump sum with ${method}: nothing reduces the balance`)
  checkWhole('numberOfRepayments', numberOfRepayments, MOST_INSTALMENTS)
  if (lumpSum && numberOfRepayments !== 1) throw invalidArgument('numberOfRepayments', 'must be 1 for a lump sum')
}

function checkWhole(role: FaultRole, count: number, most: number): void {
  if (!Number.isInteger(count) || count < 1 || count > most)
    throw invalidArgument(role, `must be a whole number from 1 to ${most}`)
}

function cellsFor(terms: RecordTerms): Cells[] {
  const { principal, currency } = terms
  // Interest has the maximum of an amount (contract 1.6).
  const mostInterest = largestIn(currency)
  const cells = cellsOf(terms.method, {
    principal,
    count: terms.numberOfRepayments,
    rate: rateOf(terms),
    periodsInLoan: periodsInLoan(terms),
    periodsInCycle: periodsInCycle(terms),
    forWholeLoan: terms.interestPeriod === 'Loan',
    lumpSum: schemeOf(terms.schemeId).spacing === 'lump_sum',
    mostInterest,
    round: cellRounding(terms.rounding, currency),
  })
  if (!cells || sum(cells.map(({ interest }) => interest)) > mostInterest) throw tooMuchInterest()
  return cells
}

const tooMuchInterest = (): LendingError =>
  invalidArgument('interest', 'must not come to more than 999999999999.99 over the loan')

/**
 * Returns the interest per interest period as a share of the principal. A fixed amount is divided by the principal:
 * multiplied by the principal again, it is exactly the same amount.
 */
function rateOf({ interest, interestType, principal, currency }: RecordTerms): Fraction {
  if (interestType === 'fixed')
    return fraction(toMinor(interest, currency, 'interest', { zeroAllowed: true }), principal)
  if (interest.units < 0n) throw invalidArgument('interest', 'must not be negative')
  if (interest.scale > interestDecimals)
    throw invalidArgument('interest', `must have at most ${interestDecimals} decimals`)
  return fraction(interest.units, 100n * 10n ** BigInt(interest.scale))
}

/** The terms that a method of interest needs, without dates and units. */
interface Pricing {
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
function cellsOf(method: InterestMethod, pricing: Pricing): Cells[] | undefined {
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
