import type { Logo } from '../../domain/organization/logo.ts'
import type { Db } from '../postgres/client.ts'

/** Returns the logo of an organization; null where it has none. */
export async function findLogo(db: Db, organizationId: number): Promise<Logo | null> {
  const row = await db.prisma.organizationLogo.findUnique({ where: { organizationId } })
  return row && { type: row.type === 'image/png' ? 'image/png' : 'image/jpeg', content: row.content }
}

/** Returns whether an organization has a logo. */
export async function hasLogo(db: Db, organizationId: number): Promise<boolean> {
  return (await db.prisma.organizationLogo.count({ where: { organizationId } })) > 0
}
