import type { Instant } from '../../domain/dates.ts'
import { type Author, auditRow, keyRows } from '../audit/trail.ts'
import type { PaymentInbox as MessageRow } from '../generated/client.ts'
import type { Db } from '../postgres/client.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { cursorAt, type Found, type Position, sliceOf } from '../queries/cursor.ts'
import { type ColumnTypes, moment, statementOver } from '../queries/rows.ts'
import { type Queries, statement } from '../queries/statement.ts'
import { CHANNEL } from './channels.ts'

/** The states of a message: not read yet, a payment or a reversal came of it, it tells of neither, it cannot be read. */
export const MESSAGE_STATES = ['pending', 'done', 'ignored', 'unreadable'] as const
export type MessageState = (typeof MESSAGE_STATES)[number]

/** A message of a provider as it came, encrypted. */
export interface NewMessage {
  readonly organizationId: number
  readonly channelId: number
  readonly receivedAt: Instant
  /** The method, the headers that the adapter reads, and the body, encrypted. */
  readonly message: string
}

/** A message that is kept. */
export interface KeptMessage extends NewMessage {
  readonly id: bigint
  readonly state: MessageState
  /** What came of it, in words; null while it is pending. */
  readonly outcome: string | null
  readonly paymentId: bigint | null
  readonly decidedAt: Instant | null
}

const NEW: ColumnTypes = { organization_id: 'int', channel_id: 'int', received_at: 'timestamptz', message: 'text' }

const insert = statementOver(
  'insert-messages',
  [NEW],
  (messages) => `
  INSERT INTO payment_inbox (${Object.keys(NEW).join(', ')}, state) SELECT m.*, 'pending' FROM ${messages('m')}`,
)

/** Keeps messages, in one statement. */
export async function insertMessages({ pool }: Queries, messages: readonly NewMessage[]): Promise<void> {
  await pool.query(
    insert(
      messages.map(({ organizationId, channelId, receivedAt, message }) => [
        organizationId,
        channelId,
        moment(receivedAt),
        message,
      ]),
    ),
  )
}

/** Finds the organizations that have messages which are not read yet, by one look at the index for each. */
export async function findPendingOrganizations({ pool }: Queries): Promise<number[]> {
  const { rows } = await pool.query<{ id: number }>({
    name: 'find-pending-messages',
    text: `
    WITH RECURSIVE found AS (
      (SELECT organization_id AS id FROM payment_inbox WHERE state = 'pending' ORDER BY organization_id LIMIT 1)
      UNION ALL
      SELECT (SELECT organization_id FROM payment_inbox WHERE state = 'pending' AND organization_id > found.id
        ORDER BY organization_id LIMIT 1) FROM found WHERE found.id IS NOT NULL
    ) SELECT id FROM found WHERE id IS NOT NULL`,
  })
  return rows.map(({ id }) => id)
}

const lockPending = statement<{ organizationId: number; above: bigint; most: number }>(
  'lock-pending-messages',
  (p) => `
  SELECT organization_id AS "organizationId", id, channel_id AS "channelId", received_at AS "receivedAt", message
  FROM payment_inbox WHERE organization_id = ${p('organizationId')} AND state = 'pending' AND id > ${p('above')}
  ORDER BY id LIMIT ${p('most')} FOR UPDATE SKIP LOCKED`,
)

/** A message that is about to be read. */
export type PendingMessage = NewMessage & Pick<KeptMessage, 'id'>

/**
 * Locks the next messages that are not read yet, until the end of the transaction; those that others have locked are left out.
 * @param above only messages after this one
 */
export async function lockPendingMessages(
  transaction: Transaction,
  organizationId: number,
  { above, most }: { readonly above: bigint; readonly most: number },
): Promise<PendingMessage[]> {
  return (await transaction.query<PendingMessage>(lockPending({ organizationId, above, most }))).rows
}

/** What came of a message. */
export interface Outcome extends Pick<KeptMessage, 'organizationId' | 'id'> {
  readonly state: Exclude<MessageState, 'pending'>
  readonly outcome: string
  readonly paymentId: bigint | null
}

const DECIDED: ColumnTypes = {
  organization_id: 'int',
  id: 'bigint',
  state: 'text',
  outcome: 'text',
  payment_id: 'bigint',
  decided_at: 'timestamptz',
}

const decide = statementOver(
  'decide-messages',
  [DECIDED],
  (messages) => `
  UPDATE payment_inbox SET state = d.state, outcome = d.outcome, payment_id = d.payment_id, decided_at = d.decided_at
  FROM ${messages('d')} WHERE payment_inbox.organization_id = d.organization_id AND payment_inbox.id = d.id`,
)

/** Notes what came of messages that the transaction has locked. */
export async function decideMessages(
  transaction: Transaction,
  outcomes: readonly Outcome[],
  now: Instant,
): Promise<void> {
  if (outcomes.length === 0) return
  await transaction.query(
    decide(
      outcomes.map(({ organizationId, id, state, outcome, paymentId }) => [
        organizationId,
        id,
        state,
        outcome,
        paymentId,
        moment(now),
      ]),
    ),
  )
}

const toMessage = (row: MessageRow): KeptMessage => ({
  ...row,
  receivedAt: row.receivedAt.getTime(),
  state: row.state as MessageState,
  decidedAt: row.decidedAt?.getTime() ?? null,
})

/** Finds a message of a channel. */
export async function findMessage(
  db: Pick<Db, 'prisma'>,
  { organizationId, channelId, id }: Pick<KeptMessage, 'organizationId' | 'channelId' | 'id'>,
): Promise<KeptMessage | undefined> {
  const row = await db.prisma.paymentInbox.findFirst({ where: { organizationId, channelId, id } })
  return row ? toMessage(row) : undefined
}

/** The order of the list of the messages of a channel: as they came. */
export const MESSAGE_ORDER = 'payment-messages'

/** Finds messages of a channel, as they came. @param states undefined: of all states */
export async function findMessages(
  db: Pick<Db, 'prisma'>,
  { organizationId, channelId }: Pick<KeptMessage, 'organizationId' | 'channelId'>,
  states: readonly MessageState[] | undefined,
  position: Position,
): Promise<Found<KeptMessage>> {
  const where = { organizationId, channelId, ...(states && { state: { in: [...states] } }) }
  const orderBy = { id: 'asc' } as const
  const foundOf = (rows: readonly MessageRow[]) => ({
    items: rows.map(toMessage),
    next: cursorAt(MESSAGE_ORDER, rows.at(-1)?.id),
  })
  if (!('page' in position)) {
    const id = { gt: position.cursor?.floor ?? 0n }
    return foundOf(await db.prisma.paymentInbox.findMany({ where: { ...where, id }, orderBy, take: position.rows }))
  }
  const [total, rows] = await Promise.all([
    db.prisma.paymentInbox.count({ where }),
    db.prisma.paymentInbox.findMany({ where, orderBy, ...sliceOf(position) }),
  ])
  return { ...foundOf(rows), total }
}

/**
 * Lets a message be read again, with a row of the trail of its channel.
 * @returns false where it is pending, or was changed meanwhile
 */
export async function reopenMessage(db: Db, author: Author, message: KeptMessage, now: Instant): Promise<boolean> {
  const { organizationId, channelId, id, state } = message
  return db.prisma.$transaction(async (tx) => {
    const { count } = await tx.paymentInbox.updateMany({
      where: { organizationId, channelId, id, state },
      data: { state: 'pending', outcome: null, decidedAt: null },
    })
    if (count === 0) return false
    const trace = { action: 'decide again', before: { messageId: String(id), state }, after: { messageId: String(id) } }
    await tx.auditEntry.create({ data: auditRow(db.pool, author, now, { entity: CHANNEL, id: channelId }, trace) })
    await tx.idempotencyKey.createMany({ data: keyRows(author, CHANNEL, channelId) })
    return true
  })
}

const purge = statement<{ before: string | null; most: number }>(
  'purge-messages',
  (p) => `
  DELETE FROM payment_inbox WHERE (organization_id, id) IN (SELECT organization_id, id FROM payment_inbox
    WHERE received_at < ${p('before')}::timestamptz AND state <> 'pending' LIMIT ${p('most')} FOR UPDATE SKIP LOCKED)`,
)

/** Deletes messages that came before a moment, but for those that are not read yet. @returns how many there were, at most `most` */
export async function purgeMessages({ pool }: Queries, before: Instant, most: number): Promise<number> {
  return (await pool.query(purge({ before: moment(before), most }))).rowCount ?? 0
}
