import { dateIn, type Instant, type LocalDate } from '../dates.ts'
import { failedPrecondition, invariant, notFound } from '../errors.ts'
import type { RepaymentRecord } from '../loan/entry.ts'
import { type Currency, type Decimal, isAmount, toMinor, toMinorUnits } from '../money.ts'
import type { Balances } from './balances.ts'
import { isHead, type LoanHead, needsHistory } from './carriedForward/loanHead.ts'
import { type Entry, type EntryType, isCharge, movesMoney, type NewEntry } from './entry.ts'
import { entryBy } from './entryIndex.ts'
import { requireTakes } from './lifecycle.ts'
import type { Outcome } from './outcomes.ts'
import { requireDueOn, requireLeft, requirePlace, requireRoom, requireValueDate } from './postingRules.ts'
import { balancesAt, endOf, extend, extendHead, type LoanState, replay, stateAt, stillHolds } from './replay.ts'
import { cacheOf } from './replayCache.ts'
import { causeOf } from './restructure/plan.ts'
import type { HeldDays } from './rules/heldDaysText.ts'
import type { Loan } from './terms/terms.ts'
import type { ModifiedTerms } from './terms/versions.ts'

export type { Loan } from './terms/terms.ts'

/** A caller's request to post an entry. */
export interface Posting {
  readonly type: EntryType
  /** Null for a charge-off or write-off. */
  readonly amount: Decimal | null
  /** Undefined: today. */
  readonly valueDate: LocalDate | undefined
  /** The day from which a single charge looks for its instalment; left out: the value date. */
  readonly dueOn?: LocalDate | undefined
  readonly token: string | null
  readonly note: string | null
  /** The id that the client chose; undefined: the service chooses one. */
  readonly id?: bigint | undefined
  /** Further details that a record system sent. */
  readonly record?: RepaymentRecord | undefined
  /** The lender's payment method, kept where the entry moves money. */
  readonly paymentMethod?: string | undefined
  /** The received payment from which the repayment is allocated. */
  readonly paymentId?: bigint | undefined
}

/**
 * A decision on a loan: an entry to post, an entry to mark reversed, or both; and the balances of the loan before and
 * after it. The balances after it are a `LoanState` where the decision was made on the whole loan.
 */
export interface Decision {
  readonly before: Balances
  /** Why an entry was reversed, in the operator's words; for the audit trail. */
  readonly reason: string | null
  readonly posted: NewEntry | null
  /** The outcome of the posted entry; undefined where none was posted. */
  readonly outcome: Outcome | undefined
  readonly reversed: Entry | null
  readonly state: Balances
  /** Of an adjustment to another value date: the balances without the original, before its replacement. */
  readonly between?: Balances
  /** The terms from now on, where the decision modifies them. */
  readonly modifiedTerms?: ModifiedTerms
  /** The days on which no penalty is raised, where the decision changes them. */
  readonly penaltyHolds?: readonly HeldDays[]
}

/** Decisions on a loan that are saved together: the last of them, and those before it. */
export interface Saving {
  readonly save: Decision
  readonly first?: readonly Decision[]
}

const states = cacheOf<Loan, LoanState>('state')
const headStates = cacheOf<LoanHead, Balances>('state of the head')

/**
 * Returns the state of a loan at a moment. A state is cached with its loan for as long as it holds.
 */
export function stateOf(loan: Loan, asOf: Instant): LoanState {
  const known = states.get(loan)
  if (known && stillHolds(loan.terms, known, asOf)) return known
  const state = (known && stateAt(loan.terms, known, asOf)) ?? replay(loan.terms, loan.entries, asOf)
  states.set(loan, state)
  return state
}

/** Returns the balances of a head at a moment that `needsHistory` allows. */
function balancesOfHead(head: LoanHead, asOf: Instant): Balances {
  const known = headStates.get(head)
  return known && stillHolds(head.terms, known, asOf) ? known : balancesAt(head.terms, head.end, asOf)
}

/** Returns the balances of a loan or of a head at a moment; of a head, at a moment that `needsHistory` allows. */
export const balancesNow = (loan: Loan | LoanHead, asOf: Instant): Balances =>
  isHead(loan) ? balancesOfHead(loan, asOf) : stateOf(loan, asOf)

/** Caches the state that a decision computed with the loan that the decision makes, for the next decision. */
export function remember(loan: Loan, { state }: Decision): void {
  if (isLoanState(state)) states.set(loan, state)
}

const isLoanState = (state: Balances): state is LoanState => 'outcomes' in state

/** Returns the head after a decision that posted an entry on it. */
export function advanceHead<Head extends LoanHead>(head: Head, { state, outcome }: Decision, posted: Entry): Head {
  const end = endOf(state)
  invariant(end && outcome, 'a decision on a head posts an entry')
  const next = { ...head, end, count: head.count + 1, since: [...head.since, { entry: posted, outcome }] }
  headStates.set(next, state)
  return next
}

/** Returns what an entry does at its place, as of a moment; undefined for a reversed entry. */
export const outcomeAt = (loan: Loan | LoanHead, entry: Entry, asOf: Instant): Outcome | undefined =>
  isHead(loan)
    ? loan.since.find((one) => one.entry === entry)?.outcome
    : stateOf(loan, asOf).outcomes.get(entry.ordinal)

/** Finds the entry of a loan that has a dedupe token (contract 4.4.2). */
export const findByToken = entryBy<string>('token', (entry) => entry.token)

/** The fields of a posting in which it may differ from the entry that has its dedupe token. */
export type Mismatch = 'type' | 'amount' | 'valueDate' | 'note'

/** Returns in what a posting differs from the entry that has its dedupe token; what it leaves out differs in nothing. */
export function mismatchOf(
  entry: Pick<Entry, Mismatch>,
  { type, amount, valueDate, note }: Posting,
  currency: Currency,
): Mismatch[] {
  const differs: Readonly<Record<Mismatch, boolean>> = {
    type: type !== entry.type,
    amount: amount !== null && !isAmount(entry.amount, amount, currency),
    valueDate: valueDate !== undefined && valueDate !== entry.valueDate,
    note: note !== null && note !== entry.note,
  }
  return (Object.keys(differs) as Mismatch[]).filter((name) => differs[name])
}

/** Returns whether a posting has to be decided on the whole loan; see `needsHistory`. */
export function needsHistoryFor(head: LoanHead, { type, valueDate, amount }: Posting, now: Instant): boolean {
  const { zone, currency } = head.terms
  const minor = amount && amount.scale <= currency.decimals ? toMinorUnits(amount, currency) : null
  return needsHistory(head, { type, valueDate: valueDate ?? dateIn(zone, now), amount: minor }, now)
}

/**
 * Posts an entry. Checks, in this order: the amount, the value date, the loan's state, and the most that the state
 * allows.
 * @param loan the whole loan, or its head where `needsHistoryFor` is false
 * @throws LendingError `invalid_argument` or `failed_precondition`
 */
export function post(loan: Loan | LoanHead, posting: Posting, now: Instant): Decision {
  const { terms } = loan
  const amount = posting.amount === null ? 0n : toMinor(posting.amount, terms.currency, amountRole(posting.type))
  const valueDate = posting.valueDate ?? dateIn(terms.zone, now)
  requireValueDate(terms, valueDate, now)
  const ordinal = (isHead(loan) ? loan.count : loan.entries.length) + 1
  const { type, token, note, id, record = null, paymentId = null } = posting
  const paymentMethod = movesMoney(type) ? (posting.paymentMethod ?? null) : null
  const plain = { type, amount, valueDate, token, note, ordinal, place: ordinal, postedAt: now, replaces: null }
  const dueOn = isCharge(type) ? requireDueOn(terms, posting.dueOn ?? valueDate, now) : null
  const entry = { ...plain, ...(id !== undefined && { id }), record, paymentMethod, dueOn, paymentId, reversedAt: null }
  return isHead(loan) ? appendToHead(loan, entry, now) : append(loan, entry, now)
}

/**
 * Marks an entry reversed: the loan becomes what it would be without the entry.
 * @throws LendingError `not_found`, or `failed_precondition` when it is reversed already, or is a waiver that waives nothing
 */
export function reverse(loan: Loan, entryId: bigint, now: Instant, reason: string | null): Decision {
  const reversed = requireUnreversed(loan, entryId)
  requireAlone(reversed)
  // A reversed waiver keeps each later one of its day away, which a repayment of the quote counts on.
  if (reversed.type === 'Settlement Waiver' && outcomeAt(loan, reversed, now)?.amount === 0n)
    throw failedPrecondition('the settlement waiver waives nothing any more: there is nothing to reverse')
  return reversalOf(loan, reversed, now, reason)
}

/** Returns the decision to mark an unreversed entry reversed. */
export const reversalOf = (loan: Loan, reversed: Entry, now: Instant, reason: string | null): Decision => ({
  before: stateOf(loan, now),
  reason,
  posted: null,
  outcome: undefined,
  reversed,
  state: stateOf(without(loan, reversed, now), now),
})

/** Requires that an entry is not part of a restructure or of a received payment, which are reversed as a whole. @throws LendingError `failed_precondition` */
function requireAlone({ type, restructure, paymentId }: Entry): void {
  if (paymentId)
    throw failedPrecondition(
      `the ${type} was allocated from payment ${paymentId}: reverse the allocations of the payment`,
    )
  if (!restructure) return
  throw failedPrecondition(
    type === 'Restructure'
      ? 'a restructure is reversed by the reversal of restructures, with all that was posted with it'
      : `the ${type} was posted with a restructure: reverse the restructure`,
  )
}

const amountRole = (type: EntryType) => (isCharge(type) ? 'chargeAmount' : 'amount')

/** The types whose amount comes from the caller, who may correct it. */
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
 * Reverses an entry and posts another in its place. On the same date the new entry keeps the place of the original, so
 * that an adjustment to the same amount changes nothing but the id. The loan without the original must take the new
 * entry.
 * @throws LendingError as `reverse` and `post` do
 */
export function adjust(loan: Loan, entryId: bigint, adjustment: Adjustment, now: Instant): Decision {
  const original = requireUnreversed(loan, entryId)
  requireAlone(original)
  if (!ADJUSTABLE.includes(original.type))
    throw failedPrecondition(
      isCharge(original.type)
        ? `the amount of a ${original.type} cannot be adjusted: reverse the charge, and charge the right amount`
        : `the amount of a ${original.type} follows from the loan and cannot be adjusted`,
    )
  const amount = toMinor(adjustment.amount, loan.terms.currency, 'amount', { zeroAllowed: true })
  const valueDate = adjustment.valueDate ?? original.valueDate
  requireValueDate(loan.terms, valueDate, now)
  if (amount === 0n) return reverse(loan, entryId, now, adjustment.note)
  const ordinal = loan.entries.length + 1
  const replacement: NewEntry = {
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
  const appended = append(without(loan, original, now), replacement, now)
  return {
    ...appended,
    ...(valueDate !== original.valueDate && { between: appended.before }),
    before: stateOf(loan, now),
    reason: adjustment.note,
    reversed: original,
  }
}

/** Checks an entry against the balances of a head before and after it. */
function appendToHead(head: LoanHead, entry: NewEntry, now: Instant): Decision {
  invariant(!needsHistory(head, entry, now), 'a head takes the entries that need no history')
  const before = balancesOfHead(head, now)
  requireTakes(before, entry.type)
  const { state, outcome } = extendHead(head.terms, head.end, entry, now)
  requireRoom(head.terms, before, entry, outcome)
  return decisionOf(before, entry, outcome, state)
}

/**
 * Checks an entry against the loan's state before and after it.
 * @throws LendingError `failed_precondition`, `invalid_argument`
 */
export function append(loan: Loan, entry: NewEntry, now: Instant): Decision {
  const before = stateOf(loan, now)
  // The restructure with which a waiver is posted says whether the loan takes it.
  if (causeOf(entry.restructure) === undefined) requireTakes(before, entry.type)
  requirePlace(loan, before, entry)
  const state = extend(loan.terms, before, entry, now) ?? replay(loan.terms, [...loan.entries, entry], now)
  const outcome = state.outcomes.get(entry.ordinal)
  invariant(outcome, 'a new entry has an outcome')
  requireRoom(loan.terms, before, entry, outcome)
  requireLeft(loan, before, entry, state)
  return decisionOf(before, entry, outcome, state)
}

/** Returns the decision to post an entry, with the amount that it has at its place. */
export const decisionOf = (before: Balances, entry: NewEntry, outcome: Outcome, state: Balances): Decision => ({
  before,
  reason: null,
  posted: { ...entry, amount: outcome.amount },
  outcome,
  reversed: null,
  state,
})

/** Finds an entry that is not reversed. @throws LendingError `not_found`, `failed_precondition` */
export function requireUnreversed(loan: Loan, entryId: bigint): Entry {
  const entry = loan.entries.find((candidate) => candidate.id === entryId)
  if (!entry) throw notFound('no transaction of this loan has that id')
  if (entry.reversedAt !== null) throw failedPrecondition('the transaction is reversed already')
  return entry
}

/** Returns a loan in which an entry is marked reversed. */
export const without = (loan: Loan, reversed: Entry, now: Instant): Loan => ({
  terms: loan.terms,
  entries: loan.entries.map((entry) => (entry === reversed ? { ...entry, reversedAt: now } : entry)),
})
