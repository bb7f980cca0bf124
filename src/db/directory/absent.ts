import type { Db } from '../postgres/client.ts'

/** Returns the organizations whose rows are in a book and are not to be worked on: on their way into it, or gone to another one. */
export async function listAbsent({ prisma }: Pick<Db, 'prisma'>): Promise<number[]> {
  const rows = await prisma.absentOrganization.findMany({ select: { organizationId: true } })
  return rows.map(({ organizationId }) => organizationId)
}

/** Says that an organization is on its way into a book. */
export async function markArriving({ prisma }: Pick<Db, 'prisma'>, organizationId: number): Promise<void> {
  const leftAt = null
  await prisma.absentOrganization.upsert({
    where: { organizationId },
    create: { organizationId, leftAt },
    update: { leftAt },
  })
}

/** Says that an organization has left a book. */
export async function markLeft({ prisma }: Pick<Db, 'prisma'>, organizationId: number, now: number): Promise<void> {
  const leftAt = new Date(now)
  await prisma.absentOrganization.upsert({
    where: { organizationId },
    create: { organizationId, leftAt },
    update: { leftAt },
  })
}

/** Says that an organization which was on its way into a book has arrived. One that has left stays marked. */
export async function markArrived({ prisma }: Pick<Db, 'prisma'>, organizationId: number): Promise<void> {
  await prisma.absentOrganization.deleteMany({ where: { organizationId, leftAt: null } })
}

/** Takes back that an organization has left a book, by the mark as it is now: that of a later move stays, however late this comes. */
export async function takeBackLeft({ prisma }: Pick<Db, 'prisma'>, organizationId: number): Promise<void> {
  const found = await prisma.absentOrganization.findUnique({ where: { organizationId } })
  if (!found?.leftAt) return
  // A moment here has milliseconds, and one of the database more.
  const leftAt = { gte: found.leftAt, lt: new Date(found.leftAt.getTime() + 1) }
  await prisma.absentOrganization.deleteMany({ where: { organizationId, leftAt } })
}

/** Forgets whether an organization is on its way into a book, or has left it: nothing of it is there. */
export async function forgetAbsent({ prisma }: Pick<Db, 'prisma'>, organizationId: number): Promise<void> {
  await prisma.absentOrganization.deleteMany({ where: { organizationId } })
}
