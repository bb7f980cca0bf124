import type { Instant } from '../../domain/dates.ts'
import { type Author, auditRow } from '../audit/trail.ts'
import type { Account as AccountRow, ApiKey as ApiKeyRow } from '../generated/client.ts'
import type { Db } from '../postgres/client.ts'
import { lockRoles } from './roles.ts'

/** An account, which may sign in for its organization. */
export interface Account {
  readonly organizationId: number
  readonly id: number
  readonly email: string
  /** Null: the account signs in by the provider of its organization. */
  readonly passwordHash: string | null
  readonly roles: readonly string[]
  readonly disabled: boolean
  /** Tokens issued before this instant are no longer taken; null: all are. */
  readonly tokensFrom: number | null
  /** How a provider knows the account; null: it has a password. */
  readonly known: KnownBy | null
}

/** The provider that knows a person, and by what. */
export interface KnownBy {
  readonly issuer: string
  readonly subject: string
}

/** E-mails are compared without regard to case, and stored in lower case. */
export async function findAccountByEmail(db: Db, email: string): Promise<Account | undefined> {
  const row = await db.prisma.account.findUnique({ where: { email: email.toLowerCase() } })
  return row ? toAccount(row) : undefined
}

/** An account of the organization that its provider knows by that. */
export async function findKnownAccount(db: Db, organizationId: number, known: KnownBy): Promise<Account | undefined> {
  const row = await db.prisma.account.findFirst({ where: { organizationId, ...known } })
  return row ? toAccount(row) : undefined
}

/** An account of the organization, disabled or not. */
export async function findAccount(db: Db, organizationId: number, id: number): Promise<Account | undefined> {
  const row = await db.prisma.account.findUnique({ where: { organizationId_id: { organizationId, id } } })
  return row ? toAccount(row) : undefined
}

/** An account about to be stored: with a password, or known by a provider. */
export interface NewAccount {
  readonly email: string
  readonly passwordHash: string | null
  readonly known?: KnownBy
  readonly roles: readonly string[]
  /** Those of the roles that the organization has made. */
  readonly ownRoles?: readonly string[]
}

/**
 * Stores an account, with its row in the audit trail.
 * @returns undefined where a role is not there any more
 * @throws a unique violation when the e-mail is taken, in whichever organization
 */
export async function insertAccount(
  db: Db,
  author: Author,
  { email, passwordHash, roles, ownRoles, known }: NewAccount,
  now: number,
): Promise<Account | undefined> {
  const { organizationId } = author
  const data = {
    organizationId,
    email: email.toLowerCase(),
    passwordHash,
    roles: [...roles],
    ...known,
    createdAt: new Date(now),
  }
  return db.prisma.$transaction(async (tx) => {
    if (!(await areThere(tx, organizationId, ownRoles))) return undefined
    const row = await tx.account.create({ data })
    const trace = { action: 'create', before: null, after: { email: row.email, roles: row.roles, ...known } }
    await tx.auditEntry.create({ data: auditRow(db.pool, author, now, { entity: 'account', id: row.id }, trace) })
    return toAccount(row)
  })
}

/** An account as the service knows it. */
export const toAccount = (row: AccountRow): Account => ({
  organizationId: row.organizationId,
  id: row.id,
  email: row.email,
  passwordHash: row.passwordHash,
  roles: row.roles,
  disabled: row.disabledAt !== null,
  tokensFrom: row.tokensFrom?.getTime() ?? null,
  known: row.issuer !== null && row.subject !== null ? { issuer: row.issuer, subject: row.subject } : null,
})

/** An account as operators see it. */
export interface AccountRecord extends Omit<Account, 'passwordHash'> {
  readonly disabledAt: number | null
  readonly createdAt: number
}

/** Locks the roles of the organization's own that are given. @returns whether each is there: one may have been deleted since it was looked up */
async function areThere(
  tx: Parameters<typeof lockRoles>[0],
  organizationId: number,
  ownRoles: readonly string[] = [],
): Promise<boolean> {
  return ownRoles.length === 0 || (await lockRoles(tx, organizationId, ownRoles)).length === ownRoles.length
}

/** The changes of an account; a property that is left out stays. */
export interface AccountChange {
  readonly roles?: readonly string[]
  /** Those of the roles that the organization has made. */
  readonly ownRoles?: readonly string[]
  readonly passwordHash?: string
  /** Null: enabled. */
  readonly disabledAt?: number | null
  readonly tokensFrom?: number
}

/** The accounts of an organization, or of all, in the order in which they were made. */
export async function listAccounts(db: Db, organizationId?: number): Promise<AccountRecord[]> {
  const where = organizationId === undefined ? {} : { organizationId }
  const rows = await db.prisma.account.findMany({ where, orderBy: [{ organizationId: 'asc' }, { id: 'asc' }] })
  return rows.map((row) => {
    const { passwordHash: _, ...account } = toAccount(row)
    return { ...account, disabledAt: row.disabledAt?.getTime() ?? null, createdAt: row.createdAt.getTime() }
  })
}

/**
 * Changes an account, with its row in the audit trail; a password's hash is never in that.
 * @returns undefined where a role is not there any more
 */
export async function changeAccount(
  db: Db,
  author: Author,
  account: Account,
  action: string,
  change: AccountChange,
  now: number,
): Promise<Account | undefined> {
  const { organizationId, id } = account
  const { roles, passwordHash, disabledAt, tokensFrom } = change
  const trace = {
    action,
    before: { roles: account.roles, disabled: account.disabled },
    after: {
      roles: roles ?? account.roles,
      disabled: disabledAt === undefined ? account.disabled : disabledAt !== null,
      ...(tokensFrom !== undefined && { tokensFrom: new Date(tokensFrom).toISOString() }),
    },
  }
  const row = await db.prisma.$transaction(async (tx) => {
    if (!(await areThere(tx, organizationId, change.ownRoles))) return undefined
    await tx.auditEntry.create({
      data: auditRow(db.pool, { ...author, organizationId }, now, { entity: 'account', id }, trace),
    })
    return tx.account.update({
      where: { organizationId_id: { organizationId, id } },
      data: {
        ...(roles && { roles: [...roles] }),
        ...(passwordHash !== undefined && { passwordHash }),
        ...(disabledAt !== undefined && { disabledAt: disabledAt === null ? null : new Date(disabledAt) }),
        ...(tokensFrom !== undefined && { tokensFrom: new Date(tokensFrom) }),
      },
    })
  })
  return row && toAccount(row)
}

/** An API key without the key itself. */
export interface ApiKey {
  readonly organizationId: number
  /** Never that of an account. */
  readonly id: number
  readonly name: string
  /** The key's first characters, by which people tell keys apart. */
  readonly prefix: string
  readonly roles: readonly string[]
  readonly createdAt: Instant
  readonly revokedAt: Instant | null
}

/** A key about to be stored: its hash, never itself. */
interface NewApiKey {
  readonly name: string
  readonly hash: string
  readonly prefix: string
  readonly roles: readonly string[]
  /** Those of the roles that the organization has made. */
  readonly ownRoles: readonly string[]
}

/** Stores a key by its hash, with its row in the audit trail. @returns undefined where a role is not there any more */
export async function insertApiKey(
  db: Db,
  author: Author,
  { ownRoles, ...key }: NewApiKey,
  now: number,
): Promise<ApiKey | undefined> {
  const { organizationId } = author
  const data = { organizationId, ...key, roles: [...key.roles], createdAt: new Date(now) }
  return db.prisma.$transaction(async (tx) => {
    if (!(await areThere(tx, organizationId, ownRoles))) return undefined
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
  roles: row.roles,
  createdAt: row.createdAt.getTime(),
  revokedAt: row.revokedAt?.getTime() ?? null,
})
