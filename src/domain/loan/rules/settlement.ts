import { daysBetween, type LocalDate } from '../../dates.ts'
import { divideHalfEven, min } from '../../money.ts'
import type { Period, Totals } from '../allocation.ts'
import type { Outcome } from '../outcomes.ts'
import type { HeadTerms } from '../terms/terms.ts'
import type { LoanRules } from './loanRules.ts'

/** The part of the terms that says what an early settlement forgives. */
export type SettlementTerms = Pick<HeadTerms, 'rules' | 'disbursedOn'>

/** Returns the rules of a loan of which an early settlement forgives interest; null for any other loan. */
export const forgivingRules = ({ rules }: Pick<HeadTerms, 'rules'>): LoanRules | null =>
  rules === null || rules.earlySettlement === 'full_interest' ? null : rules

/** Returns an upper bound of what a settlement can forgive, minor units: all interest that was charged and not waived. */
export const mostForgiven = (terms: Pick<HeadTerms, 'rules'>, { due, waived }: Readonly<Totals>): bigint =>
  forgivingRules(terms) === null ? 0n : due.interest - waived.interest

/**
 * Returns the interest of each instalment that a settlement on a day forgives, in minor units: what is not earned, less
 * what is waived already, paid or not (contract 10.11).
 * @param periods all instalments, the first one first
 */
export function forgivenOn(terms: SettlementTerms, periods: readonly Period[], on: LocalDate): bigint[] {
  const rules = forgivingRules(terms)
  return periods.map((period, index) => {
    if (rules === null || period.due.interest === 0n || period.dueDate <= on) return 0n
    const { due, waived, writtenOff, fallen } = period
    const { over, under } = earnedPart(rules, terms, periods, { index, on })
    // What had fallen due before a restructure is earned.
    const interest = due.interest - (fallen?.interest ?? 0n)
    const forgiven = interest - divideHalfEven(interest * over, under) - waived.interest - writtenOff.interest
    return forgiven > 0n ? forgiven : 0n
  })
}

/** Returns the part of an instalment's interest that is earned on a day before its due date. */
function earnedPart(
  { earlySettlement, interestGrace }: LoanRules,
  { disbursedOn }: SettlementTerms,
  periods: readonly Period[],
  { index, on }: { readonly index: number; readonly on: LocalDate },
) {
  // Interest whose instalments were in grace is due with this one, and is earned over all periods from disbursement on.
  const first = index === interestGrace && periods[index]!.fallen === undefined ? 0 : index
  if (earlySettlement === 'interest_to_period_end') {
    const begun = periods.slice(first, index + 1).filter((period, nth) => first + nth === 0 || period.fromDate < on)
    return { over: BigInt(begun.length), under: BigInt(index + 1 - first) }
  }
  const { fromDate, dueDate } = periods[index]!
  const from = first === 0 ? disbursedOn : fromDate
  const [days, length] = [daysBetween(from, on), daysBetween(from, dueDate)]
  return { over: BigInt(Math.max(0, days)), under: BigInt(length) }
}

/** An entry by which money came in, and what it does. */
export interface Received {
  readonly ordinal: number
  readonly outcome: Outcome
}

/**
 * Returns which entries have paid an amount of interest, the latest first of all, with what each has paid of it: the index
 * and the interest, in the order of the entries. It is less than the amount where all entries paid less.
 */
export function interestOf(received: readonly Received[], amount: bigint): (readonly [index: number, bigint])[] {
  let rest = amount
  const parts = received.map(({ outcome }, index) => [index, outcome.portions.interest] as const).toReversed()
  const taken = parts.map(([index, interest]) => {
    const part = min(rest, interest)
    rest -= part
    return [index, part] as const
  })
  return taken.filter(([, interest]) => interest > 0n).toReversed()
}
