import type { Deps } from '../../app/deps.ts'
import { findAction, insertAction, MOST_PENDING, type PendingAction } from '../../db/approvals/pendingActions.ts'
import type { Author } from '../../db/audit/trail.ts'
import type { StoredRow } from '../../db/loans/storedLoan.ts'
import {
  type ActionRequest,
  type ApprovalLimit,
  amountOf,
  mustWait,
  transactionOf,
} from '../../domain/approvals/pendingAction.ts'
import { subjectOf, toStoredRequest } from '../../domain/approvals/storedRequest.ts'
import { failedPrecondition, invariant } from '../../domain/errors.ts'
import type { Decision } from '../../domain/loan/loan.ts'
import { abortedWhereKeyTaken } from '../access/idempotency.ts'
import type { Organization } from '../lenders/organizations.ts'

export { MOST_PENDING, type PendingAction } from '../../db/approvals/pendingActions.ts'

/** The result of a request that waits for a second ADMIN: nothing was posted. */
export interface Waits {
  readonly waits: PendingAction
}

/** Returns whether a request waits for a second ADMIN, and so has no transaction yet. */
export const isWaiting = (result: object): result is Waits => 'waits' in result

/** A request that has to wait, with the amount that it was decided to be of. */
export interface Wanted {
  readonly request: ActionRequest
  readonly amount: bigint
}

/** Returns the limit of an organization; null where nothing waits. */
export const limitOf = ({ approvalAbove, currency }: Organization): ApprovalLimit | null =>
  approvalAbove === null ? null : { approvalAbove, currency }

/**
 * Returns what has to wait of a request, once it was decided what the request does to the loan; undefined where nothing does. A
 * value date that was left out is the day on which it was asked for.
 */
export function wantedOf(
  limit: ApprovalLimit | null,
  loan: StoredRow,
  request: ActionRequest,
  decision: Decision,
): Wanted | undefined {
  if (limit === null) return undefined
  const amount = amountOf(decision)
  if (!mustWait(limit, amount, loan.terms.currency.code)) return undefined
  if (!('posting' in request)) return { request, amount }
  const valueDate = decision.posted?.valueDate
  return { request: { ...request, posting: { ...request.posting, valueDate } }, amount }
}

/**
 * Lets a request wait for a second ADMIN. Where the same request waits already, that one is the answer.
 * @throws LendingError `failed_precondition` where as many wait as there may be, `aborted` for a key that is taken meanwhile
 */
export async function waitForSecond(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  author: Author,
  { id: loanId, terms }: StoredRow,
  { request, amount }: Wanted,
): Promise<Waits> {
  const { organizationId } = author
  const { kind } = request
  const stored = toStoredRequest(request)
  const action = {
    ...{ kind, request: stored, subject: subjectOf(kind, stored) },
    ...{ loanId, transactionId: transactionOf(request), amount, currency: terms.currency.code },
  }
  const id = await abortedWhereKeyTaken(insertAction(db, author, action, now(organizationId)))
  if (id === 'full')
    throw failedPrecondition(
      `${MOST_PENDING} actions wait for a second ADMIN, the most that there may be: approve, reject or withdraw some`,
    )
  const waits = await findAction(db, organizationId, id)
  invariant(waits, 'a pending action that was just found or made')
  return { waits }
}
