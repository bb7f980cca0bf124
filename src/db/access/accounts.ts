import { type Author, auditRow } from '../audit/trail.ts'
import type { Account as AccountRow } from '../generated/client.ts'
import type { Db } from '../postgres/client.ts'

/** The roles of an account (contract 3.6). */
export const ROLES = ['USER', 'ADMIN', 'AUDITOR'] as const
export type Role = (typeof ROLES)[number]

/** An account, which may sign in for its organization. */
export interface Account {
  readonly organizationId: number
  readonly id: number
  readonly email: string
  readonly passwordHash: string
  readonly roles: readonly Role[]
  readonly disabled: boolean
  /** Tokens issued before this instant are no longer taken; null: all are. */
  readonly tokensFrom: number | null
}

/** E-mails are compared without regard to case, and stored in lower case. */
export async function findAccountByEmail(db: Db, email: string): Promise<Account | undefined> {
  const row = await db.prisma.account.findUnique({ where: { email: email.toLowerCase() } })
  return row ? toAccount(row) : undefined
}

/** An account of the organization, disabled or not. */
export async function findAccount(db: Db, organizationId: number, id: number): Promise<Account | undefined> {
  const row = await db.prisma.account.findUnique({ where: { organizationId_id: { organizationId, id } } })
  return row ? toAccount(row) : undefined
}

/** @throws a unique violation when the e-mail is taken, in whichever organization */
export async function insertAccount(
  db: Db,
  author: Author,
  { email, passwordHash, roles }: { email: string; passwordHash: string; roles: readonly Role[] },
  now: number,
): Promise<Account> {
  const { organizationId } = author
  const data = { organizationId, email: email.toLowerCase(), passwordHash, roles: [...roles], createdAt: new Date(now) }
  return db.prisma.$transaction(async (tx) => {
    const row = await tx.account.create({ data })
    const trace = { action: 'create', before: null, after: { email: row.email, roles: row.roles } }
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
  roles: row.roles as Role[],
  disabled: row.disabledAt !== null,
  tokensFrom: row.tokensFrom?.getTime() ?? null,
})

/** An account as operators see it. */
export interface AccountRecord extends Omit<Account, 'passwordHash'> {
  readonly disabledAt: number | null
  readonly createdAt: number
}

/** The changes of an account; a property that is left out stays. */
export interface AccountChange {
  readonly roles?: readonly Role[]
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

/** Changes an account, with its row in the audit trail; a password's hash is never in that. */
export async function changeAccount(
  db: Db,
  author: Author,
  account: Account,
  action: string,
  change: AccountChange,
  now: number,
): Promise<Account> {
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
  const [row] = await db.prisma.$transaction([
    db.prisma.account.update({
      where: { organizationId_id: { organizationId, id } },
      data: {
        ...(roles && { roles: [...roles] }),
        ...(passwordHash !== undefined && { passwordHash }),
        ...(disabledAt !== undefined && { disabledAt: disabledAt === null ? null : new Date(disabledAt) }),
        ...(tokensFrom !== undefined && { tokensFrom: new Date(tokensFrom) }),
      },
    }),
    db.prisma.auditEntry.create({
      data: auditRow(db.pool, { ...author, organizationId }, now, { entity: 'account', id }, trace),
    }),
  ])
  return toAccount(row)
}
