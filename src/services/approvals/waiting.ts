import {
  type FullShare,
  findAction,
  insertAction,
  MOST_PENDING,
  type PendingAction,
  type Target,
} from '../../db/approvals/pendingActions.ts'
import type { Author } from '../../db/audit/trail.ts'
import type { StoredLoan, StoredRow } from '../../db/loans/storedLoan.ts'
import {
  type ActionRequest,
  type ApprovalLimit,
  amountOf,
  type LoanActionRequest,
  mustWait,
  subjectOf,
  toStoredRequest,
  transactionOf,
  waivedOf,
} from '../../domain/approvals/pendingAction.ts'
import type { Instant } from '../../domain/dates.ts'
import { failedPrecondition, invariant, notFound } from '../../domain/errors.ts'
import type { Saving } from '../../domain/loan/loan.ts'
import { type Caller, mayOnlyPropose } from '../access/caller.ts'
import { abortedWhereKeyTaken } from '../access/idempotency.ts'
import type { Deps } from '../deps.ts'
import type { Organization } from '../organizations/organizations.ts'

export type { PendingAction } from '../../db/approvals/pendingActions.ts'

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

/** Returns the limit of an organization for what a caller asks for; null where nothing waits. */
export function limitOf(
  { approvalAbove, currency }: Organization,
  caller: Pick<Caller, 'roles'>,
): ApprovalLimit | null {
  if (mayOnlyPropose(caller)) return 'always'
  return approvalAbove === null ? null : { approvalAbove, currency }
}

/**
 * Returns what has to wait of a request on a loan, once it was decided what the request does to the loan; undefined where nothing does.
 * Waivers of a loan on a day count together. A value date that was left out is the day on which it was asked for.
 */
export function wantedOf(
  limit: ApprovalLimit | null,
  loan: StoredLoan,
  request: LoanActionRequest,
  { saving, postedToday }: { readonly saving: Saving; readonly postedToday: (at: Instant) => boolean },
): Wanted | undefined {
  if (limit === null) return undefined
  const amount = amountOf(saving)
  const before = request.kind === 'waive-interest' ? waivedOf(loan.entries, postedToday) : 0n
  if (!mustWait(limit, before + amount, loan.terms.currency.code)) return undefined
  const valueDate = saving.save.posted?.valueDate
  if (request.kind === 'restructure')
    return { request: { ...request, request: { ...request.request, effectiveDate: valueDate } }, amount }
  if (!('posting' in request)) return { request, amount }
  return { request: { ...request, posting: { ...request.posting, valueDate } }, amount }
}

/** Of whom the actions are whose share is full. */
const OF_SHARE: Readonly<Record<Exclude<FullShare, 'target'>, string>> = {
  organization: 'of the organization',
  asker: 'that you asked for',
}

/** A loan or a payment that an action is on, with its currency. */
type ActedOn = Target & Pick<PendingAction, 'currency'>

/** Returns a loan as what an action is on. */
export const onLoan = ({ id, terms }: StoredRow): ActedOn => ({
  loanId: id,
  paymentId: null,
  currency: terms.currency.code,
})

/**
 * Lets a request wait for a second ADMIN. Where the same request waits already, that one is the answer.
 * @throws LendingError `not_found` where the loan or the payment is gone meanwhile, `failed_precondition` where as many wait as there may be, `aborted` for a key that is taken meanwhile
 */
export async function waitForSecond(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  author: Author,
  on: ActedOn,
  { request, amount }: Wanted,
): Promise<Waits> {
  const { organizationId } = author
  const { kind } = request
  const stored = toStoredRequest(request)
  const asked = { kind, request: stored, subject: subjectOf(kind, stored) }
  const action = { ...asked, ...on, transactionId: transactionOf(request), amount }
  const id = await abortedWhereKeyTaken(insertAction(db, author, action, now(organizationId)))
  const target = on.loanId === null ? 'payment' : 'loan'
  if (id === undefined) throw notFound(`no ${target} has that id`)
  if (typeof id === 'string')
    throw failedPrecondition(
      `${MOST_PENDING[id]} actions ${id === 'target' ? `on this ${target}` : OF_SHARE[id]} wait for a second ADMIN, the most that may: approve, reject or withdraw some`,
    )
  const waits = await findAction(db, organizationId, id)
  invariant(waits, 'a pending action that was just found or made')
  return { waits }
}
