import type { Db } from './client.ts'
import { auditRow, service } from './trail.ts'

/** A lender: everything in the book belongs to one. */
export interface Organization {
  readonly id: number
  readonly name: string
  readonly currency: string
  readonly officeId: string
  readonly officeName: string
}

export async function findOrganization(db: Db, id: number): Promise<Organization | undefined> {
  return (await db.prisma.organization.findUnique({ where: { id } })) ?? undefined
}

export async function insertOrganization(
  db: Db,
  organization: { id: number; name: string; currency: string },
  now: number,
): Promise<void> {
  const { id, ...after } = organization
  await db.prisma.$transaction([
    db.prisma.organization.create({ data: { ...organization, createdAt: new Date(now) } }),
    db.prisma.auditEntry.create({
      data: auditRow(service(id), now, 'organization', id, { action: 'create', before: null, after }),
    }),
  ])
}
