import type { Instant } from '../../domain/dates.ts'
import { type Author, auditRow } from '../audit/trail.ts'
import type { ApiKey as ApiKeyRow } from '../generated/client.ts'
import type { Db } from '../postgres/client.ts'
import type { Role } from './accounts.ts'

/** An API key without the key itself. */
export interface ApiKey {
  readonly organizationId: number
  /** Never that of an account. */
  readonly id: number
  readonly name: string
  /** The key's first characters, by which people tell keys apart. */
  readonly prefix: string
  readonly roles: readonly Role[]
  readonly createdAt: Instant
  readonly revokedAt: Instant | null
}

/** A key about to be stored: its hash, never itself. */
export interface NewApiKey {
  readonly name: string
  readonly hash: string
  readonly prefix: string
  readonly roles: readonly Role[]
}

/** Stores a key by its hash, with its row in the audit trail. */
export async function insertApiKey(db: Db, author: Author, key: NewApiKey, now: number): Promise<ApiKey> {
  const { organizationId } = author
  const data = { organizationId, ...key, roles: [...key.roles], createdAt: new Date(now) }
  return db.prisma.$transaction(async (tx) => {
    const row = await tx.apiKey.create({ data })
    const trace = { action: 'create', before: null, after: { name: row.name, prefix: row.prefix, roles: row.roles } }
    await tx.auditEntry.create({ data: auditRow(db.pool, author, now, { entity: 'api key', id: row.id }, trace) })
    return toApiKey(row)
  })
}

/** The key with this hash, of whichever organization, revoked or not. */
export async function findApiKeyByHash(db: Db, hash: string): Promise<ApiKey | undefined> {
  const row = await db.prisma.apiKey.findUnique({ where: { hash } })
  return row ? toApiKey(row) : undefined
}

/** The organization's keys, revoked ones included, oldest first. */
export async function listApiKeys(db: Db, organizationId: number): Promise<ApiKey[]> {
  const rows = await db.prisma.apiKey.findMany({ where: { organizationId }, orderBy: { id: 'asc' } })
  return rows.map(toApiKey)
}

/**
 * Marks a key revoked; one that is already stays as it was.
 * @returns undefined when the organization has no such key
 */
export async function markApiKeyRevoked(db: Db, author: Author, id: number, now: number): Promise<ApiKey | undefined> {
  const { organizationId } = author
  return db.prisma.$transaction(async (tx) => {
    const { count } = await tx.apiKey.updateMany({
      where: { organizationId, id, revokedAt: null },
      data: { revokedAt: new Date(now) },
    })
    if (count > 0) {
      const trace = { action: 'revoke', before: { revoked: false }, after: { revoked: true } }
      await tx.auditEntry.create({ data: auditRow(db.pool, author, now, { entity: 'api key', id }, trace) })
    }
    const row = await tx.apiKey.findUnique({ where: { organizationId_id: { organizationId, id } } })
    return row ? toApiKey(row) : undefined
  })
}

const toApiKey = (row: ApiKeyRow): ApiKey => ({
  organizationId: row.organizationId,
  id: row.id,
  name: row.name,
  prefix: row.prefix,
  roles: row.roles as Role[],
  createdAt: row.createdAt.getTime(),
  revokedAt: row.revokedAt?.getTime() ?? null,
})
