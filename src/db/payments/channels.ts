import type { Instant } from '../../domain/dates.ts'
import { LARGEST_INT32 } from '../../toolbox/integers.ts'
import { type Author, auditRow, keyRows } from '../audit/trail.ts'
import type { PaymentChannel as ChannelRow } from '../generated/client.ts'
import type { Db } from '../postgres/client.ts'
import { cursorAt, type Found, type Position, sliceOf } from '../queries/cursor.ts'

/** Where payments come in: a wallet or a bank account of the lender. */
export interface Channel {
  readonly organizationId: number
  readonly id: number
  readonly name: string
  /** The name of the adapter that reads the provider's messages. */
  readonly adapter: string
  /** The number of the wallet at the provider. */
  readonly shortCode: string | null
  readonly currency: string
  /** The zone of the times in the provider's messages. */
  readonly zone: string
  /** The code of the account of the chart on which its money is; null: that of `cash`. */
  readonly account: string | null
  /** The networks from which messages are taken, as CIDR; none: from all. */
  readonly allowFrom: readonly string[]
  /** Whether payments that fit one loan are allocated at once. */
  readonly autoAllocate: boolean
  readonly matchPhone: boolean
  /** A notified amount above this waits for the statement, minor units; null: none does. */
  readonly confirmAbove: bigint | null
  /** SHA-256 of the secret, and of the one before it, in hex digits. */
  readonly secretHash: string
  readonly previousSecretHash: string | null
  readonly previousUntil: Instant | null
  /** The key by which the provider signs its messages, encrypted; null: signatures are not checked. */
  readonly signingKey: string | null
  /** When it was disabled: it takes no message since then. */
  readonly disabledAt: Instant | null
  /** When the payment came in after which the channel was silent, the last time that receivers were told so. */
  readonly silentSince: Instant | null
  readonly createdAt: Instant
}

/** The name of a channel in the audit trail and of its Idempotency-Keys. */
export const CHANNEL = 'payment channel'

/** The order of the list of channels: by id, of which each new channel has the next one. */
export const CHANNEL_ORDER = 'payment-channels'

const toChannel = (row: ChannelRow): Channel => ({
  ...row,
  previousUntil: row.previousUntil?.getTime() ?? null,
  disabledAt: row.disabledAt?.getTime() ?? null,
  silentSince: row.silentSince?.getTime() ?? null,
  createdAt: row.createdAt.getTime(),
})

/** Finds a channel of an organization. */
export async function findChannel(db: Db, organizationId: number, id: number): Promise<Channel | undefined> {
  const row = await db.prisma.paymentChannel.findUnique({ where: { organizationId_id: { organizationId, id } } })
  return row ? toChannel(row) : undefined
}

/** Finds the channel whose secret, or whose secret before, has a hash. */
export async function findChannelBySecret(db: Db, secretHash: string): Promise<Channel | undefined> {
  const row = await db.prisma.paymentChannel.findFirst({
    where: { OR: [{ secretHash }, { previousSecretHash: secretHash }] },
  })
  return row ? toChannel(row) : undefined
}

/** Finds channels by id. */
export async function findChannels(db: Db, organizationId: number, position: Position): Promise<Found<Channel>> {
  const where = { organizationId }
  const orderBy = { id: 'asc' } as const
  if ('page' in position) {
    const [total, items] = await Promise.all([
      db.prisma.paymentChannel.count({ where }),
      db.prisma.paymentChannel.findMany({ where, orderBy, ...sliceOf(position) }),
    ])
    return { items: items.map(toChannel), total, next: cursorAt(CHANNEL_ORDER, items.at(-1)?.id) }
  }
  const above = Number(position.cursor?.floor ?? 0)
  const items = await db.prisma.paymentChannel.findMany({
    where: { ...where, id: { gt: Math.min(above, LARGEST_INT32) } },
    orderBy,
    take: position.rows,
  })
  return { items: items.map(toChannel), next: cursorAt(CHANNEL_ORDER, items.at(-1)?.id) }
}

/** Returns the codes of the accounts that channels of an organization have. */
export async function findChannelAccounts(db: Pick<Db, 'prisma'>, organizationId: number): Promise<string[]> {
  const rows = await db.prisma.paymentChannel.findMany({
    where: { organizationId, account: { not: null } },
    select: { account: true },
    distinct: ['account'],
  })
  return rows.flatMap(({ account }) => account ?? [])
}

/** Returns the number of channels of an organization, and its highest id. */
export async function countChannels(db: Db, organizationId: number): Promise<{ count: number; highest: number }> {
  const { _count, _max } = await db.prisma.paymentChannel.aggregate({
    where: { organizationId },
    _count: true,
    _max: { id: true },
  })
  return { count: _count, highest: _max.id ?? 0 }
}

const dateOf = (instant: Instant | null): Date | null => (instant === null ? null : new Date(instant))

const instantsOf = ({
  previousUntil,
  disabledAt,
  silentSince,
}: Pick<Channel, 'previousUntil' | 'disabledAt' | 'silentSince'>) => ({
  previousUntil: dateOf(previousUntil),
  disabledAt: dateOf(disabledAt),
  silentSince: dateOf(silentSince),
})

/** What the trail keeps of a channel: the hash of its secret, whether its messages are signed, and no secret. */
const traced = ({ organizationId: _, createdAt: __, signingKey, ...channel }: Channel): object => ({
  ...channel,
  signed: signingKey !== null,
  ...instantsOf(channel),
})

const columnsOf = ({ organizationId: _, id: __, createdAt: ___, ...channel }: Channel) => ({
  ...channel,
  allowFrom: [...channel.allowFrom],
  ...instantsOf(channel),
})

/** @throws a unique violation where the organization has a channel of that id */
export async function insertChannel(db: Db, author: Author, channel: Channel): Promise<void> {
  const { organizationId, id, createdAt } = channel
  const trace = { action: 'create', before: null, after: traced(channel) }
  const audited = auditRow(db.pool, author, createdAt, { entity: CHANNEL, id }, trace)
  await db.prisma.$transaction([
    db.prisma.paymentChannel.create({
      data: { organizationId, id, createdAt: new Date(createdAt), ...columnsOf(channel) },
    }),
    db.prisma.auditEntry.create({ data: audited }),
    db.prisma.idempotencyKey.createMany({ data: keyRows(author, CHANNEL, id) }),
  ])
}

/** What is done to a channel, and how it is afterwards. */
interface ChannelChange {
  readonly action: 'update' | 'rotate' | 'silent'
  readonly before: Channel
  readonly after: Channel
  /** What the trail has of the change besides the channel. */
  readonly also?: object
}

/**
 * Changes a channel that is as it was read.
 * @returns false where it was changed meanwhile
 */
export async function updateChannel(
  db: Db,
  author: Author,
  { action, before, after, also }: ChannelChange,
  now: Instant,
): Promise<boolean> {
  const { organizationId, id } = before
  return db.prisma.$transaction(async (tx) => {
    const { count } = await tx.paymentChannel.updateMany({
      where: { organizationId, id, ...columnsOf(before), allowFrom: { equals: [...before.allowFrom] } },
      data: columnsOf(after),
    })
    if (count === 0) return false
    const trace = { action, before: traced(before), after: { ...traced(after), ...also } }
    await tx.auditEntry.create({ data: auditRow(db.pool, author, now, { entity: CHANNEL, id }, trace) })
    await tx.idempotencyKey.createMany({ data: keyRows(author, CHANNEL, id) })
    return true
  })
}
