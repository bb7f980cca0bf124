import type { Instant } from '../../domain/dates.ts'
import type { Payment } from '../../domain/payments/payment.ts'
import { type Author, TRAIL_COLUMNS, trailRow, trailRows } from '../audit/trail.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { type ColumnTypes, moment, statementOver } from '../queries/rows.ts'
import type { Queries } from '../queries/statement.ts'
import { statement } from '../queries/statement.ts'

/** A message of a provider that takes a payment back. Amount in minor units. */
export interface Reversal {
  readonly organizationId: number
  readonly id: bigint
  readonly channelId: number
  readonly receipt: string
  /** The receipt of the payment that is taken back. */
  readonly reverses: string
  readonly amount: bigint
  readonly reversedAt: Instant
  readonly receivedAt: Instant
}

/** The entity of the trail. */
export const REVERSAL = 'payment reversal'

const NEW: ColumnTypes = {
  organization_id: 'int',
  id: 'bigint',
  channel_id: 'int',
  receipt: 'text',
  reverses: 'text',
  amount: 'bigint',
  reversed_at: 'timestamptz',
  received_at: 'timestamptz',
}

const insert = statementOver(
  'insert-payment-reversals',
  [NEW, TRAIL_COLUMNS],
  (reversals, trail) => `
  WITH made AS (
    INSERT INTO payment_reversal (${Object.keys(NEW).join(', ')})
    SELECT r.* FROM ${reversals('r')} WHERE pg_current_xact_id() IS NOT NULL
    ON CONFLICT (organization_id, channel_id, receipt) DO NOTHING
    RETURNING organization_id, id
  ), ${trailRows('made', REVERSAL, trail)}
  SELECT organization_id AS "organizationId", id FROM made`,
)

/**
 * Stores reversals, in one statement, each where its channel has none with its receipt. They are applied to their payments
 * later, which may not be there yet.
 */
export async function insertReversals(
  db: Queries,
  reversals: readonly { readonly author: Author; readonly reversal: Reversal }[],
): Promise<void> {
  if (reversals.length === 0) return
  await db.pool.query(
    insert(
      reversals.map(({ reversal: one }) => [
        one.organizationId,
        one.id,
        one.channelId,
        one.receipt,
        one.reverses,
        one.amount,
        moment(one.reversedAt),
        moment(one.receivedAt),
      ]),
      reversals.map(({ author, reversal: { id, channelId, receipt, reverses, amount, reversedAt, receivedAt } }) => {
        const after = { channelId, receipt, reverses, amount, reversedAt: new Date(reversedAt) }
        const trace = { action: 'receive', before: null, after }
        return trailRow(db.pool, author, receivedAt, { entity: REVERSAL, id }, { trace, transactionId: null })
      }),
    ),
  )
}

const COLUMNS = `r.organization_id AS "organizationId", r.id, r.channel_id AS "channelId", r.receipt, r.reverses, r.amount,
  r.reversed_at AS "reversedAt", r.received_at AS "receivedAt"`

const lockWaiting = statement<{ organizationId: number; most: number }>(
  'lock-waiting-reversals',
  (p) => `
  SELECT ${COLUMNS}, p.id AS "paymentId" FROM payment_reversal r JOIN payment p
    ON p.organization_id = r.organization_id AND p.channel_id = r.channel_id AND p.receipt = r.reverses
  WHERE r.organization_id = ${p('organizationId')} AND r.payment_id IS NULL
  ORDER BY r.id LIMIT ${p('most')} FOR NO KEY UPDATE OF r, p SKIP LOCKED`,
)

/** Locks the next reversals whose payments are there, together with these, until the end of the transaction. */
export async function lockReversals(
  transaction: Transaction,
  organizationId: number,
  most: number,
): Promise<(Reversal & { readonly paymentId: bigint })[]> {
  return (await transaction.query<Reversal & { paymentId: bigint }>(lockWaiting({ organizationId, most }))).rows
}

const apply = statement<{ organizationId: number; id: bigint; paymentId: Payment['id'] }>(
  'apply-reversal',
  (p) => `UPDATE payment_reversal SET payment_id = ${p('paymentId')}
    WHERE organization_id = ${p('organizationId')} AND id = ${p('id')}`,
)

/** Marks a reversal as applied to its payment. */
export async function markApplied(transaction: Transaction, reversal: Reversal, paymentId: bigint): Promise<void> {
  const { organizationId, id } = reversal
  await transaction.query(apply({ organizationId, id, paymentId }))
}
