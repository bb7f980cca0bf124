import type { Instant } from '../../domain/dates.ts'
import type { Payment, PaymentStatus } from '../../domain/payments/payment.ts'
import type { PaymentAction, PaymentChange } from '../../domain/payments/paymentChange.ts'
import { PAYMENT, writtenPayment } from '../../domain/payments/paymentText.ts'
import type { Stamping } from '../audit/stamp.ts'
import { type Author, TRAIL_COLUMNS, trailRow, trailRows } from '../audit/trail.ts'
import type { Whose } from '../customers/personBox.ts'
import { openTexts, sealFor } from '../customers/words.ts'
import type { Db } from '../postgres/client.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { cursorAt, type Found, type Position } from '../queries/cursor.ts'
import { type ColumnTypes, moment, statementOver } from '../queries/rows.ts'
import { type Conditions, type ConditionText, conditionsOf, type Queries, statement } from '../queries/statement.ts'

const COLUMNS = `p.organization_id AS "organizationId", p.id, p.channel_id AS "channelId", p.receipt, p.amount, p.currency,
  p.paid_at AS "paidAt", p.value_date AS "valueDate", p.reference, p.payer, p.status, p.allocated, p.returned, p.reversed, p.parts,
  p.unconfirmed, p.cause, p.received_at AS "receivedAt", p.updated_at AS "updatedAt", p.version`

const NEW: ColumnTypes = {
  organization_id: 'int',
  id: 'bigint',
  channel_id: 'int',
  receipt: 'text',
  amount: 'bigint',
  currency: 'text',
  paid_at: 'timestamptz',
  value_date: 'date',
  reference: 'text',
  payer: 'text',
  status: 'text',
  allocated: 'bigint',
  returned: 'bigint',
  reversed: 'bigint',
  parts: 'int',
  unconfirmed: 'boolean',
  cause: 'text',
  received_at: 'timestamptz',
  updated_at: 'timestamptz',
  version: 'int',
}

const insert = statementOver(
  'insert-payments',
  [NEW, TRAIL_COLUMNS],
  (payments, trail) => `
  WITH made AS (
    INSERT INTO payment (${Object.keys(NEW).join(', ')})
    SELECT p.* FROM ${payments('p')} WHERE pg_current_xact_id() IS NOT NULL
    ON CONFLICT (organization_id, channel_id, receipt) DO NOTHING
    RETURNING organization_id, id
  ), ${trailRows('made', PAYMENT, trail)}
  SELECT organization_id AS "organizationId", id FROM made`,
)

/** A payment about to be stored, with the account of its channel; null: that of `cash`. */
export interface NewPayment {
  readonly author: Author
  readonly payment: Payment
  readonly account: string | null
}

/**
 * Stores payments, in one statement, each where its channel has none with its receipt.
 * @returns of each whether it was stored
 */
export async function insertPayments(db: Queries, payments: readonly NewPayment[]): Promise<boolean[]> {
  const { rows } = await db.pool.query<Pick<Payment, 'organizationId' | 'id'>>(
    insert(
      payments.map(({ payment }) => valuesOf(payment)),
      payments.map(({ author, payment, account }) => {
        const moved = { amount: payment.amount, on: payment.valueDate, account }
        const change = { ...payment, allocations: [], moved, note: null }
        return tracedRow(db.pool, { author, action: 'receive', change, at: payment.receivedAt, id: payment.id })
      }),
    ),
  )
  const stored = new Set(rows.map(({ organizationId, id }) => `${organizationId} ${id}`))
  return payments.map(({ payment: { organizationId, id } }) => stored.has(`${organizationId} ${id}`))
}

const valuesOf = (payment: Payment): unknown[] => [
  payment.organizationId,
  payment.id,
  payment.channelId,
  payment.receipt,
  payment.amount,
  payment.currency,
  moment(payment.paidAt),
  payment.valueDate,
  payment.reference,
  payment.payer,
  payment.status,
  payment.allocated,
  payment.returned,
  payment.reversed,
  payment.parts,
  String(payment.unconfirmed),
  payment.cause,
  moment(payment.receivedAt),
  moment(payment.updatedAt),
  payment.version,
]

interface Traced {
  readonly author: Author
  readonly id: bigint
  readonly action: PaymentAction
  readonly change: PaymentChange
  readonly at: Instant
  /** The payment before; left out: it is new. */
  readonly before?: Payment
}

/** Returns the row of the trail of a change of a payment. */
export function tracedRow(stamping: Stamping, { author, id, action, change, at, before }: Traced): unknown[] {
  const shown = before && {
    status: before.status,
    allocated: String(before.allocated),
    returned: String(before.returned),
    reversed: String(before.reversed),
  }
  const trace = { action, before: shown ?? null, after: writtenPayment(change) }
  return trailRow(stamping, author, at, { entity: PAYMENT, id }, { trace, transactionId: null })
}

const SAVED: ColumnTypes = {
  organization_id: 'int',
  id: 'bigint',
  version: 'int',
  changes: 'int',
  status: 'text',
  allocated: 'bigint',
  returned: 'bigint',
  reversed: 'bigint',
  parts: 'int',
  unconfirmed: 'boolean',
  cause: 'text',
  updated_at: 'timestamptz',
}

const save = statementOver(
  'save-payments',
  [SAVED, TRAIL_COLUMNS],
  (payments, trail) => `
  WITH saved AS (
    UPDATE payment SET version = payment.version + c.changes, ${Object.keys(SAVED)
      .slice(4)
      .map((column) => `${column} = c.${column}`)
      .join(', ')}
    FROM ${payments('c')}
    WHERE payment.organization_id = c.organization_id AND payment.id = c.id AND payment.version = c.version
    RETURNING payment.organization_id, payment.id
  ), ${trailRows('saved', PAYMENT, trail)}
  SELECT id FROM saved`,
)

/** A step of a payment: what is done to it, and the payment after it. */
export interface PaymentStep extends Pick<PaymentChange, 'allocations' | 'moved' | 'note'> {
  readonly action: PaymentAction
  readonly after: Payment
}

/** Steps of a payment that are saved together, each on the payment that the one before left. */
export interface PaymentSteps {
  readonly author: Author
  readonly before: Payment
  readonly steps: readonly PaymentStep[]
}

/**
 * Saves what was decided on payments that the transaction has locked, in one statement.
 * @throws Error where one of them is not as it was read: it was not locked
 */
export async function savePayments(transaction: Transaction, given: readonly PaymentSteps[]): Promise<void> {
  if (given.length === 0) return
  const decided = await withSealedNotes({ pool: transaction }, given)
  const { rows } = await transaction.query(
    save(
      decided.map(({ before, steps }) => {
        const { status, allocated, returned, reversed, parts, unconfirmed, cause, updatedAt } = steps.at(-1)!.after
        const parted = [status, allocated, returned, reversed, parts, String(unconfirmed), cause]
        return [before.organizationId, before.id, before.version, steps.length, ...parted, moment(updatedAt)]
      }),
      decided.flatMap(({ author, before: first, steps }) =>
        steps.map(({ action, after, allocations, moved, note }, index) => {
          const before = steps[index - 1]?.after ?? first
          const change = { ...after, allocations, moved, note }
          // The Idempotency-Key of a request goes with its first step.
          const { claim: _, ...again } = author
          return tracedRow(transaction, {
            author: index === 0 ? author : again,
            id: first.id,
            action,
            change,
            at: after.updatedAt,
            before,
          })
        }),
      ),
    ),
  )
  if (rows.length < decided.length) throw new Error('a payment that is decided on is locked')
}

const ownerOf = ({ before: { organizationId, id } }: PaymentSteps): Whose => ({ entity: 'payment', organizationId, id })

/** Returns steps with their notes, and the causes that are the same words, encrypted under the keys of the payments. */
async function withSealedNotes(db: Queries, decided: readonly PaymentSteps[]): Promise<readonly PaymentSteps[]> {
  const noted = decided.filter(({ steps }) => steps.some(({ note }) => note !== null))
  if (noted.length === 0) return decided
  const seal = await sealFor(db, noted.map(ownerOf))
  return decided.map((one) => ({
    ...one,
    steps: one.steps.map((step) => {
      if (step.note === null) return step
      const note = seal(ownerOf(one), step.note)
      const { cause } = step.after
      return { ...step, note, after: { ...step.after, cause: cause === step.note ? note : cause } }
    }),
  }))
}

const read = statement<{ organizationId: number; id: bigint }>(
  'read-payment',
  (p) => `SELECT ${COLUMNS} FROM payment p WHERE p.organization_id = ${p('organizationId')} AND p.id = ${p('id')}`,
)

/** Reads a payment of an organization. */
export async function readPayment({ pool }: Queries, organizationId: number, id: bigint): Promise<Payment | undefined> {
  const { rows } = await pool.query<Payment>(read({ organizationId, id }))
  return (await openTexts({ pool }, rows, () => organizationId))[0]
}

const lock = statement<{ organizationId: number; id: bigint }>(
  'lock-payment',
  (p) => `SELECT ${COLUMNS} FROM payment p WHERE p.organization_id = ${p('organizationId')} AND p.id = ${p('id')}
    FOR NO KEY UPDATE OF p`,
)

/** Reads a payment, which nobody else changes until the end of the transaction. */
export async function lockPayment(
  transaction: Transaction,
  organizationId: number,
  id: bigint,
): Promise<Payment | undefined> {
  return (await transaction.query<Payment>(lock({ organizationId, id }))).rows[0]
}

/** A payment by what the provider calls it. */
export interface ReceiptKey extends Pick<Payment, 'organizationId' | 'channelId' | 'receipt'> {}

const byReceipt = statementOver(
  'payments-by-receipt',
  [{ organization_id: 'int', channel_id: 'int', receipt: 'text' }],
  (keys) => `SELECT ${COLUMNS} FROM ${keys('k')} JOIN payment p
    ON p.organization_id = k.organization_id AND p.channel_id = k.channel_id AND p.receipt = k.receipt`,
)

/** Reads payments by their receipts, in the order of the keys; undefined where there is none. */
export async function readByReceipts({ pool }: Queries, keys: readonly ReceiptKey[]): Promise<(Payment | undefined)[]> {
  if (keys.length === 0) return []
  const { rows } = await pool.query<Payment>(
    byReceipt(keys.map(({ organizationId, channelId, receipt }) => [organizationId, channelId, receipt])),
  )
  const found = new Map(rows.map((row) => [keyOf(row), row]))
  return keys.map((key) => found.get(keyOf(key)))
}

const keyOf = ({ organizationId, channelId, receipt }: ReceiptKey) => `${organizationId} ${channelId} ${receipt}`

const UNDECIDED = `p.status = 'received' AND NOT p.unconfirmed`

/** Finds the organizations that have payments on which nothing is decided, or whose provider has taken one back. */
export async function findUndecidedOrganizations({ pool }: Pick<Db, 'pool'>): Promise<number[]> {
  const { rows } = await pool.query<{ id: number }>({
    name: 'find-undecided',
    text: `SELECT DISTINCT p.organization_id AS id FROM payment p JOIN payment_channel c
        ON c.organization_id = p.organization_id AND c.id = p.channel_id AND c.auto_allocate WHERE ${UNDECIDED}
      UNION SELECT r.organization_id FROM payment_reversal r JOIN payment p
        ON p.organization_id = r.organization_id AND p.channel_id = r.channel_id AND p.receipt = r.reverses
        WHERE r.payment_id IS NULL`,
  })
  return rows.map(({ id }) => id)
}

const lockUndecided = statement<{ organizationId: number; ids: readonly bigint[] | null; most: number }>(
  'lock-undecided',
  (p) => `
  SELECT ${COLUMNS} FROM payment p JOIN payment_channel c ON c.organization_id = p.organization_id AND c.id = p.channel_id
  WHERE p.organization_id = ${p('organizationId')} AND ${UNDECIDED} AND c.auto_allocate
    AND (${p('ids')}::bigint[] IS NULL OR p.id = ANY (${p('ids')}::bigint[]))
    AND NOT EXISTS (SELECT FROM payment_reversal r WHERE r.organization_id = p.organization_id
      AND r.channel_id = p.channel_id AND r.reverses = p.receipt AND r.payment_id IS NULL)
  ORDER BY p.id LIMIT ${p('most')} FOR NO KEY UPDATE OF p SKIP LOCKED`,
)

/**
 * Locks the next payments on which nothing is decided, until the end of the transaction; those that others have locked are
 * left out.
 * @param ids only these payments; null: all
 */
export async function lockNextUndecided(
  transaction: Transaction,
  organizationId: number,
  { ids, most }: { readonly ids: readonly bigint[] | null; readonly most: number },
): Promise<Payment[]> {
  return (await transaction.query<Payment>(lockUndecided({ organizationId, ids, most }))).rows
}

/** The payments that are asked for; a property that is left out sets no condition. */
export interface PaymentFilter {
  readonly statuses?: readonly PaymentStatus[] | undefined
  readonly channelId?: number | undefined
  readonly receipt?: string | undefined
  readonly reference?: string | undefined
  readonly loanId?: bigint | undefined
  /** Only payments of which a repayment is on a loan of the customer. */
  readonly customerId?: bigint | undefined
  /** Bounds of `paidAt`: from the first instant on, and before the second. */
  readonly from?: Instant | undefined
  readonly before?: Instant | undefined
}

const CONDITIONS: Readonly<Record<keyof PaymentFilter, ConditionText>> = {
  statuses: 'p.status = ANY (?)',
  channelId: 'p.channel_id = ?',
  receipt: 'p.receipt = ?',
  reference: 'p.reference = ?',
  loanId:
    'p.id IN (SELECT e.payment_id FROM loan_entry e WHERE e.organization_id = p.organization_id AND e.loan_id = ? AND e.payment_id IS NOT NULL)',
  customerId:
    'p.id IN (SELECT e.payment_id FROM loan l JOIN loan_entry e ON e.organization_id = l.organization_id AND e.loan_id = l.id WHERE l.organization_id = p.organization_id AND l.customer_id = ? AND e.payment_id IS NOT NULL)',
  from: 'p.paid_at >= ?',
  before: 'p.paid_at < ?',
}

/** The order of the list of payments: as they were received. */
export const PAYMENT_ORDER = 'payments'

/** Finds payments of an organization, in the order in which they were received. */
export async function findPayments(
  { pool }: Pick<Db, 'pool'>,
  organizationId: number,
  { from, before, ...filter }: PaymentFilter,
  position: Position,
): Promise<Found<Payment>> {
  const at = (instant: Instant | undefined) => (instant === undefined ? undefined : moment(instant))
  const base: Conditions = { texts: ['p.organization_id = $1'], values: [organizationId] }
  const { texts, values } = conditionsOf(CONDITIONS, { ...filter, from: at(from), before: at(before) }, base)
  const where = texts.join(' AND ')
  const list = (more: string, sent: readonly unknown[]) =>
    pool.query<Payment>(`SELECT ${COLUMNS} FROM payment p WHERE ${where} ${more}`, [...values, ...sent])
  const [first, second] = [1, 2].map((more) => `$${values.length + more}`)
  const foundOf = async (rows: readonly Payment[]) => ({
    items: await openTexts({ pool }, rows, () => organizationId),
    next: cursorAt(PAYMENT_ORDER, rows.at(-1)?.id),
  })
  if (!('page' in position)) {
    const above = position.cursor?.floor ?? 0n
    return foundOf((await list(`AND p.id > ${first} ORDER BY p.id LIMIT ${second}`, [above, position.rows])).rows)
  }
  const { page, rows } = position
  const counting = pool.query<{ total: bigint }>(`SELECT count(*) AS total FROM payment p WHERE ${where}`, [...values])
  const listed = await list(`ORDER BY p.id OFFSET ${first} LIMIT ${second}`, [(page - 1) * rows, rows])
  return { ...(await foundOf(listed.rows)), total: Number((await counting).rows[0]!.total) }
}

/** Where the money of a channel is, up to a day: minor units. */
export interface ChannelSums {
  readonly received: bigint
  readonly allocated: bigint
  readonly returned: bigint
  readonly reversed: bigint
  readonly payments: number
}

const sums = statement<{ organizationId: number; channelId: number; asOf: string }>(
  'sum-channel',
  (p) => `
  SELECT coalesce(sum(amount), 0)::bigint AS received, coalesce(sum(allocated), 0)::bigint AS allocated,
    coalesce(sum(returned), 0)::bigint AS returned, coalesce(sum(reversed), 0)::bigint AS reversed, count(*)::int AS payments
  FROM payment WHERE organization_id = ${p('organizationId')} AND channel_id = ${p('channelId')}
    AND value_date <= ${p('asOf')}::date`,
)

/** Sums the payments of a channel that count up to a day, by where their money is now. */
export async function sumChannel(
  { pool }: Queries,
  of: { readonly organizationId: number; readonly channelId: number; readonly asOf: string },
): Promise<ChannelSums> {
  return (await pool.query<ChannelSums>(sums(of))).rows[0]!
}
