import {
  type BookingTexts,
  bookingOf,
  type Provision,
  type ProvisionBooking,
} from '../../domain/accounting/provisions.ts'
import type { StoredChart } from '../../domain/accounting/storedChart.ts'
import type { Instant, LocalDate } from '../../domain/dates.ts'
import { type Author, stampedRow, type TrailRow } from '../audit/trail.ts'
import type { Db } from '../postgres/client.ts'
import { inTransaction, type Transaction } from '../postgres/transaction.ts'
import { AFTER_TRANSACTION_ID } from '../queries/lists.ts'
import type { Queries } from '../queries/statement.ts'
import { statement } from '../queries/statement.ts'
import { lockChart, readNewestChart } from './setChart.ts'

/** The entity of the trail of which a booking of provisions is a change; its id is the day. */
export const BOOKING = 'accounting provisions'

const insert = statement<
  TrailRow & {
    organizationId: number
    accountId: number | null
    requestId: string | null
    asOf: LocalDate
  }
>(
  'insert-booking',
  (p) => `
  INSERT INTO audit_entry (organization_id, at, account_id, request_id, action, entity, entity_id, after, unannounced, stamp)
  SELECT ${p('organizationId')}::int, ${p('changedAt')}::timestamptz, ${p('accountId')}::int, ${p('requestId')}, 'book',
    '${BOOKING}', ${p('asOf')}, ${p('after')}::jsonb, ${p('unannounced')}::boolean,
    decode(${p('stamp')}, 'hex') ${AFTER_TRANSACTION_ID}
  RETURNING id`,
)

/** A booking that is asked for. */
export interface RequestedBooking extends ProvisionBooking {
  /** The policy by which the provisions were computed, as the trail keeps it. */
  readonly policy: object
  readonly now: Instant
}

/**
 * Asks for a booking of provisions; the journal posts it when it comes to the row of the trail.
 * @param require called with the newest chart, which nothing replaces meanwhile; undefined: none was set. It may refuse
 * @returns the id of the row
 */
export const requestBooking = (
  db: Db,
  author: Author,
  { asOf, policy, provisions, now }: RequestedBooking,
  require: (newest: StoredChart | undefined) => void,
): Promise<bigint> =>
  inTransaction(db, async (transaction) => {
    const { organizationId, accountId, requestId } = author
    await lockChart(transaction, organizationId)
    require((await readNewestChart({ pool: transaction }, organizationId))?.chart)
    const kept = provisions.map(({ productId, currency, amount }) => ({ productId, currency, amount }))
    const trace = { action: 'book', before: null, after: { asOf, policy, provisions: kept } }
    const row = stampedRow(transaction, author, now, { entity: BOOKING, id: asOf }, trace)
    const { rows } = await transaction.query<{ id: bigint }>(
      insert({ ...row, organizationId, accountId, requestId, asOf }),
    )
    return rows[0]!.id
  })

/** Returns whether an organization has ever booked provisions. */
export async function hasBooked({ pool }: Queries, organizationId: number): Promise<boolean> {
  const { rows } = await pool.query({
    name: 'has-booked-provisions',
    text: `SELECT FROM audit_entry WHERE organization_id = $1 AND entity = '${BOOKING}' LIMIT 1`,
    values: [organizationId],
  })
  return rows.length > 0
}

/** SQL for a booking of the row `a` of the trail, as `BookingTexts`. */
export const BOOKING_TEXTS = `a.after ->> 'asOf' AS "asOf", (
    SELECT json_agg(json_build_array(e ->> 'productId', e ->> 'currency', e ->> 'amount') ORDER BY place)
    FROM jsonb_array_elements(CASE jsonb_typeof(a.after -> 'provisions') WHEN 'array' THEN a.after -> 'provisions'
      ELSE '[null]' END) WITH ORDINALITY AS x (e, place)) AS provisions`

/** Reads a booking from its row of the trail; undefined where it is damaged. */
export async function readBooking(
  { pool }: Queries,
  organizationId: number,
  changeId: bigint,
): Promise<ProvisionBooking | undefined> {
  const { rows } = await pool.query<BookingTexts>({
    name: 'read-booking',
    text: `SELECT ${BOOKING_TEXTS} FROM audit_entry a WHERE a.organization_id = $1 AND a.id = $2 AND a.entity = '${BOOKING}'`,
    values: [organizationId, changeId],
  })
  return rows[0] && bookingOf(rows[0])
}

/** Sums the allowance of an organization with a value date up to a day, by currency and product; without what is 0. */
export async function sumAllowance({ pool }: Queries, organizationId: number, asOf: LocalDate): Promise<Provision[]> {
  const { rows } = await pool.query<{ productId: number; currency: string; amount: string }>({
    name: 'sum-allowance',
    text: `SELECT product_id AS "productId", currency, sum(credit - debit)::text AS amount FROM posting_day
      WHERE organization_id = $1 AND value_date <= $2 AND slot = 'loan_loss_allowance'
      GROUP BY product_id, currency HAVING sum(credit - debit) <> 0 ORDER BY currency, product_id`,
    values: [organizationId, asOf],
  })
  return rows.map(({ productId, currency, amount }) => ({
    productId: productId === 0 ? null : productId,
    currency,
    amount: BigInt(amount),
  }))
}

/** Reads what a booking has posted, by currency and product. Amounts in minor units. */
export async function readBookedBy(
  transaction: Transaction,
  organizationId: number,
  changeId: bigint,
): Promise<Provision[]> {
  const { rows } = await transaction.query<{ productId: number; currency: string; amount: bigint }>({
    name: 'read-booked-by',
    text: `SELECT product_id AS "productId", currency, provision_expense AS amount FROM posting
      WHERE organization_id = $1 AND loan_id IS NULL AND change_id = $2 ORDER BY id`,
    values: [organizationId, changeId],
  })
  return rows.map(({ productId, ...row }) => ({ ...row, productId: productId === 0 ? null : productId }))
}
