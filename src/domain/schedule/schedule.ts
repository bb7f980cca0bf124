import { addPeriods, type LocalDate } from '../dates.ts'
import { invariant } from '../errors.ts'
import { divideHalfEven, min, roundToMultiple } from '../money.ts'
import { feesOf } from './fees.ts'
import type { Fraction } from './fraction.ts'
import { type Cells, cellsOnBalance, levelPayment, type PeriodRates } from './onBalance.ts'
import { exactRatePerPeriod, firstPeriods, periodRates, type RatedProduct } from './periodRates.ts'
import { withInterestTax } from './taxes.ts'

/** The most lines that a schedule may have. */
export const MOST_INSTALMENTS = 2_000

/** One line of the schedule as agreed. Amounts in minor units. */
export interface Instalment {
  /** From 1. */
  readonly period: number
  readonly fromDate: LocalDate
  readonly dueDate: LocalDate
  readonly principal: bigint
  readonly interest: bigint
  readonly fees: bigint
}

/** The terms from which the schedule of a product's loan is computed. */
export interface ScheduleTerms extends RatedProduct {
  readonly principal: bigint
  readonly numberOfRepayments: number
  readonly totalMultipleOf: bigint | null
  readonly disbursedOn: LocalDate
}

/**
 * Computes the schedule of a product's loan, fixed at disbursement (contract 4.3.1 and 10). Each cell is rounded half-even
 * once, and the last instalment takes the remainders. Where totals of principal and interest are rounded to a multiple,
 * the principal gives way. Fees and taxes come on top.
 */
export function productSchedule(terms: ScheduleTerms): Instalment[] {
  invariant(terms.numberOfRepayments >= 1 && terms.principal > 0n, 'a loan has a principal and an instalment')
  const dates = [terms.disbursedOn, ...dueDates(terms)]
  const method = terms.terms?.interestMethod ?? 'flat'
  const cells = method === 'flat' ? flatCells(terms) : balanceCells(terms, dates)
  const fees = terms.terms === null ? undefined : feesOf(terms.terms.fees, terms.principal, cells)
  return withInterestTax(cells, terms.terms?.interestTax ?? null).map(({ principal, interest }, index) => ({
    period: index + 1,
    fromDate: dates[index]!,
    dueDate: dates[index + 1]!,
    principal,
    interest,
    fees: fees?.[index] ?? 0n,
  }))
}

/** Months and years are counted alike: from the disbursement, the day of the month is kept without drift. */
const MONTHS_IN = { months: 1, years: 12 } as const
const isOfMonths = (unit: string): unit is keyof typeof MONTHS_IN => unit in MONTHS_IN

/** Returns the due dates: counted from the disbursement, or from a first due date of another unit. */
function dueDates({ terms, disbursedOn, numberOfRepayments, repayEvery, repayUnit }: ScheduleTerms): LocalDate[] {
  const { every, unit } = terms?.firstDueAfter ?? { every: repayEvery, unit: repayUnit }
  const inMonths = isOfMonths(unit) && isOfMonths(repayUnit)
  const nth = (index: number): LocalDate => {
    if (unit === repayUnit) return addPeriods(disbursedOn, every + index * repayEvery, unit)
    if (!inMonths) return addPeriods(addPeriods(disbursedOn, every, unit), index * repayEvery, repayUnit)
    return addPeriods(disbursedOn, every * MONTHS_IN[unit] + index * repayEvery * MONTHS_IN[repayUnit], 'months')
  }
  return Array.from({ length: numberOfRepayments }, (_, index) => nth(index))
}

const half = ({ over, under }: Fraction): bigint => divideHalfEven(over, under)

/** Returns the principal that is left of an instalment whose total is rounded to a multiple: not below 0. */
function givingWay({ totalMultipleOf }: ScheduleTerms, principal: bigint, interest: bigint): bigint {
  if (totalMultipleOf === null) return principal
  const total = roundToMultiple(principal + interest, totalMultipleOf)
  return total > interest ? total - interest : 0n
}

/**
 * Computes flat interest: I = round(P × rate × periods), of which each instalment takes round(I / n), and round(P / n) of
 * principal. A grace on principal divides it over the other instalments; interest that waits for its grace is due with the
 * first instalment after.
 */
function flatCells(terms: ScheduleTerms): Cells[] {
  const { principal, numberOfRepayments: count } = terms
  const { principalGrace = 0, interestGrace = 0 } = terms.terms ?? {}
  const [rate, first] = [exactRatePerPeriod(terms), firstPeriods(terms)]
  const periods = first.over + BigInt(count - 1) * first.under
  const interestTotal = divideHalfEven(principal * rate.over * periods, rate.under * first.under)
  const interestEach = divideHalfEven(interestTotal, BigInt(count))
  const principalEach = divideHalfEven(principal, BigInt(count - principalGrace))
  let principalLeft = principal
  let interestLeft = interestTotal
  let waiting = 0n
  return Array.from({ length: count }, (_, index) => {
    const last = index === count - 1
    const due = index < interestGrace ? 0n : waiting + interestEach
    const asked = index < principalGrace ? 0n : givingWay(terms, principalEach, due)
    // Rounded up, instalments may use up a sum before the last one: none takes more than what is left.
    const repaid = last ? principalLeft : min(asked, principalLeft)
    const interest = last ? interestLeft : min(interestEach, interestLeft)
    principalLeft -= repaid
    interestLeft -= interest
    waiting += interest
    const interestDue = index < interestGrace ? 0n : waiting
    waiting -= interestDue
    return { principal: repaid, interest: interestDue }
  })
}

/**
 * Returns the level payment of a loan. An instalment whose interest is above the payment has no principal, as after a long
 * time to the first due date: the payment is that of the instalments after it.
 */
function levelOf({ principal, numberOfRepayments, terms }: ScheduleTerms, rates: PeriodRates): Fraction {
  let from = terms!.principalGrace
  let level = levelPayment(principal, rates, from)
  const isBelowInterest = () => principal * rates.overs[from]! * level.under > level.over * rates.under
  while (from < numberOfRepayments - 1 && isBelowInterest()) level = levelPayment(principal, rates, ++from)
  return level
}

/** Computes the methods with interest on the balance. */
function balanceCells(terms: ScheduleTerms, dates: readonly LocalDate[]): Cells[] {
  const { principal, totalMultipleOf, numberOfRepayments } = terms
  const { interestMethod, principalGrace, interestGrace } = terms.terms!
  const rates = periodRates(terms, dates)
  /** The principal of an instalment after the grace, before its total is rounded. */
  const asked = (): ((interest: bigint) => bigint) => {
    if (interestMethod === 'declining_equal_principal') {
      const each = divideHalfEven(principal, BigInt(numberOfRepayments - principalGrace))
      return () => each
    }
    const { over, under } = levelOf(terms, rates)
    const step = totalMultipleOf ?? 1n
    const level = divideHalfEven(over, under * step) * step
    return (interest) => level - interest
  }
  const principalAsked = interestMethod === 'interest_only' ? undefined : asked()
  return cellsOnBalance({
    principal,
    rates,
    interestGrace,
    round: half,
    principalOf: (index, interest, interestDue) =>
      principalAsked && index >= principalGrace ? givingWay(terms, principalAsked(interest), interestDue) : 0n,
  })
}
