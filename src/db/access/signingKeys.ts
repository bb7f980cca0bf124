import { type Author, auditRow, service } from '../audit/trail.ts'
import type { Prisma, SigningKey as SigningKeyRow } from '../generated/client.ts'
import type { Db } from '../postgres/client.ts'

/** Signing keys belong to no organization: their trail is organization 0's. */
export const WHOLE_SERVICE = 0

/** An RSA key pair that signs tokens, or did; its private half is encrypted. */
export interface SigningKey {
  readonly kid: string
  readonly publicPem: string
  readonly privateEncrypted: string
}

/** A key that may still verify a token. */
export interface VerifyingKey extends SigningKey {
  /** It may sign, too; of several that may, the newest does. */
  readonly active: boolean
}

/** A key as operators see it. `active` may sign, `retired` only verifies, `revoked` does neither. */
export interface KeyRecord {
  readonly kid: string
  readonly state: 'active' | 'retired' | 'revoked'
  /** Of the active keys, the one that signs. */
  readonly signs: boolean
  readonly createdAt: number
  readonly retiredAt: number | null
  readonly revokedAt: number | null
}

const NEWEST_FIRST = [{ activatedAt: 'desc' as const }, { kid: 'asc' as const }]

/** The keys that may still verify a token, newest first. */
export async function listVerifyingKeys(db: Db): Promise<VerifyingKey[]> {
  const rows = await db.prisma.signingKey.findMany({
    where: { revokedAt: null, activatedAt: { not: null } },
    orderBy: NEWEST_FIRST,
    select: { kid: true, publicPem: true, privateEncrypted: true, retiredAt: true },
  })
  return rows.map(({ retiredAt, ...key }) => ({ ...key, active: retiredAt === null }))
}

/** Every key there ever was, newest first. */
export async function listKeyRecords(db: Db): Promise<KeyRecord[]> {
  const rows = await db.prisma.signingKey.findMany({ where: { activatedAt: { not: null } }, orderBy: NEWEST_FIRST })
  const signing = rows.find((row) => stateOf(row) === 'active')
  return rows.map((row) => ({
    kid: row.kid,
    state: stateOf(row),
    signs: row === signing,
    createdAt: row.createdAt.getTime(),
    retiredAt: row.retiredAt?.getTime() ?? null,
    revokedAt: row.revokedAt?.getTime() ?? null,
  }))
}

const stateOf = ({ retiredAt, revokedAt }: Pick<SigningKeyRow, 'retiredAt' | 'revokedAt'>): KeyRecord['state'] => {
  if (revokedAt) return 'revoked'
  return retiredAt ? 'retired' : 'active'
}

/** Stores the service's first key, unless another instance has stored one. */
export async function insertFirstSigningKey(db: Db, key: SigningKey, now: number): Promise<void> {
  await alone(db, async (tx) => {
    if ((await tx.signingKey.count()) === 0) await insert(db, tx, service(WHOLE_SERVICE), { key, now })
  })
}

/** Stores a new key, which signs from then on; the keys before it still verify. */
export async function insertSigningKey(db: Db, author: Author, key: SigningKey, now: number): Promise<void> {
  await alone(db, (tx) => insert(db, tx, author, { key, now }))
}

async function insert(
  { pool }: Pick<Db, 'pool'>,
  tx: Prisma.TransactionClient,
  author: Author,
  { key, now }: { readonly key: SigningKey; readonly now: number },
): Promise<void> {
  const at = new Date(now)
  await tx.signingKey.create({ data: { ...key, createdAt: at, activatedAt: at } })
  const trace = { action: 'create', before: null, after: { state: 'active' } }
  await tx.auditEntry.create({ data: auditRow(pool, author, now, { entity: 'signing key', id: key.kid }, trace) })
}

/** The result of ending a key: done, or why it was not. */
export type KeyEnded = 'done' | 'missing' | 'isLast' | { readonly isAlready: KeyRecord['state'] }

/** Retires or revokes a key, unless it is so already or is the last key that can sign. */
export function endSigningKey(
  db: Db,
  author: Author,
  { kid, end }: { readonly kid: string; readonly end: 'retired' | 'revoked' },
  now: number,
): Promise<KeyEnded> {
  return alone(db, async (tx): Promise<KeyEnded> => {
    const row = await tx.signingKey.findUnique({ where: { kid } })
    if (!row) return 'missing'
    const before = stateOf(row)
    if (before === end || before === 'revoked') return { isAlready: before }
    const others = { kid: { not: kid }, activatedAt: { not: null }, retiredAt: null, revokedAt: null }
    if (before === 'active' && (await tx.signingKey.count({ where: others })) === 0) return 'isLast'
    const at = new Date(now)
    await tx.signingKey.update({ where: { kid }, data: end === 'retired' ? { retiredAt: at } : { revokedAt: at } })
    const action = end === 'retired' ? 'retire' : 'revoke'
    const trace = { action, before: { state: before }, after: { state: end } }
    await tx.auditEntry.create({ data: auditRow(db.pool, author, now, { entity: 'signing key', id: kid }, trace) })
    return 'done'
  })
}

/** One change of the keys at a time: two that each end the other's last key must not both be right. */
const alone = <T>(db: Db, change: (tx: Prisma.TransactionClient) => Promise<T>): Promise<T> =>
  db.prisma.$transaction(async (tx) => {
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('mkopo signing keys'))`
    return change(tx)
  })
