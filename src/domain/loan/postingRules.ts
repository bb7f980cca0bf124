import { addPeriods, dateIn, type Instant, type LocalDate } from '../dates.ts'
import { type FaultRole, failedPrecondition, invalidArgument } from '../errors.ts'
import { minorToText } from '../money.ts'
import type { Balances } from './balances.ts'
import { type EntryType, isCharge, type NewEntry } from './entry.ts'
import type { Outcome } from './outcomes.ts'
import type { LoanState } from './replay.ts'
import type { HeadTerms, Loan } from './terms/terms.ts'

/**
 * Requires that the loan has enough for an entry: interest to waive, debt to recover, or money to pay back.
 * @throws LendingError `failed_precondition`
 */
export function requireRoom(terms: HeadTerms, before: Balances, entry: NewEntry, outcome: Outcome): void {
  if (isCharge(entry.type) || entry.type === 'Restructure') {
    requireRoomForCharge(terms, outcome)
    return
  }
  const most = limitOf(before, entry.type)
  const say = (minor: bigint) => `${minorToText(minor, terms.currency)} ${terms.currency.code}`
  const { amount } = outcome
  if (most !== null && amount > most.minor)
    throw failedPrecondition(`${say(amount)} is more than ${most.what}, ${say(most.minor)}`)
  // There is enough now, but there was not on that day: later entries made the difference.
  if (outcome.dropped > 0n || outcome.credited > 0n) {
    const there = say(amount - outcome.dropped - outcome.credited)
    throw failedPrecondition(
      `of ${most?.what ?? 'it'} only ${there} was there on ${entry.valueDate}; a later date may have more`,
    )
  }
  if (amount === 0n) throw failedPrecondition(`nothing was owed on ${entry.valueDate}`)
}

/**
 * Requires that the caps leave room for a single charge, or for the interest of a restructure, at its place among the penalties
 * (contract 10.9).
 * @throws LendingError `failed_precondition`
 */
function requireRoomForCharge({ currency }: HeadTerms, { amount, dropped }: Outcome): void {
  if (dropped === 0n) return
  const say = (minor: bigint) => `${minorToText(minor, currency)} ${currency.code}`
  const left = amount - dropped
  throw failedPrecondition(
    left > 0n
      ? `${say(amount)} is more than the ${say(left)} that the caps of the product leave for it`
      : 'the caps of the product leave nothing for another charge of this loan',
  )
}

/**
 * Requires that a payout dated before other payouts leaves the money that those paid out.
 * @throws LendingError `failed_precondition`
 */
export function requireLeft(loan: Loan, before: LoanState, entry: NewEntry, state: LoanState): void {
  if (entry.type !== 'Refund' && entry.type !== 'Credit Balance Refund') return
  const short = loan.entries.find(
    ({ ordinal }) => (state.outcomes.get(ordinal)?.credited ?? 0n) > (before.outcomes.get(ordinal)?.credited ?? 0n),
  )
  if (!short) return
  const { currency } = loan.terms
  const paidOut = `${minorToText(short.amount, currency)} ${currency.code} were paid out on ${short.valueDate}`
  throw failedPrecondition(`${paidOut}, and would no longer have been there after this on ${entry.valueDate}`)
}

function limitOf(state: Balances, type: EntryType): { what: string; minor: bigint } | null {
  const { outstanding } = state
  if (type === 'Waive Interest') return { what: 'the interest outstanding', minor: outstanding.interest }
  if (type === 'Waive Fees') return { what: 'the fees outstanding', minor: outstanding.fees }
  if (type === 'Waive Penalty') return { what: 'the penalties outstanding', minor: outstanding.penalty }
  if (type === 'Credit Balance Refund') return { what: 'the overpayment', minor: state.totalOverpaid }
  if (type === 'Refund')
    return state.status === 'Overpaid'
      ? { what: 'the overpayment', minor: state.totalOverpaid }
      : { what: 'what was paid in', minor: state.totalPaid }
  if (type === 'Recovery Repayment' && state.status === 'Closed (written off)')
    return { what: 'what is left of the write-off', minor: state.totalWrittenOff - state.totalRecovered }
  return null
}

/**
 * Requires that a write-off is dated after every other entry, and a recovery after the write-off.
 * @throws LendingError `failed_precondition`, `invalid_argument`
 */
export function requirePlace(loan: Loan, state: LoanState, entry: NewEntry): void {
  if (entry.type === 'Write-off') {
    const latest = loan.entries.reduce(
      (day, one) => (one.reversedAt === null && one.valueDate > day ? one.valueDate : day),
      '',
    )
    if (entry.valueDate < latest)
      throw failedPrecondition(`a write-off may not be dated before the loan's latest transaction, of ${latest}`)
  }
  if (state.status === 'Closed (written off)' && state.closedOn !== null && entry.valueDate < state.closedOn)
    throw invalidArgument('valueDate', `must be on or after the write-off, ${state.closedOn}`)
}

/**
 * Requires a date on or after disbursement and not in the future (contract 4.4.1).
 * @throws LendingError `invalid_argument`
 */
export function requireValueDate(
  terms: HeadTerms,
  valueDate: LocalDate,
  now: Instant,
  role: FaultRole = 'valueDate',
): void {
  if (valueDate < terms.disbursedOn)
    throw invalidArgument(role, `must be on or after the day of disbursement, ${terms.disbursedOn}`)
  const today = dateIn(terms.zone, now)
  if (valueDate > today) throw invalidArgument(role, `must not be in the future: today is ${today}`)
}

/** How far ahead a single charge may be due. */
const MOST_YEARS_AHEAD = 10

/**
 * Requires a due date of a single charge from disbursement to ten years ahead (contract 10.12), and returns the date.
 * @throws LendingError `invalid_argument`
 */
export function requireDueOn(terms: HeadTerms, dueOn: LocalDate, now: Instant): LocalDate {
  const last = addPeriods(dateIn(terms.zone, now), MOST_YEARS_AHEAD, 'years')
  if (dueOn < terms.disbursedOn || dueOn > last)
    throw invalidArgument('chargeDueOn', `must be from the day of disbursement, ${terms.disbursedOn}, to ${last}`)
  return dueOn
}
