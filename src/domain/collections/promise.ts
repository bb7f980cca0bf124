import { addPeriods, dateIn, dayAfter, type Instant, type LocalDate, startOfDay } from '../dates.ts'
import { datedUpTo } from '../delinquency/position.ts'
import { standingAt } from '../delinquency/standings.ts'
import { failedPrecondition, invalidArgument } from '../errors.ts'
import { isCustomerRepayment } from '../loan/entry.ts'
import type { Replayable } from '../loan/fold.ts'
import { unreversedInOrder } from '../loan/replay.ts'
import type { LoanTerms } from '../loan/terms/terms.ts'
import { min } from '../money.ts'

/** What became of a promise. Until the end of the day `by` it is `open`. */
export const PROMISE_STATES = ['open', 'kept', 'broken', 'cancelled'] as const
export type PromiseState = (typeof PROMISE_STATES)[number]

/** The most promises of a loan that are open at a time. */
export const MOST_OPEN_PROMISES = 10
/** The most days between a promise and the day by which it is to be kept. */
export const MOST_PROMISE_DAYS = 92

/** What a customer promised: that an amount is paid on a loan by the end of a day. */
export interface Promised {
  readonly id: bigint
  /** Minor units of the currency of the loan. */
  readonly amount: bigint
  /** The day of the promise: no repayment of before it counts. */
  readonly madeOn: LocalDate
  readonly by: LocalDate
}

/** What a replay says of a promise. */
export interface Verdict {
  readonly state: Exclude<PromiseState, 'cancelled'>
  /** What of the repayments counts for the promise, at most its amount. */
  readonly received: bigint
}

/** A loan, as far as promises on it are judged by it. */
export interface JudgedLoan {
  readonly terms: LoanTerms
  readonly entries: readonly Replayable[]
}

/**
 * Judges the promises on a loan, by what is known now (contract 19.1).
 *
 * A repayment counts by its value date, whenever it was told, from the day of the promise to the day `by`, both included; one that was
 * reversed does not. Each cent counts once: the promises take their amounts in the order of their days `by`, each from the
 * earliest repayments first. A promise is kept where its whole amount was received, or where the loan was paid off at the end of the day `by`.
 * @param promises those that were not cancelled
 */
export function judge(
  promises: readonly Promised[],
  { terms, entries }: JudgedLoan,
  now: Instant,
): ReadonlyMap<bigint, Verdict> {
  const today = dateIn(terms.zone, now)
  const repayments = unreversedInOrder(entries)
    .filter(({ type }) => isCustomerRepayment(type))
    .map(({ valueDate, amount }) => ({ valueDate, left: amount }))
  const inOrder = [...promises].sort((a, b) => (a.by < b.by ? -1 : a.by > b.by ? 1 : a.id < b.id ? -1 : 1))
  const verdicts = new Map<bigint, Verdict>()
  for (const { id, amount, madeOn, by } of inOrder) {
    let received = 0n
    for (const repayment of repayments) {
      if (repayment.valueDate < madeOn || repayment.valueDate > by) continue
      const taken = min(repayment.left, amount - received)
      repayment.left -= taken
      received += taken
    }
    const isKept = () => received === amount || isPaidOff({ terms, entries }, by)
    verdicts.set(id, { state: by >= today ? 'open' : isKept() ? 'kept' : 'broken', received })
  }
  return verdicts
}

/** Returns whether a loan was paid off at the end of a day that is over. One that was written off was not. */
function isPaidOff({ terms, entries }: JudgedLoan, day: LocalDate): boolean {
  const atEnd = startOfDay(dayAfter(day), terms.zone) - 1
  return day >= terms.disbursedOn && standingAt(terms, datedUpTo(day, entries), atEnd).state === 'closed'
}

/**
 * Requires that an amount can be promised by a day.
 * @param outstanding what the loan owes, minor units
 * @param open the promises of the loan that are open
 * @throws LendingError `failed_precondition` where nothing is owed or too many promises are open; `invalid_argument`
 */
export function requirePromise(
  { amount, by }: Pick<Promised, 'amount' | 'by'>,
  { outstanding, open, today }: { readonly outstanding: bigint; readonly open: number; readonly today: LocalDate },
): void {
  if (outstanding === 0n) throw failedPrecondition('the loan owes nothing')
  if (amount > outstanding) throw invalidArgument('promisedAmount', 'must not be more than the loan owes')
  const last = addPeriods(today, MOST_PROMISE_DAYS, 'days')
  if (by < today || by > last) throw invalidArgument('promisedBy', `must be from ${today} to ${last}`)
  if (open >= MOST_OPEN_PROMISES)
    throw failedPrecondition(
      `the loan has ${MOST_OPEN_PROMISES} open promises, the most that there may be; cancel one first`,
    )
}
