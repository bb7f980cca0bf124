import { type Author, auditRow } from '../audit/trail.ts'
import type { Db } from '../postgres/client.ts'

/** The one row. */
const ID = 1

/** Reads the root secret, encrypted; undefined where KEY_ENCRYPTION_SECRET was never replaced, and is the root secret itself. */
export async function findRootSecret({ prisma }: Pick<Db, 'prisma'>): Promise<string | undefined> {
  return (await prisma.rootSecret.findUnique({ where: { id: ID } }))?.encrypted
}

/** Keeps the root secret, encrypted anew, with a row of the trail of the service itself. */
export async function keepRootSecret(db: Db, author: Author, encrypted: string, now: number): Promise<void> {
  const by = { ...author, organizationId: 0 }
  const subject = { entity: 'root secret', id: ID }
  const trace = { action: 'rotate', before: null, after: { rotatedAt: new Date(now) } }
  const row = { encrypted, rotatedAt: new Date(now) }
  await db.prisma.$transaction([
    db.prisma.rootSecret.upsert({ where: { id: ID }, create: { id: ID, ...row }, update: row }),
    db.prisma.auditEntry.create({ data: auditRow(db.pool, by, now, subject, trace) }),
  ])
}
