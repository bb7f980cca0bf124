import { changeLoan } from '../db/book.ts'
import type { Listed, LoanRef, Page, StoredLoan } from '../db/loans.ts'
import type { Deps } from '../deps.ts'
import { type Entry, isCustomerRepayment } from '../domain/entry.ts'
import { invariant, notFound } from '../domain/errors.ts'
import { type Decision, findByToken, type Posting, post } from '../domain/loan.ts'
import { type LoanState, type Outcome, replay } from '../domain/replay.ts'
import type { Caller } from './caller.ts'
import { getLoan, noSuchLoan } from './loans.ts'

/** A transaction of a loan, with what it did there as of the request. */
export interface TransactionNow {
  readonly loan: StoredLoan
  readonly entry: Entry
  /** Undefined once it is reversed: it does nothing then. */
  readonly outcome: Outcome | undefined
}

/** What a caller posts on a loan; what is left out is as for any transaction (contract 4.4). */
export type TransactionRequest = Omit<Posting, 'type'>

/**
 * Posts a customer's repayment. A token seen before on this loan answers the original, and nothing is posted.
 * @throws LendingError `not_found`, `invalid_argument`, `failed_precondition`, `aborted`
 */
export const postRepayment = (deps: Deps, caller: Caller, ref: LoanRef, request: TransactionRequest) =>
  postEntry(deps, caller, ref, { ...request, type: 'Repayment' })

async function postEntry(deps: Deps, caller: Caller, ref: LoanRef, posting: Posting): Promise<TransactionNow> {
  const change = { ...caller, zone: deps.config.zone, now: deps.now }
  const changed = await changeLoan<TransactionNow>(deps.db, change, ref, (loan, now) => {
    const original = posting.token === null ? undefined : findByToken(loan, posting.token)
    if (!original) return { save: post(loan, posting, now) }
    return { answer: { loan, entry: original, outcome: outcomeOf(original, replay(loan.terms, loan.entries, now)) } }
  })
  if (!changed) throw noSuchLoan(ref)
  return 'answer' in changed ? changed.answer : asPosted(changed.loan, changed.saved, changed.entryId)
}

function asPosted(loan: StoredLoan, { posted, state }: Decision, entryId: bigint | null): TransactionNow {
  invariant(posted && entryId !== null, 'an entry that was posted')
  const entry = { ...posted, id: entryId }
  return { loan, entry, outcome: outcomeOf(entry, state) }
}

const outcomeOf = (entry: Entry, state: LoanState): Outcome | undefined => state.outcomes.get(entry.ordinal)

/** The customer's repayments on a loan, newest first, reversed ones included (contract 4.4.5). */
export function repaymentsOf(loan: StoredLoan, state: LoanState): TransactionNow[] {
  return loan.entries
    .filter((entry) => isCustomerRepayment(entry.type))
    .toReversed()
    .map((entry) => ({ loan, entry, outcome: outcomeOf(entry, state) }))
}

/** @throws LendingError `not_found` */
export async function pageRepayments(
  deps: Deps,
  caller: Caller,
  ref: LoanRef,
  { page, rows }: Page,
): Promise<Listed<TransactionNow>> {
  const { loan, state } = await getLoan(deps, caller, ref)
  const all = repaymentsOf(loan, state)
  return { items: all.slice((page - 1) * rows, page * rows), total: all.length }
}

/**
 * Any transaction of the loan, whatever its type.
 * @throws LendingError `not_found` for the loan, or for a transaction that is not on it
 */
export async function getTransaction(deps: Deps, caller: Caller, ref: LoanRef, id: bigint): Promise<TransactionNow> {
  const { loan, state } = await getLoan(deps, caller, ref)
  const entry = loan.entries.find((candidate) => candidate.id === id)
  if (!entry) throw notFound('no transaction of this loan has that id')
  return { loan, entry, outcome: outcomeOf(entry, state) }
}
