import {
  ACTIONS_ORDER,
  type ActionFilter,
  endAction,
  findAction,
  findActions,
  type PendingAction,
  rejectActions,
} from '../../db/approvals/pendingActions.ts'
import type { Author } from '../../db/audit/trail.ts'
import { inTransaction } from '../../db/postgres/transaction.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import {
  amountOf,
  decideAction,
  fromStoredPaymentRequest,
  fromStoredRequest,
  isOnPayment,
} from '../../domain/approvals/pendingAction.ts'
import { failedPrecondition, invalidArgument, invariant, LendingError, notFound } from '../../domain/errors.ts'
import type { Loan } from '../../domain/loan/loan.ts'
import { MOST_PARTS } from '../../domain/loan/restructure/restructureLoan.ts'
import { currencyOf, minorToText } from '../../domain/money.ts'
import { type Caller, requireAlone, requireChanging } from '../access/caller.ts'
import { abortedWhereKeyTaken } from '../access/idempotency.ts'
import type { Core, Deps, Writing } from '../deps.ts'
import { changeLoan, countPosted } from '../loans/changes/changeLoan.ts'
import type { Alongside } from '../loans/changes/save.ts'
import { positionOf, type Range, type Ranged, rangedOf } from '../paging.ts'
import type { DecideDeps } from '../payments/decidePayments.ts'
import { changePayment } from '../payments/payments.ts'
import { takingBack } from '../payments/takeBack.ts'

export type { ActionFilter, PendingAction } from '../../db/approvals/pendingActions.ts'
export { ACTION_KINDS, ACTION_STATES } from '../../domain/approvals/pendingAction.ts'

/** The most characters of the reason of a rejection. */
export const LONGEST_REASON = 1_000

/**
 * Returns a part of the pending actions of the organization, decided ones too, oldest first; for readers.
 * @throws LendingError `permission_denied`, `invalid_argument` for a range that names no part
 */
export async function listPendingActions(
  { db }: Pick<Deps, 'db'>,
  caller: Caller,
  filter: ActionFilter,
  range: Range,
): Promise<Ranged<PendingAction>> {
  requirePermission(caller, 'reports.read')
  return rangedOf(await findActions(db, caller.organizationId, filter, positionOf(range, { arrival: ACTIONS_ORDER })))
}

/** Returns a pending action, decided or not; for readers. @throws LendingError `permission_denied`, `not_found` */
export function getPendingAction(deps: Pick<Deps, 'db'>, caller: Caller, id: bigint): Promise<PendingAction> {
  requirePermission(caller, 'reports.read')
  return findPendingAction(deps, caller, id)
}

/**
 * Approves a pending action as a second ADMIN: it is decided again on the loan or the payment as it is now, and posted together with
 * the mark that it is approved. Where the loan or the payment refuses, the action stays pending.
 * @throws LendingError `permission_denied` for the one who asked, `not_found`, `failed_precondition` for an action that is
 *   decided already, and as the action itself
 */
export async function approvePendingAction(
  deps: Core & Writing & DecideDeps,
  caller: Caller,
  id: bigint,
): Promise<PendingAction> {
  requireDecider(caller)
  const action = await pendingOf(deps, caller, id)
  if (isMaker(action, caller))
    throw denied('the one who asked cannot approve: another account that has the role ADMIN has to')
  const approving =
    action.loanId === null ? approveOnPayment(deps, caller, action) : approveOnLoan(deps, caller, action)
  await approving.catch(async (error: unknown) => {
    // The other of two ADMINs at once may have been faster: that is what there is to say then.
    if (error instanceof LendingError && error.code === 'failed_precondition') await pendingOf(deps, caller, id)
    throw error
  })
  return findPendingAction(deps, caller, id)
}

/** Returns the author of what an approval posts. The Idempotency-Key belongs to the approval: its answer is the pending action. */
const posterOf = (caller: Caller, action: PendingAction): Caller => ({
  ...caller,
  claim: undefined,
  requestId: requestIdOf(action),
})

async function approveOnLoan(deps: Core & Writing, caller: Caller, action: PendingAction): Promise<void> {
  const { id, kind, loanId } = action
  invariant(loanId !== null && !isOnPayment(kind), 'an action on a loan')
  const request = fromStoredRequest(kind, action.request)
  const change = {
    author: posterOf(caller, action),
    ref: { id: loanId },
    moreEntries: MOST_PARTS,
    alongside: [approvalOf(id, authorOf(caller))],
  }
  const changed = await changeLoan<never>(deps, change, (loan: Loan, now: number) => {
    const saving = decideAction(loan, request, now)
    requireNoMore(action, amountOf(saving))
    return saving
  })
  if (!changed) throw notFound('no loan has that id')
  if ('saved' in changed) countPosted(deps.listener, changed)
}

async function approveOnPayment(deps: DecideDeps, caller: Caller, action: PendingAction): Promise<void> {
  const { id, kind, paymentId } = action
  invariant(paymentId !== null && isOnPayment(kind), 'an action on a payment')
  const poster = posterOf(caller, action)
  const decide = takingBack(deps, poster, fromStoredPaymentRequest(kind, action.request))
  await changePayment(deps, poster, paymentId, async (transaction, payment) => {
    const taken = await decide(transaction, payment)
    requireNoMore(action, taken.amount)
    const approved = { id, state: 'approved' as const, reason: null, postedId: null }
    const isEnded = await endAction({ pool: transaction }, authorOf(caller), approved, deps.now(caller.organizationId))
    if (!isEnded) throw decidedAlready()
    return taken
  })
}

const decidedAlready = () => failedPrecondition('the action is decided already')

/** Returns what marks a pending action as approved, together with the change that it asked for. */
const approvalOf =
  (id: bigint, author: Author): Alongside =>
  async (transaction, { changes }) => {
    // What time has changed of the loan comes first, and is neither posted nor reversed by anybody. Of several entries, the
    // restructure is what was asked for.
    const made = changes.filter(({ changed: one }) => one.posted ?? one.reversed).map(({ changed: one }) => one)
    const asked = made.find((one) => (one.posted ?? one.reversed)?.type === 'Restructure') ?? made[0]
    const { posted, reversed } = asked ?? {}
    const approved = { id, state: 'approved' as const, reason: null, postedId: posted?.id ?? reversed?.id ?? null }
    const isEnded = await endAction({ pool: transaction }, author, approved, changes.at(-1)!.at)
    return isEnded ? 'done' : decidedAlready()
  }

/** Returns the request id that the trail and the events of the change have, by which they name the pending action. */
export const requestIdOf = ({ id }: Pick<PendingAction, 'id'>): string => `approval-${id}`

/**
 * Rejects a pending action as a second ADMIN.
 * @throws LendingError `permission_denied` for the one who asked, `not_found`, `invalid_argument`, `failed_precondition`
 */
export async function rejectPendingAction(
  deps: Pick<Deps, 'db' | 'now'>,
  caller: Caller,
  id: bigint,
  reason: string,
): Promise<PendingAction> {
  requireDecider(caller)
  requireReason(reason)
  const action = await pendingOf(deps, caller, id)
  if (isMaker(action, caller)) throw denied('the one who asked withdraws the action, and another ADMIN rejects it')
  return endWith(deps, caller, action, { state: 'rejected', reason })
}

/**
 * Rejects all pending actions that an account asked for, or that are on a loan, as a second ADMIN: but for those that the caller
 * asked for. The same request again rejects what was asked for since, so that its Idempotency-Key claims nothing.
 * @returns the ids of those that were rejected, in order
 * @throws LendingError `permission_denied`, `invalid_argument`
 */
export async function rejectPendingActions(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  caller: Caller,
  { askedBy = null, loanId = null, reason }: { askedBy?: number | null; loanId?: bigint | null; reason: string },
): Promise<bigint[]> {
  requireDecider(caller)
  requireReason(reason)
  if (askedBy === null && loanId === null)
    throw new LendingError('invalid_argument', 'askedBy or loanId is required: the account that asked, or the loan')
  if (askedBy !== null && askedBy === caller.accountId)
    throw denied('the one who asked withdraws the action, and another ADMIN rejects it')
  const { organizationId, accountId, requestId } = caller
  return rejectActions(db, { organizationId, accountId, requestId }, { askedBy, loanId, reason }, now(organizationId))
}

/** Requires a caller who may decide what others asked for, and not only ask. @throws LendingError `permission_denied` */
function requireDecider(caller: Caller): void {
  requirePermission(caller, 'actions.approve')
  requireAlone(caller)
}

/** Requires a reason of a rejection. @throws LendingError `invalid_argument` */
function requireReason(reason: string): void {
  if (reason.trim() === '' || [...reason].length > LONGEST_REASON)
    throw invalidArgument('reason', `must be 1 to ${LONGEST_REASON} characters`)
}

/**
 * Withdraws a pending action, as the one who asked for it.
 * @throws LendingError `permission_denied` for anybody else, `not_found`, `failed_precondition`
 */
export async function withdrawPendingAction(
  deps: Pick<Deps, 'db' | 'now'>,
  caller: Caller,
  id: bigint,
): Promise<PendingAction> {
  requireChanging(caller)
  const action = await pendingOf(deps, caller, id)
  if (!isMaker(action, caller)) throw denied('only the one who asked can withdraw the action; an ADMIN can reject it')
  return endWith(deps, caller, action, { state: 'withdrawn', reason: null })
}

/** Returns whether a caller asked for an action. The command line is one caller for all who run it. */
export const isMaker = ({ askedBy }: Pick<PendingAction, 'askedBy'>, { accountId }: Pick<Caller, 'accountId'>) =>
  askedBy === accountId

const denied = (message: string) => new LendingError('permission_denied', message)

const authorOf = ({ organizationId, accountId, requestId, claim }: Caller): Author => ({
  organizationId,
  accountId,
  requestId,
  ...(claim && { claim }),
})

/** Returns a pending action of the organization without a check of roles: for the answer of a request that is repeated. @throws LendingError `not_found` */
export async function findPendingAction(
  { db }: Pick<Deps, 'db'>,
  caller: Pick<Caller, 'organizationId'>,
  id: bigint,
): Promise<PendingAction> {
  const action = await findAction(db, caller.organizationId, id)
  if (!action) throw notFound('no pending action has that id')
  return action
}

/** Returns an action that is pending. @throws LendingError `not_found`, `failed_precondition` for one that is decided */
export async function pendingOf(deps: Pick<Deps, 'db'>, caller: Caller, id: bigint): Promise<PendingAction> {
  const action = await findPendingAction(deps, caller, id)
  if (action.state !== 'pending') throw failedPrecondition(`the action is ${action.state} already`)
  return action
}

/** Requires that a decision is of no more than was asked for, which is what the maker saw. @throws LendingError `failed_precondition` */
function requireNoMore({ amount, currency }: PendingAction, now: bigint): void {
  const say = (minor: bigint) => `${minorToText(minor, currencyOf(currency))} ${currency}`
  if (now > amount)
    throw failedPrecondition(
      `the amount is ${say(now)} now, more than the ${say(amount)} that was asked for: reject the action, and let it be asked for again`,
    )
}

async function endWith(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  caller: Caller,
  { id }: PendingAction,
  { state, reason }: { readonly state: 'rejected' | 'withdrawn'; readonly reason: string | null },
): Promise<PendingAction> {
  const at = now(caller.organizationId)
  const ending = inTransaction(db, async (pool) =>
    endAction({ pool }, caller, { id, state, reason, postedId: null }, at),
  )
  const hasEnded = await abortedWhereKeyTaken(ending)
  // Another caller decided it meanwhile.
  if (!hasEnded) await pendingOf({ db }, caller, id)
  return findPendingAction({ db }, caller, id)
}
