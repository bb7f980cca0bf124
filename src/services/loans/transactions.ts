import type { LoanRef } from '../../db/loans/loans.ts'
import type { StoredHead, StoredLoan, StoredRow } from '../../db/loans/storedLoan.ts'
import type { Step } from '../../db/queries/cursor.ts'
import { cursorAt } from '../../db/queries/cursor.ts'
import { type Permission, requirePermission } from '../../domain/access/permissions.ts'
import { decideAction, type LoanActionRequest, lossOf } from '../../domain/approvals/pendingAction.ts'
import { dateIn } from '../../domain/dates.ts'
import { invariant, notFound } from '../../domain/errors.ts'
import { type Entry, type EntryType, isCharge, isCustomerRepayment } from '../../domain/loan/entry.ts'
import {
  type Adjustment,
  findByToken,
  type Mismatch,
  mismatchOf,
  outcomeAt,
  type Posting,
  post,
} from '../../domain/loan/loan.ts'
import type { Outcome } from '../../domain/loan/outcomes.ts'
import type { LoanState } from '../../domain/loan/replay.ts'
import { type Caller, requireAlone } from '../access/caller.ts'
import { limitOf, onLoan, type Waits, type Wanted, waitForSecond, wantedOf } from '../approvals/waiting.ts'
import type { Caches, Core, Writing } from '../deps.ts'
import { getOrganization } from '../organizations/organizations.ts'
import { positionOf, type Range, type Ranged, rangedOf } from '../paging.ts'
import { type Changed, changeLoan, countPosted, postToLoan, type SavedChange } from './changes/changeLoan.ts'
import { getLoan, type LoanNow, noSuchLoan, type ReadDeps } from './loans.ts'

/** A transaction of a loan, with its outcome at the moment of the request. */
export interface TransactionNow {
  readonly loan: StoredRow
  readonly entry: Entry
  /** Undefined for a reversed transaction. */
  readonly outcome: Outcome | undefined
  /** Where the dedupe token was seen before, and nothing was posted: in what the request differs from the transaction. */
  readonly replayed?: readonly Mismatch[]
}

/** The name of a transaction: its loan, and its id. */
export interface TransactionRef {
  readonly ref: LoanRef
  readonly transactionId: bigint
}

/** The permission with which a type is posted, where it is not that of repayments (contract 19.2). */
const PERMISSION_OF: Readonly<Partial<Record<EntryType, Permission>>> = {
  'Write-off': 'loans.write_off',
  'Charge-off': 'loans.write',
  'Waive Interest': 'loans.write',
}

/** Returns the permission with which a transaction of a type is posted. */
const permissionOf = (type: EntryType): Permission =>
  isCharge(type) ? 'loans.restructure' : (PERMISSION_OF[type] ?? 'repayments.post')

/** The parts that a posting works with: the organization says above which amount it waits. */
type PostDeps = Core & Writing & Pick<Caches, 'organizations'>

/**
 * Posts a transaction of any type. Where the loan has a transaction with the dedupe token, returns that one and posts
 * nothing. A write-off or a waiver above the amount of the organization posts nothing and waits (contract 14.9).
 * @throws LendingError `permission_denied`, `not_found`, `invalid_argument`, `failed_precondition`, `aborted`
 */
export async function postTransaction(
  deps: PostDeps,
  caller: Caller,
  ref: LoanRef,
  request: Posting,
): Promise<TransactionNow | Waits> {
  requirePermission(caller, permissionOf(request.type))
  if (!lossOf(request)) requireAlone(caller)
  const organization = await getOrganization(deps, caller)
  const posting = { ...request, paymentMethod: organization.paymentMethod }
  const [limit, loss] = [limitOf(organization, caller), lossOf(posting)]
  const change = { author: caller, ref, posting }
  const answerOfOriginal = (loan: StoredLoan | StoredHead, now: number) => {
    const original = posting.token === null ? undefined : findByToken(loan, posting.token)
    if (!original) return undefined
    const replayed = mismatchOf(original, posting, loan.terms.currency)
    return { answer: { loan, entry: original, outcome: outcomeAt(loan, original, now), replayed } }
  }
  // Whether a waiver waits depends on the entries of the loan, which its head lacks.
  const changed =
    limit !== null && loss
      ? await changeLoan<TransactionNow | Wanted>(deps, { author: caller, ref }, (loan, now) => {
          const original = answerOfOriginal(loan, now)
          if (original) return original
          const decision = post(loan, posting, now)
          const wanted = wantedOf(limit, loan, loss, { saving: { save: decision }, postedToday: sameDay(deps, now) })
          return wanted ? { answer: wanted } : { save: decision }
        })
      : await postToLoan<TransactionNow>(
          deps,
          change,
          (loan, now) => answerOfOriginal(loan, now) ?? { save: post(loan, posting, now) },
        )
  return answerOf(deps, caller, ref, changed)
}

/**
 * Marks a transaction reversed; operators only. Above the amount of the organization it waits (contract 14.9).
 * @throws LendingError `permission_denied`, `not_found`, `failed_precondition` when it is reversed already
 */
export async function reverseTransaction(
  deps: PostDeps,
  caller: Caller,
  { ref, transactionId }: TransactionRef,
  note: string | null,
): Promise<TransactionNow | Waits> {
  return changeTransaction(deps, caller, ref, { kind: 'reverse', transactionId, note })
}

/**
 * Reverses a transaction and posts another in its place; with an amount of 0, only reverses it and returns it.
 * Operators only, because an adjustment takes a posted payment back as a reversal does (contract 4.4). Above the amount of the
 * organization it waits.
 * @throws LendingError `permission_denied`, `not_found`, `invalid_argument`, `failed_precondition`
 */
export async function adjustTransaction(
  deps: PostDeps,
  caller: Caller,
  { ref, transactionId }: TransactionRef,
  adjustment: Adjustment,
): Promise<TransactionNow | Waits> {
  return changeTransaction(deps, caller, ref, { kind: 'adjust', transactionId, ...adjustment })
}

/**
 * Marks a single charge of a loan reversed; operators only. Above the amount of the organization it waits.
 * @throws LendingError `permission_denied`, `not_found` also for another transaction, `failed_precondition`
 */
export async function reverseCharge(
  deps: PostDeps,
  caller: Caller,
  { ref, transactionId }: TransactionRef,
  note: string | null,
): Promise<TransactionNow | Waits> {
  return changeTransaction(deps, caller, ref, { kind: 'reverse-charge', transactionId, note })
}

/** Returns a function that says whether an instant is of the same day, in the lender's zone. */
function sameDay({ config: { zone } }: Pick<Core, 'config'>, now: number): (at: number) => boolean {
  const today = dateIn(zone, now)
  return (at) => dateIn(zone, at) === today
}

async function changeTransaction(
  deps: PostDeps,
  caller: Caller,
  ref: LoanRef,
  request: LoanActionRequest,
): Promise<TransactionNow | Waits> {
  requirePermission(caller, request.kind === 'reverse-charge' ? 'loans.restructure' : 'repayments.reverse')
  const limit = limitOf(await getOrganization(deps, caller), caller)
  const changed = await changeLoan<Wanted>(deps, { author: caller, ref }, (loan, now) => {
    const saving = decideAction(loan, request, now)
    const wanted = wantedOf(limit, loan, request, { saving, postedToday: sameDay(deps, now) })
    return wanted ? { answer: wanted } : saving
  })
  return answerOf(deps, caller, ref, changed)
}

async function answerOf(
  deps: Core,
  caller: Caller,
  ref: LoanRef,
  changed: Changed<TransactionNow | Wanted> | undefined,
): Promise<TransactionNow | Waits> {
  if (!changed) throw noSuchLoan(ref)
  if ('answer' in changed) {
    if ('request' in changed.answer) return waitForSecond(deps, caller, onLoan(changed.loan), changed.answer)
    deps.listener.duplicateAnswered('token')
    return changed.answer
  }
  countPosted(deps.listener, changed)
  return asSaved(changed)
}

/** Returns the entry that was posted, or else the one that was reversed. */
function asSaved({ loan, saved, posted, at }: SavedChange): TransactionNow {
  const { reversed, outcome } = saved
  if (!posted) {
    invariant(reversed, 'a decision posts or reverses an entry')
    return { loan, entry: { ...reversed, reversedAt: at }, outcome: undefined }
  }
  return { loan, entry: posted, outcome }
}

const outcomeOf = (entry: Entry, state: LoanState): Outcome | undefined => state.outcomes.get(entry.ordinal)

/** The most repayments that a loan is shown with; the list of its repayments has all. */
export const MOST_SHOWN = 1_000

/** The repayments of a loan that a client asks for. */
export interface RepaymentsRequest {
  readonly range: Range
  /** Only those that were posted or reversed since then. */
  readonly updatedSince?: number | undefined
}

/** The order of the list of a loan's repayments, newest first; the id of the loan follows. */
const NEWEST_FIRST = 'newest-first'

/** Returns the latest repayments of a loan, newest first, reversed ones included (contract 4.4.5). */
export function latestRepayments({ loan, state }: LoanNow): TransactionNow[] {
  const all = loan.entries.filter((entry) => isCustomerRepayment(entry.type))
  return all
    .slice(-MOST_SHOWN)
    .reverse()
    .map((entry) => ({ loan, entry, outcome: outcomeOf(entry, state) }))
}

/**
 * Reads a loan and returns a part of its repayments, newest first, reversed ones included (contract 4.4.5). A walk goes
 * back from where it began: repayments that are posted meanwhile are not in it.
 * @throws LendingError `not_found`, `invalid_argument` for a range that names no part
 */
export const listRepayments = (deps: ReadDeps, caller: Caller, ref: LoanRef, request: RepaymentsRequest) =>
  listEntries(deps, caller, ref, { ...request, of: 'repayments' })

/**
 * Reads a loan and returns a part of its single charges, newest first, reversed ones included (contract 10.12).
 * @throws LendingError as `listRepayments` does
 */
export const listCharges = (deps: ReadDeps, caller: Caller, ref: LoanRef, range: Range) =>
  listEntries(deps, caller, ref, { range, updatedSince: undefined, of: 'charges' })

/** The lists of a loan's entries, by name: the entries that each of them has. */
const LISTED = { repayments: isCustomerRepayment, charges: isCharge } as const

async function listEntries(
  deps: ReadDeps,
  caller: Caller,
  ref: LoanRef,
  { range, updatedSince, of }: RepaymentsRequest & { readonly of: keyof typeof LISTED },
): Promise<Ranged<TransactionNow>> {
  const { loan, state } = await getLoan(deps, caller, ref)
  const order = `${of}-${NEWEST_FIRST}-${loan.id}`
  const position = positionOf(range, { arrival: order })
  const isAsked = (entry: Entry) =>
    LISTED[of](entry.type) && (updatedSince === undefined || changedAt(entry) >= updatedSince)
  const all = loan.entries.filter(isAsked).reverse()
  const rest = 'page' in position ? all : all.filter(({ ordinal }) => BigInt(ordinal) < floorOf(position))
  const skipped = 'page' in position ? (position.page - 1) * position.rows : 0
  const shown = rest.slice(skipped, skipped + position.rows)
  const items = shown.map((entry) => ({ loan, entry, outcome: outcomeOf(entry, state) }))
  const next = cursorAt(order, shown.at(-1)?.ordinal)
  return rangedOf({ items, next, ...('page' in position && { total: all.length }) })
}

const floorOf = ({ cursor }: Step): bigint => {
  invariant(cursor, 'a walk through the repayments of a loan begins with a page')
  return cursor.floor
}

/** Returns when a transaction was changed last: posted, or reversed. */
export const changedAt = ({ postedAt, reversedAt }: Pick<Entry, 'postedAt' | 'reversedAt'>) => reversedAt ?? postedAt

/**
 * Returns a transaction of a loan, of any type.
 * @throws LendingError `not_found` for the loan, or for a transaction that is not on it
 */
export async function getTransaction(
  deps: ReadDeps,
  caller: Caller,
  ref: LoanRef,
  id: bigint,
): Promise<TransactionNow> {
  const { loan, state } = await getLoan(deps, caller, ref)
  const entry = loan.entries.find((candidate) => candidate.id === id)
  if (!entry) throw notFound('no transaction of this loan has that id')
  return { loan, entry, outcome: outcomeOf(entry, state) }
}
