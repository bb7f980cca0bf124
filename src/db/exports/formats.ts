import { createHash } from 'node:crypto'
import { type Author, auditRow, keyRows } from '../audit/trail.ts'
import type { Prisma, ExportFormat as Row } from '../generated/client.ts'
import type { Db } from '../postgres/client.ts'

/** A lender's own layout of files, as it was stored. */
export interface StoredFormat {
  readonly organizationId: number
  readonly id: bigint
  readonly name: string
  readonly version: string
  readonly document: unknown
  readonly createdAt: number
}

/** The name of a format in the audit trail. */
export const EXPORT_FORMAT = 'export format'

const toFormat = ({ createdAt, ...row }: Row): StoredFormat => ({ ...row, createdAt: createdAt.getTime() })

/** Finds the newest version of a lender's own format, or the one that is named. */
export async function findFormat(
  db: Db,
  organizationId: number,
  { name, version }: { readonly name: string; readonly version?: string | undefined },
): Promise<StoredFormat | undefined> {
  const row = await db.prisma.exportFormat.findFirst({
    where: { organizationId, name, ...(version !== undefined && { version }) },
    orderBy: { id: 'desc' },
  })
  return row ? toFormat(row) : undefined
}

/** Lists the versions of a lender's own formats, the newest first. @param most how many at most */
export async function findFormats(db: Db, organizationId: number, most: number): Promise<StoredFormat[]> {
  const rows = await db.prisma.exportFormat.findMany({ where: { organizationId }, orderBy: { id: 'desc' }, take: most })
  return rows.map(toFormat)
}

/** Counts the versions of a lender's own formats. */
export const countFormats = (db: Db, organizationId: number): Promise<number> =>
  db.prisma.exportFormat.count({ where: { organizationId } })

/** Inserts a version, with its row of the trail. @throws a unique violation where the version is there */
export async function insertFormat(db: Db, author: Author, format: StoredFormat): Promise<void> {
  const { organizationId, id, name, version, createdAt } = format
  const document = format.document as Prisma.InputJsonObject
  const sha256 = createHash('sha256').update(JSON.stringify(document)).digest('hex')
  const trace = { action: 'create', before: null, after: { name, version, sha256 } }
  await db.prisma.$transaction([
    db.prisma.exportFormat.create({
      data: { organizationId, id, name, version, document, createdAt: new Date(createdAt) },
    }),
    db.prisma.auditEntry.create({ data: auditRow(db.pool, author, createdAt, { entity: EXPORT_FORMAT, id }, trace) }),
    db.prisma.idempotencyKey.createMany({ data: keyRows(author, EXPORT_FORMAT, Number(id)) }),
  ])
}
