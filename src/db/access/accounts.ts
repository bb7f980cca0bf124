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
