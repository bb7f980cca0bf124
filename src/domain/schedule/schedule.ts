import { addPeriods, type LocalDate, type PeriodUnit } from '../dates.ts'
import { invariant } from '../errors.ts'
import { applyRate, divideHalfEven, min, type Rate, roundToMultiple } from '../money.ts'

/** One line of the agreed schedule, fixed at disbursement. Amounts in minor units. */
export interface Instalment {
  /** From 1. */
  readonly period: number
  readonly fromDate: LocalDate
  readonly dueDate: LocalDate
  readonly principal: bigint
  readonly interest: bigint
  readonly fees: bigint
}

/** The terms from which a flat schedule is computed. */
export interface FlatTerms {
  readonly principal: bigint
  readonly ratePerPeriod: Rate
  readonly numberOfRepayments: number
  readonly repayEvery: number
  readonly repayUnit: PeriodUnit
  readonly totalMultipleOf: bigint | null
  readonly disbursedOn: LocalDate
}

/**
 * Computes a schedule with flat interest, fixed at disbursement (contract 4.3.1): I = round(P × rate × n); each
 * instalment takes round(I / n) of interest and round(P / n) of principal, the last takes both remainders. Where totals
 * are rounded to a multiple, the instalment's total is, and its principal gives way; the last takes the rest. Half-even
 * throughout.
 */
export function flatSchedule(terms: FlatTerms): Instalment[] {
  const n = BigInt(terms.numberOfRepayments)
  invariant(n >= 1n && terms.principal > 0n, 'a loan has a principal and an instalment')
  const interestTotal = applyRate(terms.principal, terms.ratePerPeriod, n)
  const interestEach = divideHalfEven(interestTotal, n)
  const principalEach = principalOfInstalment(terms, divideHalfEven(terms.principal, n), interestEach)
  let principalLeft = terms.principal
  let interestLeft = interestTotal
  return Array.from({ length: terms.numberOfRepayments }, (_, index) => {
    const last = index === terms.numberOfRepayments - 1
    // Rounded up, instalments may use up a sum before the last one: none takes more than what is left.
    const principal = last ? principalLeft : min(principalEach, principalLeft)
    const interest = last ? interestLeft : min(interestEach, interestLeft)
    principalLeft -= principal
    interestLeft -= interest
    return {
      period: index + 1,
      fromDate: addPeriods(terms.disbursedOn, index * terms.repayEvery, terms.repayUnit),
      dueDate: addPeriods(terms.disbursedOn, (index + 1) * terms.repayEvery, terms.repayUnit),
      principal,
      interest,
      fees: 0n,
    }
  })
}

function principalOfInstalment(terms: FlatTerms, principal: bigint, interest: bigint): bigint {
  if (terms.totalMultipleOf === null) return principal
  const total = roundToMultiple(principal + interest, terms.totalMultipleOf)
  // Where the rounded total is not above the interest, no principal is left.
  return total > interest ? total - interest : 0n
}
