import { type Author, auditRow } from '../audit/trail.ts'
import type { Role as RoleRow } from '../generated/client.ts'
import type { Db } from '../postgres/client.ts'

/** The kind of thing that the trail says was changed. */
const ROLE = 'role'

/** A role that an organization has made. */
export interface StoredRole {
  readonly organizationId: number
  readonly name: string
  readonly permissions: readonly string[]
  readonly description: string
  readonly createdAt: number
  readonly updatedAt: number
}

const toRole = (row: RoleRow): StoredRole => ({
  ...row,
  createdAt: row.createdAt.getTime(),
  updatedAt: row.updatedAt.getTime(),
})

/** Finds the roles of an organization that have one of the names, in the order of their names; all of them when left out. */
export async function findRoles(
  db: Pick<Db, 'prisma'>,
  organizationId: number,
  names?: readonly string[],
): Promise<StoredRole[]> {
  const where = { organizationId, ...(names && { name: { in: [...names] } }) }
  return (await db.prisma.role.findMany({ where, orderBy: { name: 'asc' } })).map(toRole)
}

/** What a role is made of. */
export type RoleContent = Pick<StoredRole, 'name' | 'permissions' | 'description'>

/**
 * Makes a role, or gives one that is there other permissions, with its row in the trail; the same again changes nothing.
 * @returns undefined where the organization has as many as it may have
 */
export async function saveRole(
  db: Db,
  author: Author,
  { name, permissions, description }: RoleContent,
  { most, now }: { readonly most: number; readonly now: number },
): Promise<StoredRole | undefined> {
  const { organizationId } = author
  return db.prisma.$transaction(async (tx) => {
    // One after the other in an organization: the number of roles is counted.
    await tx.$queryRaw`SELECT id FROM organization WHERE id = ${organizationId} FOR NO KEY UPDATE`
    const where = { organizationId_name: { organizationId, name } }
    const before = await tx.role.findUnique({ where })
    const content = { permissions: [...permissions], description }
    if (before?.description === description && before.permissions.join() === permissions.join()) return toRole(before)
    if (!before && (await tx.role.count({ where: { organizationId } })) >= most) return undefined
    const at = new Date(now)
    const row = await tx.role.upsert({
      where,
      create: { organizationId, name, ...content, createdAt: at, updatedAt: at },
      update: { ...content, updatedAt: at },
    })
    const trace = {
      action: before ? 'update' : 'create',
      before: before && { permissions: before.permissions, description: before.description },
      after: content,
    }
    await tx.auditEntry.create({ data: auditRow(db.pool, author, now, { entity: ROLE, id: name }, trace) })
    return toRole(row)
  })
}

/** What has a role: accounts by e-mail, and API keys that are not revoked by name. */
export interface RoleHolders {
  readonly accounts: readonly string[]
  readonly apiKeys: readonly string[]
}

/** Deletes a role that nobody has. @returns who has it, where somebody does; undefined where there is no such role */
export async function deleteRole(
  db: Db,
  author: Author,
  name: string,
  now: number,
): Promise<'deleted' | RoleHolders | undefined> {
  const { organizationId } = author
  return db.prisma.$transaction(async (tx) => {
    // Locked before it is seen who has it: who is given the role meanwhile waits for this transaction, and finds no role.
    const locked = await tx.$queryRaw<unknown[]>`
      SELECT name FROM role WHERE organization_id = ${organizationId} AND name = ${name} FOR UPDATE`
    const role =
      locked.length > 0 && (await tx.role.findUnique({ where: { organizationId_name: { organizationId, name } } }))
    if (!role) return undefined
    const having = { organizationId, roles: { has: name } }
    const accounts = await tx.account.findMany({ where: having, select: { email: true }, take: 3 })
    const apiKeys = await tx.apiKey.findMany({ where: { ...having, revokedAt: null }, select: { name: true }, take: 3 })
    if (accounts.length + apiKeys.length > 0)
      return { accounts: accounts.map(({ email }) => email), apiKeys: apiKeys.map((key) => key.name) }
    await tx.role.delete({ where: { organizationId_name: { organizationId, name } } })
    const trace = {
      action: 'delete',
      before: { permissions: role.permissions, description: role.description },
      after: null,
    }
    await tx.auditEntry.create({ data: auditRow(db.pool, author, now, { entity: ROLE, id: name }, trace) })
    return 'deleted'
  })
}

/** A transaction of Prisma, as far as roles are locked in it. */
interface Locking {
  $queryRaw<T>(query: TemplateStringsArray, ...values: unknown[]): Promise<T>
}

/** Locks roles that are being given to an account or a key, so that none is deleted meanwhile. @returns the names that are there */
export async function lockRoles(tx: Locking, organizationId: number, names: readonly string[]): Promise<string[]> {
  const rows = await tx.$queryRaw<{ name: string }[]>`
    SELECT name FROM role WHERE organization_id = ${organizationId} AND name = ANY (${[...names]}) ORDER BY name FOR SHARE`
  return rows.map(({ name }) => name)
}
