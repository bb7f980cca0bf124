import { dateIn, type Instant, type LocalDate } from '../dates.ts'
import { invalidField, invariant, notFound, refused } from '../errors.ts'
import { type Decimal, minorToText, toMinor } from '../money.ts'
import type { RepaymentRecord, Restated } from '../recordStyle/loanRecord.ts'
import { broughtForward, countOf } from './carriedForward/broughtForward.ts'
import { type Entry, type EntryType, movesMoney, type NewEntry } from './entry.ts'
import { entryBy } from './entryIndex.ts'
import { requireTakes } from './lifecycle.ts'
import type { Outcome } from './outcomes.ts'
import { endOf, extend, type LoanState, replay, stateAt, stillHolds } from './replay.ts'
import { memoOf } from './replayCache.ts'
import type { LoanTerms } from './terms.ts'

/** A loan is its terms and its entries (in the order of posting). */
export interface Loan {
  readonly terms: LoanTerms
  readonly entries: readonly Entry[]
}

/** What a caller asks to post. */
export interface Posting {
  readonly type: EntryType
  /** Null for a charge-off or write-off. */
  readonly amount: Decimal | null
  /** Undefined: today. */
  readonly valueDate: LocalDate | undefined
  readonly token: string | null
  readonly note: string | null
  /** An id of the client's own; undefined: the service gives it one. */
  readonly id?: bigint | undefined
  /** What a record system told of it besides. */
  readonly record?: RepaymentRecord | undefined
  /** How money is paid to the lender; kept where the entry moves money. */
  readonly paymentMethod?: string | undefined
}

/** What was decided: an entry to post, an entry to mark reversed, or both; and what the loan is then. */
export interface Decision {
  /** The loan before it, for the audit trail. */
  readonly before: LoanState
  /** Why an entry was reversed, in the operator's words; for the audit trail. */
  readonly reason: string | null
  readonly posted: NewEntry | null
  readonly reversed: Entry | null
  readonly state: LoanState
  /** Where the loan is agreed anew: its terms from now on. */
  readonly restated?: Restated
}

const states = memoOf<Loan, LoanState>('state')

/**
 * The loan as of a moment. What was replayed once is kept as long as time lets it hold. A change makes another loan of
 * it, to which the list of entries belongs from then on: do not ask for the state of the one before it.
 */
export function stateOf(loan: Loan, asOf: Instant): LoanState {
  const known = states.get(loan)
  if (known && stillHolds(loan.terms, known, asOf)) return known
  const end = known ? endOf(known) : broughtForward(loan)?.end
  const state = end && stateAt(loan.terms, end, asOf)
  return remember(loan, state ?? replay(loan.terms, loan.entries, asOf))
}

/** Keeps what a decision found the loan to be, for whoever decides next. */
export function remember(loan: Loan, state: LoanState): LoanState {
  states.set(loan, state)
  return state
}

/** The entry that carried this dedupe token, if it was seen before on this loan (contract 4.4.2). */
export const findByToken = entryBy('token', (entry) => entry.token)

/**
 * Posts an entry. Refusals, in this order: the amount, the value date, the loan's state, what the state leaves of it.
 * @throws LendingError `invalid_argument` or `failed_precondition`
 */
export function post(loan: Loan, posting: Posting, now: Instant): Decision {
  const { terms } = loan
  const amount = posting.amount === null ? 0n : toMinor(posting.amount, terms.currency, 'amount')
  const valueDate = posting.valueDate ?? dateIn(terms.zone, now)
  requireValueDate(terms, valueDate, now)
  const ordinal = countOf(loan) + 1
  const { type, token, note, id, record = null } = posting
  const paymentMethod = movesMoney(type) ? (posting.paymentMethod ?? null) : null
  const plain = { type, amount, valueDate, token, note, ordinal, place: ordinal, postedAt: now, replaces: null }
  return append(loan, { ...plain, ...(id !== undefined && { id }), record, paymentMethod, reversedAt: null }, now)
}

/**
 * Marks an entry reversed: the loan becomes what it would be without it.
 * @throws LendingError `not_found`, or `failed_precondition` when it is reversed already
 */
export function reverse(loan: Loan, entryId: bigint, now: Instant, reason: string | null): Decision {
  const reversed = requireStanding(loan, entryId)
  return {
    before: stateOf(loan, now),
    reason,
    posted: null,
    reversed,
    state: stateOf(without(loan, reversed, now), now),
  }
}

/** The types whose amount a caller gave, and so may correct. */
const ADJUSTABLE: readonly EntryType[] = [
  'Repayment',
  'Recovery Repayment',
  'Waive Interest',
  'Refund',
  'Credit Balance Refund',
]

/** A correction of an entry's amount or value date; an amount of 0 only reverses. */
export interface Adjustment {
  readonly amount: Decimal
  /** Undefined: the original's. */
  readonly valueDate: LocalDate | undefined
  readonly note: string | null
}

/**
 * Reverses an entry and posts it anew, at the same place among those of its date, so that adjusting to the same
 * amount changes nothing but the id. The new one must be allowed on the loan as it is without the original.
 * @throws LendingError as `reverse` and `post` do
 */
export function adjust(loan: Loan, entryId: bigint, adjustment: Adjustment, now: Instant): Decision {
  const original = requireStanding(loan, entryId)
  if (!ADJUSTABLE.includes(original.type))
    throw refused(`a ${original.type} has no amount to adjust; it can be reversed`)
  const amount = toMinor(adjustment.amount, loan.terms.currency, 'amount', { zeroAllowed: true })
  const valueDate = adjustment.valueDate ?? original.valueDate
  requireValueDate(loan.terms, valueDate, now)
  if (amount === 0n) return reverse(loan, entryId, now, adjustment.note)
  const ordinal = loan.entries.length + 1
  const anew: NewEntry = {
    type: original.type,
    amount,
    valueDate,
    token: null,
    note: adjustment.note ?? original.note,
    ordinal,
    place: valueDate === original.valueDate ? original.place : ordinal,
    postedAt: now,
    replaces: original.id,
    reversedAt: null,
    record: original.record ?? null,
    paymentMethod: original.paymentMethod ?? null,
  }
  return {
    ...append(without(loan, original, now), anew, now),
    before: stateOf(loan, now),
    reason: adjustment.note,
    reversed: original,
  }
}

/** Checks an entry against the loan's state before and after it. */
function append(loan: Loan, entry: NewEntry, now: Instant): Decision {
  const before = stateOf(loan, now)
  requireTakes(before, entry.type)
  requirePlace(loan, before, entry)
  const state = extend(loan.terms, before, entry, now) ?? replay(loan.terms, [...loan.entries, entry], now)
  const outcome = state.outcomes.get(entry.ordinal)
  invariant(outcome, 'a new entry has an outcome')
  requireRoom(loan.terms, before, entry, outcome)
  requireLeft(loan, before, entry, state)
  return { before, reason: null, posted: { ...entry, amount: outcome.amount }, reversed: null, state }
}

/** What the loan's state leaves of an amount: interest to waive, debt to recover, money to give back. */
function requireRoom(terms: LoanTerms, before: LoanState, entry: NewEntry, outcome: Outcome): void {
  const most = limitOf(before, entry.type)
  const say = (minor: bigint) => `${minorToText(minor, terms.currency)} ${terms.currency.code}`
  const { amount } = outcome
  if (most !== null && amount > most.minor)
    throw refused(`${say(amount)} is more than ${most.what}, ${say(most.minor)}`)
  // Enough now, but not on that day: other entries stand between.
  if (outcome.dropped > 0n || outcome.credited > 0n) {
    const there = say(amount - outcome.dropped - outcome.credited)
    throw refused(`of ${most?.what ?? 'it'} only ${there} was there on ${entry.valueDate}; a later date may have more`)
  }
  if (amount === 0n) throw refused(`nothing was owed on ${entry.valueDate}`)
}

/** What is paid out before other payouts must leave them what they paid out: it was no longer there to give. */
function requireLeft(loan: Loan, before: LoanState, entry: NewEntry, state: LoanState): void {
  if (entry.type !== 'Refund' && entry.type !== 'Credit Balance Refund') return
  const short = loan.entries.find(
    ({ ordinal }) => (state.outcomes.get(ordinal)?.credited ?? 0n) > (before.outcomes.get(ordinal)?.credited ?? 0n),
  )
  if (!short) return
  const { currency } = loan.terms
  const paidOut = `${minorToText(short.amount, currency)} ${currency.code} were paid out on ${short.valueDate}`
  throw refused(`${paidOut}, and would no longer have been there after this on ${entry.valueDate}`)
}

function limitOf(state: LoanState, type: EntryType): { what: string; minor: bigint } | null {
  if (type === 'Waive Interest') return { what: 'the interest outstanding', minor: state.outstanding.interest }
  if (type === 'Credit Balance Refund') return { what: 'the overpayment', minor: state.totalOverpaid }
  if (type === 'Refund')
    return state.status === 'Overpaid'
      ? { what: 'the overpayment', minor: state.totalOverpaid }
      : { what: 'what was paid in', minor: state.totalPaid }
  if (type === 'Recovery Repayment' && state.status === 'Closed (written off)')
    return { what: 'what is left of the write-off', minor: state.totalWrittenOff - state.totalRecovered }
  return null
}

/** A write-off closes the book on what came before it, and a recovery comes after it. */
function requirePlace(loan: Loan, state: LoanState, entry: NewEntry): void {
  if (entry.type === 'Write-off') {
    const latest = loan.entries.reduce(
      (day, one) => (one.reversedAt === null && one.valueDate > day ? one.valueDate : day),
      '',
    )
    if (entry.valueDate < latest)
      throw refused(`a write-off may not be dated before the loan's latest transaction, of ${latest}`)
  }
  if (state.status === 'Closed (written off)' && state.closedOn !== null && entry.valueDate < state.closedOn)
    throw invalidField('valueDate', `must be on or after the write-off, ${state.closedOn}`)
}

/** On or after disbursement and not in the future (contract 4.4.1). */
function requireValueDate(terms: LoanTerms, valueDate: LocalDate, now: Instant): void {
  if (valueDate < terms.disbursedOn)
    throw invalidField('valueDate', `must be on or after the day of disbursement, ${terms.disbursedOn}`)
  const today = dateIn(terms.zone, now)
  if (valueDate > today) throw invalidField('valueDate', `must not be in the future: today is ${today}`)
}

function requireStanding(loan: Loan, entryId: bigint): Entry {
  const entry = loan.entries.find((candidate) => candidate.id === entryId)
  if (!entry) throw notFound('no transaction of this loan has that id')
  if (entry.reversedAt !== null) throw refused('the transaction is reversed already')
  return entry
}

const without = (loan: Loan, reversed: Entry, now: Instant): Loan => ({
  terms: loan.terms,
  entries: loan.entries.map((entry) => (entry === reversed ? { ...entry, reversedAt: now } : entry)),
})
