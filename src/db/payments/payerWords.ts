import type { Instant } from '../../domain/dates.ts'
import type { Payment } from '../../domain/payments/payment.ts'
import { PAYMENT } from '../../domain/payments/paymentText.ts'
import { type Author, TRAIL_COLUMNS, trailRows } from '../audit/trail.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { moment, statementOver } from '../queries/rows.ts'
import { type Queries, statement } from '../queries/statement.ts'
import { lockPayment, tracedRow } from './payments.ts'

const references = statement<{ organizationId: number; ids: readonly bigint[] }>(
  'references-of-payments',
  (p) =>
    `SELECT id, reference FROM payment WHERE organization_id = ${p('organizationId')} AND id = ANY (${p('ids')}::bigint[])`,
)

/** Reads the references that payers gave, by the ids of the payments. */
export async function readReferences(
  { pool }: Pick<Queries, 'pool'>,
  organizationId: number,
  ids: readonly bigint[],
): Promise<ReadonlyMap<bigint, string | null>> {
  if (ids.length === 0) return new Map()
  const { rows } = await pool.query<Pick<Payment, 'id' | 'reference'>>(references({ organizationId, ids }))
  return new Map(rows.map(({ id, reference }) => [id, reference]))
}

const erase = statementOver(
  'erase-payments',
  [{ organization_id: 'int', id: 'bigint', updated_at: 'timestamptz' }, TRAIL_COLUMNS],
  (payments, trail) => `
  WITH erased AS (
    UPDATE payment SET payer = NULL, reference = NULL, person_key = NULL, version = payment.version + 1, updated_at = c.updated_at,
      cause = CASE WHEN payment.cause LIKE 'sealed:%' THEN NULL ELSE payment.cause END
    FROM ${payments('c')} WHERE payment.organization_id = c.organization_id AND payment.id = c.id
    RETURNING payment.organization_id, payment.id
  ), ${trailRows('erased', PAYMENT, trail)}
  SELECT id FROM erased`,
)

/** Takes the words of a person from payments: the payer, the reference and what was noted. No receiver is told. */
export async function erasePayments(
  transaction: Transaction,
  author: Author,
  ids: readonly bigint[],
  now: Instant,
): Promise<void> {
  const { organizationId } = author
  const locked = await Promise.all(ids.toSorted(ascending).map((id) => lockPayment(transaction, organizationId, id)))
  const payments = locked.filter((payment) => payment !== undefined)
  if (payments.length === 0) return
  await transaction.query(
    erase(
      payments.map(({ id }) => [organizationId, id, moment(now)]),
      payments.map((before) => {
        const cause = before.cause?.startsWith('sealed:') ? null : before.cause
        const change = { ...before, cause, allocations: [], moved: null, note: null }
        return tracedRow(transaction, { author, id: before.id, action: 'erase', change, at: now, before })
      }),
    ),
  )
}

const ascending = (a: bigint, b: bigint) => (a < b ? -1 : 1)
