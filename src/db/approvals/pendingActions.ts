import type { ActionKind, ActionState, StoredRequest } from '../../domain/approvals/pendingAction.ts'
import { type Author, type TrailValues, trail, trailValues } from '../audit/trail.ts'
import type { Whose } from '../customers/personBox.ts'
import { openTexts, sealFor } from '../customers/words.ts'
import type { PendingAction as Row } from '../generated/client.ts'
import type { Db } from '../postgres/client.ts'
import { inTransaction, type Transaction } from '../postgres/transaction.ts'
import { cursorAt, type Found, type Position, sliceOf } from '../queries/cursor.ts'
import { type Parameter, statement } from '../queries/statement.ts'

/** An action that waits, or waited, for a second ADMIN. */
export interface PendingAction {
  readonly organizationId: number
  readonly id: bigint
  readonly state: ActionState
  readonly kind: ActionKind
  readonly request: StoredRequest
  /** The loan that it is on; null: it is on a payment. */
  readonly loanId: bigint | null
  /** The payment that it is on; null: it is on a loan. */
  readonly paymentId: bigint | null
  /** The transaction that it reverses or adjusts; null: it posts a new one, or is on a payment. */
  readonly transactionId: bigint | null
  /** Minor units of `currency`. */
  readonly amount: bigint
  readonly currency: string
  readonly askedAt: number
  /** Null: the command line. */
  readonly askedBy: number | null
  readonly askedRequestId: string | null
  readonly decidedAt: number | null
  /** Null: nobody, or the command line. */
  readonly decidedBy: number | null
  readonly decidedRequestId: string | null
  readonly reason: string | null
  /** The transaction of a loan that was posted by it, or else the one that was reversed. */
  readonly postedId: bigint | null
}

/** The entity of the trail. */
const ENTITY = 'pending action'

/** The order of the list of pending actions. */
export const ACTIONS_ORDER = 'pending-actions'

/** The most actions that wait at a time: of an organization, of one who asks, and on a loan or a payment. */
export const MOST_PENDING = { organization: 1_000, asker: 200, target: 50 } as const
/** Whose share of the actions that wait is full. */
export type FullShare = keyof typeof MOST_PENDING

const toAction = ({ subject: _, state, kind, request, askedAt, decidedAt, ...row }: Row): PendingAction => ({
  ...row,
  state: state as ActionState,
  kind: kind as ActionKind,
  request: request as unknown as StoredRequest,
  askedAt: askedAt.getTime(),
  decidedAt: decidedAt?.getTime() ?? null,
})

/** Finds a pending action of an organization, decided or not. */
export async function findAction(db: Db, organizationId: number, id: bigint): Promise<PendingAction | undefined> {
  const row = await db.prisma.pendingAction.findUnique({ where: { organizationId_id: { organizationId, id } } })
  return (await openTexts(db, row ? [toAction(row)] : [], () => organizationId))[0]
}

/** What a list of pending actions is asked for by. */
export interface ActionFilter {
  readonly state?: ActionState | undefined
  readonly loanId?: bigint | undefined
  readonly paymentId?: bigint | undefined
  /** The account that asked. */
  readonly askedBy?: number | undefined
}

/**
 * Finds a part of the pending actions of an organization, in the order in which they were asked for. Their ids are committed in
 * that order, because `insertAction` locks the organization.
 */
export async function findActions(
  db: Db,
  organizationId: number,
  { state, loanId, paymentId, askedBy }: ActionFilter,
  position: Position,
): Promise<Found<PendingAction>> {
  const where = {
    organizationId,
    ...(state && { state }),
    ...(loanId !== undefined && { loanId }),
    ...(paymentId !== undefined && { paymentId }),
    ...(askedBy !== undefined && { askedBy }),
  }
  const isPage = 'page' in position
  const slice = isPage ? sliceOf(position) : { take: position.rows }
  const above = isPage ? {} : { id: { gt: position.cursor?.floor ?? 0n } }
  const rows = await db.prisma.pendingAction.findMany({
    where: { ...where, ...above },
    orderBy: { id: 'asc' },
    ...slice,
  })
  const items = await openTexts(db, rows.map(toAction), () => organizationId)
  const total = isPage ? await db.prisma.pendingAction.count({ where }) : undefined
  return { items, total, next: cursorAt(ACTIONS_ORDER, items.at(-1)?.id) }
}

/** The loan or the payment that an action is on; the other one is null. */
export interface Target {
  readonly loanId: bigint | null
  readonly paymentId: bigint | null
}

/** An action that is asked for. */
export interface NewAction extends Target {
  readonly kind: ActionKind
  readonly subject: string
  readonly request: StoredRequest
  readonly transactionId: bigint | null
  readonly amount: bigint
  readonly currency: string
}

const lockOrganization = statement<{ organizationId: number }>(
  'lock-organization',
  (p) => `SELECT FROM organization WHERE id = ${p('organizationId')} FOR NO KEY UPDATE`,
)

const findTarget = statement<{ organizationId: number } & Target>(
  'find-target-of-pending-action',
  (p) => `SELECT 'customer' AS entity, organization_id AS "organizationId", customer_id AS id FROM loan
      WHERE organization_id = ${p('organizationId')} AND id = ${p('loanId')}
    UNION ALL SELECT 'payment', organization_id, id FROM payment
      WHERE organization_id = ${p('organizationId')} AND id = ${p('paymentId')}`,
)

const findOwn = statement<{ organizationId: number; id: bigint }>(
  'find-target-of-own-pending-action',
  (p) => `SELECT loan_id AS "loanId", payment_id AS "paymentId" FROM pending_action
    WHERE organization_id = ${p('organizationId')} AND id = ${p('id')}`,
)

const findSame = statement<{ organizationId: number; subject: string } & Target>(
  'find-same-pending-action',
  (p) => `SELECT id FROM pending_action WHERE organization_id = ${p('organizationId')}
    AND (loan_id = ${p('loanId')} OR payment_id = ${p('paymentId')}) AND subject = ${p('subject')} AND state = 'pending'`,
)

const countPending = statement<{ organizationId: number; accountId: number | null } & Target>(
  'count-pending-actions',
  (p) => `SELECT count(*)::int AS organization,
      count(*) FILTER (WHERE asked_by IS NOT DISTINCT FROM ${p('accountId')}::int)::int AS asker,
      count(*) FILTER (WHERE loan_id = ${p('loanId')} OR payment_id = ${p('paymentId')})::int AS target
    FROM pending_action WHERE organization_id = ${p('organizationId')} AND state = 'pending'`,
)

const NEXT_ID = `SELECT nextval('pending_action_id_seq') AS id`

const insert = statement<TrailValues & Omit<NewAction, 'request'> & { readonly id: bigint; readonly request: string }>(
  'insert-pending-action',
  (p) => `
  WITH made AS (
    INSERT INTO pending_action (organization_id, id, state, kind, subject, request, loan_id, payment_id, transaction_id, amount, currency,
      asked_at, asked_by, asked_request_id)
    VALUES (${p('organizationId')}, ${p('id')}, 'pending', ${p('kind')}, ${p('subject')}, ${p('request')}::jsonb, ${p('loanId')},
      ${p('paymentId')}, ${p('transactionId')}, ${p('amount')}, ${p('currency')}, ${p('changedAt')}, ${p('accountId')}, ${p('requestId')})
    RETURNING id
  ), ${trail(p as Parameter<TrailValues>, 'made', ENTITY)}
  SELECT id FROM made`,
)

/**
 * Inserts an action that waits, with its row of the trail; where the same request waits already, nothing is inserted.
 * @returns the id of the action that waits, or whose share is full: the loan's or payment's, the asker's or the organization's;
 *   undefined where the loan or the payment is gone, with all of a test organization that was emptied
 */
export const insertAction = (
  db: Db,
  author: Author,
  action: NewAction,
  now: number,
): Promise<bigint | FullShare | undefined> =>
  inTransaction(db, async (transaction) => {
    const { organizationId, accountId } = author
    await transaction.query(lockOrganization({ organizationId }))
    const { kind, loanId, paymentId, transactionId, amount, currency } = action
    const target = { organizationId, loanId, paymentId }
    const whose = (await transaction.query<Whose>(findTarget(target))).rows[0]
    if (!whose) return undefined
    const same = await transaction.query<{ id: bigint }>(findSame({ ...target, subject: action.subject }))
    if (same.rows[0]) return same.rows[0].id
    const counting = countPending({ ...target, accountId })
    const counted = (await transaction.query<Record<FullShare, number>>(counting)).rows[0]!
    const full = (['target', 'asker', 'organization'] as const).find((whose) => counted[whose] >= MOST_PENDING[whose])
    if (full) return full
    const on = paymentId === null ? { loanId, transactionId } : { paymentId }
    const after = { state: 'pending', kind, ...on, amount, currency }
    const trace = { action: 'request', before: null, after }
    const { id } = (await transaction.query<{ id: bigint }>(NEXT_ID)).rows[0]!
    const trail = trailValues(transaction, author, now, { entity: ENTITY, id }, trace)
    const { note } = action.request
    const seal = await sealFor({ pool: transaction }, note ? [whose] : [])
    const request = note ? { ...action.request, note: seal(whose, note) } : action.request
    await transaction.query(insert({ ...trail, ...action, id, request: JSON.stringify(request) }))
    return id
  })

/** How a pending action ends. */
export interface ActionEnd {
  readonly id: bigint
  readonly state: Exclude<ActionState, 'pending'>
  readonly reason: string | null
  readonly postedId: bigint | null
}

const end = statement<TrailValues & ActionEnd>(
  'end-pending-action',
  (p) => `
  WITH ended AS (
    UPDATE pending_action SET state = ${p('state')}, reason = ${p('reason')}, posted_id = ${p('postedId')}::bigint,
      decided_at = ${p('changedAt')}, decided_by = ${p('accountId')}::int, decided_request_id = ${p('requestId')}
    WHERE organization_id = ${p('organizationId')} AND id = ${p('id')} AND state = 'pending'
    RETURNING id
  ), ${trail(p as Parameter<TrailValues>, 'ended', ENTITY)}
  SELECT id FROM ended`,
)

const ACTIONS = { approved: 'approve', rejected: 'reject', withdrawn: 'withdraw' } as const

/** Ends a pending action, with its row of the trail. @returns false where it has ended already */
export async function endAction(
  { pool }: { readonly pool: Transaction },
  author: Author,
  ended: ActionEnd,
  now: number,
): Promise<boolean> {
  const { state, postedId } = ended
  const reason = ended.reason && (await sealedReason(pool, { organizationId: author.organizationId, ...ended }))
  const after = { state, ...(reason !== null && { reason }), ...(postedId !== null && { postedId }) }
  const trace = { action: ACTIONS[state], before: { state: 'pending' }, after }
  const { rows } = await pool.query<{ id: bigint }>(
    end({ ...trailValues(pool, author, now, { entity: ENTITY, id: ended.id }, trace), ...ended, reason }),
  )
  return rows.length > 0
}

/** Returns the reason of an end, encrypted under the key of the person whom the action is about; null where the person was erased. */
async function sealedReason(
  pool: Transaction,
  { organizationId, id, reason }: ActionEnd & { readonly organizationId: number },
): Promise<string | null> {
  const target = (await pool.query<Target>(findOwn({ organizationId, id }))).rows[0]
  const whose = target && (await pool.query<Whose>(findTarget({ organizationId, ...target }))).rows[0]
  if (!whose || reason === null) return reason
  const seal = await sealFor({ pool }, [whose])
  return seal.isErased(whose) ? null : seal(whose, reason)
}

/** Whose pending actions are rejected: those that an account asked for, those on a loan, or those that are both. */
export interface Rejected {
  readonly askedBy: number | null
  readonly loanId: bigint | null
  readonly reason: string
}

const lockRejected = statement<Omit<Rejected, 'reason'> & Pick<Author, 'organizationId' | 'accountId'>>(
  'lock-rejected-actions',
  (p) => `
  SELECT id FROM pending_action
  WHERE organization_id = ${p('organizationId')} AND state = 'pending'
    AND (${p('askedBy')}::int IS NULL OR asked_by = ${p('askedBy')}::int)
    AND (${p('loanId')}::bigint IS NULL OR loan_id = ${p('loanId')}::bigint)
    AND asked_by IS DISTINCT FROM ${p('accountId')}::int
  ORDER BY id FOR UPDATE`,
)

/**
 * Rejects what waits of an account or on a loan, but for what the author asked for; each with its row of the trail.
 * @returns the ids, in order
 */
export const rejectActions = (
  db: Db,
  author: Author,
  { reason, askedBy, loanId }: Rejected,
  now: number,
): Promise<bigint[]> =>
  inTransaction(db, async (transaction) => {
    const { organizationId, accountId } = author
    const { rows } = await transaction.query<{ id: bigint }>(
      lockRejected({ organizationId, accountId, askedBy, loanId }),
    )
    for (const { id } of rows)
      await endAction({ pool: transaction }, author, { id, state: 'rejected', reason, postedId: null }, now)
    return rows.map(({ id }) => id)
  })
