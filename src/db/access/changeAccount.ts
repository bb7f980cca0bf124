import { type Author, auditRow } from '../audit/trail.ts'
import type { Db } from '../postgres/client.ts'
import { type Account, type Role, toAccount } from './accounts.ts'

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
