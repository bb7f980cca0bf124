import type { Instant, LocalDate } from '../../domain/dates.ts'
import type { Payment } from '../../domain/payments/payment.ts'
import { type Queries, unprepared } from '../queries/statement.ts'

/** A loan to which a payment may be allocated, with its customer. */
export interface PayableLoan {
  readonly id: bigint
  readonly externalId: string | null
  readonly status: string
  readonly currency: string
  readonly principal: bigint
  readonly disbursedOn: LocalDate
  readonly customerId: bigint
  readonly customerExternalId: string | null
  readonly customerBusinessName: string | null
}

const LOAN = `l.id, l.external_id AS "externalId", l.status, l.currency, l.principal, l.disbursed_on AS "disbursedOn",
  l.customer_id AS "customerId", c.external_id AS "customerExternalId", c.business_name AS "customerBusinessName"`

const payable = unprepared<{ organizationId: number; ids: readonly bigint[] }>(
  (p) => `
  SELECT ${LOAN} FROM loan l JOIN customer c ON c.organization_id = l.organization_id AND c.id = l.customer_id
  WHERE l.organization_id = ${p('organizationId')} AND l.id = ANY (${p('ids')}::bigint[])`,
)

/** Reads loans with their customers, by id. */
export async function readPayable(
  { pool }: Queries,
  organizationId: number,
  ids: readonly bigint[],
): Promise<ReadonlyMap<bigint, PayableLoan>> {
  if (ids.length === 0) return new Map()
  const { rows } = await pool.query<PayableLoan>(payable({ organizationId, ids: [...new Set(ids)] }))
  return new Map(rows.map((row) => [row.id, row]))
}

const ofCustomers = unprepared<{ organizationId: number; ids: readonly bigint[]; most: number }>(
  (p) => `
  SELECT ${LOAN} FROM unnest(${p('ids')}::bigint[]) WITH ORDINALITY AS k (id, place)
  JOIN customer c ON c.organization_id = ${p('organizationId')} AND c.id = k.id
  CROSS JOIN LATERAL (SELECT * FROM loan o WHERE o.organization_id = c.organization_id AND o.customer_id = c.id
    ORDER BY o.status <> 'Active', o.id DESC LIMIT ${p('most')}) AS l
  ORDER BY l.status <> 'Active', k.place, l.id DESC LIMIT ${p('most')}`,
)

/** Finds the loans of customers, open loans first, then in the order of the customers, the newest first. */
export async function findLoansOf(
  { pool }: Queries,
  organizationId: number,
  { customerIds: ids, most }: { readonly customerIds: readonly bigint[]; readonly most: number },
): Promise<PayableLoan[]> {
  if (ids.length === 0) return []
  return (await pool.query<PayableLoan>(ofCustomers({ organizationId, ids, most }))).rows
}

/** Payments in one currency, or of one channel: how many, and how much in minor units. */
export interface Waiting {
  readonly currency: string
  readonly count: number
  readonly amount: bigint
}

const WAITS = `status IN ('received', 'partly_allocated', 'unmatched')`
const SUSPENSE = 'sum(amount - allocated - returned - reversed)::bigint'

const waiting = unprepared<{ organizationId: number }>(
  (p) => `
  SELECT currency, count(*)::int AS count, ${SUSPENSE} AS amount FROM payment
  WHERE organization_id = ${p('organizationId')} AND ${WAITS} GROUP BY currency ORDER BY currency`,
)

/** Sums up the payments of an organization that have money in suspense, by currency. */
export async function sumWaiting({ pool }: Queries, organizationId: number): Promise<Waiting[]> {
  return (await pool.query<Waiting>(waiting({ organizationId }))).rows
}

/** What came in on a channel, and where its money is. Minor units of its currency. */
export interface ChannelFigures {
  readonly channelId: number
  readonly todayCount: number
  readonly todayAmount: bigint
  readonly waitingCount: number
  readonly received: bigint
  readonly allocated: bigint
  readonly suspense: bigint
  readonly returned: bigint
  readonly reversed: bigint
  /** When the latest of its payments that count was received, and when the last message came; null: none has. */
  readonly lastPaymentAt: Instant | null
  readonly lastMessageAt: Instant | null
}

/** The last message is looked for in each of the states, so that the index of the messages of a channel gives it. */
const figures = unprepared<{ organizationId: number; today: LocalDate }>(
  (p) => `
  SELECT c.id AS "channelId", s.*, last.received_at AS "lastPaymentAt", m.at AS "lastMessageAt" FROM payment_channel c
  CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE p.value_date = ${p('today')}::date)::int AS "todayCount",
      coalesce(sum(p.amount) FILTER (WHERE p.value_date = ${p('today')}::date), 0)::bigint AS "todayAmount",
      count(*) FILTER (WHERE ${WAITS})::int AS "waitingCount",
      coalesce(sum(p.amount), 0)::bigint AS received, coalesce(sum(p.allocated), 0)::bigint AS allocated,
      coalesce(${SUSPENSE}, 0)::bigint AS suspense, coalesce(sum(p.returned), 0)::bigint AS returned,
      coalesce(sum(p.reversed), 0)::bigint AS reversed
    FROM payment p WHERE p.organization_id = c.organization_id AND p.channel_id = c.id) AS s
  LEFT JOIN LATERAL (SELECT received_at FROM payment p WHERE p.organization_id = c.organization_id AND p.channel_id = c.id
    ORDER BY p.value_date DESC, p.id DESC LIMIT 1) AS last ON true
  LEFT JOIN LATERAL (SELECT max(i.received_at) AS at FROM unnest(ARRAY['pending', 'done', 'ignored', 'unreadable']) AS k (state)
    CROSS JOIN LATERAL (SELECT received_at FROM payment_inbox i WHERE i.organization_id = c.organization_id
      AND i.channel_id = c.id AND i.state = k.state ORDER BY i.id DESC LIMIT 1) AS i) AS m ON true
  WHERE c.organization_id = ${p('organizationId')} ORDER BY c.id`,
)

/** Sums up the channels of an organization: what came in on a day, and where their money is. */
export async function sumChannels(
  { pool }: Queries,
  of: { readonly organizationId: number; readonly today: LocalDate },
): Promise<ChannelFigures[]> {
  return (await pool.query<ChannelFigures>(figures(of))).rows
}

/** A message of a provider that told of a payment, and what came of it. */
export interface PaymentMessage {
  readonly id: bigint
  readonly receivedAt: Instant
  readonly state: string
  readonly outcome: string | null
}

const messages = unprepared<{ organizationId: number; paymentId: bigint; most: number }>(
  (p) => `
  SELECT id, received_at AS "receivedAt", state, outcome FROM payment_inbox
  WHERE organization_id = ${p('organizationId')} AND payment_id = ${p('paymentId')}
  ORDER BY id LIMIT ${p('most')}`,
)

/** Finds the messages that told of a payment, as they came; those of the last months are kept. */
export async function findMessagesOf(
  { pool }: Queries,
  { organizationId, id }: Pick<Payment, 'organizationId' | 'id'>,
  most: number,
): Promise<PaymentMessage[]> {
  return (await pool.query<PaymentMessage>(messages({ organizationId, paymentId: id, most }))).rows
}
