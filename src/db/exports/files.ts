import type { Instant, LocalDate } from '../../domain/dates.ts'
import type { ExportMode, ExportState, LineKind } from '../../domain/exports/vocabulary.ts'
import { type Author, auditRow, keyRows, service, type TrailValues, trail, trailValues } from '../audit/trail.ts'
import type { Prisma, ExportFile as Row } from '../generated/client.ts'
import type { Db } from '../postgres/client.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { cursorAt, type Found, type Position, sliceOf } from '../queries/cursor.ts'
import { type Parameter, type Queries, statement } from '../queries/statement.ts'

/** What loans of a currency sum to. Amounts in minor units, as text. */
export interface ExportSum {
  readonly loans: number
  /** What was lent. */
  readonly principal: string
  readonly principalOutstanding: string
  readonly outstanding: string
  readonly overdue: string
}

/** Sums by kind of line and by currency, and the loans that are left out, by reason. */
export interface ExportSums extends Readonly<Partial<Record<LineKind, Readonly<Record<string, ExportSum>>>>> {
  readonly reasons?: Readonly<Record<string, number>>
}

/** A file for a credit bureau or a supervisor. */
export interface ExportFile {
  readonly organizationId: number
  readonly id: bigint
  readonly format: string
  readonly formatVersion: string
  /** The layout as it was then. */
  readonly document: unknown
  readonly settings: Readonly<Record<string, string>>
  readonly asOf: LocalDate
  readonly mode: ExportMode
  /** Of corrections: the accepted file with which the lines are compared. */
  readonly corrects: bigint | null
  readonly knownAt: Instant
  readonly state: ExportState
  /** Null while it is made. */
  readonly figures: ExportSums | null
  readonly sha256: Uint8Array | null
  readonly bytes: bigint | null
  readonly createdAt: Instant
  readonly finishedAt: Instant | null
  readonly acceptedAt: Instant | null
  /** The last loan that was looked at, and how many were of how many. */
  readonly position: bigint
  readonly done: number
  readonly total: number
  readonly sums: ExportSums
}

/** The name of a file in the audit trail. */
export const EXPORT_FILE = 'export file'

/** The orders of the list of files. */
export const EXPORT_ORDER = 'export-files'

const toFile = (row: Row): ExportFile => ({
  ...row,
  settings: row.settings as ExportFile['settings'],
  asOf: row.asOf.toISOString().slice(0, 10),
  mode: row.mode as ExportMode,
  state: row.state as ExportState,
  figures: row.figures as ExportSums | null,
  sums: row.sums as unknown as ExportSums,
  knownAt: row.knownAt.getTime(),
  createdAt: row.createdAt.getTime(),
  finishedAt: row.finishedAt?.getTime() ?? null,
  acceptedAt: row.acceptedAt?.getTime() ?? null,
})

/** Finds a file of an organization. */
export async function findFile(
  db: Pick<Db, 'prisma'>,
  organizationId: number,
  id: bigint,
): Promise<ExportFile | undefined> {
  const row = await db.prisma.exportFile.findUnique({ where: { organizationId_id: { organizationId, id } } })
  return row ? toFile(row) : undefined
}

/** Finds files in the order in which they were asked for; the newest first where a step has no cursor and `newest`. */
export async function findFiles(
  db: Db,
  { organizationId, format }: { readonly organizationId: number; readonly format?: string | undefined },
  position: Position,
): Promise<Found<ExportFile>> {
  const where = { organizationId, ...(format !== undefined && { format }) }
  const orderBy = { id: 'asc' } as const
  const isPage = 'page' in position
  const above = isPage ? {} : { id: { gt: position.cursor?.floor ?? 0n } }
  const rows = await db.prisma.exportFile.findMany({
    where: { ...where, ...above },
    orderBy,
    ...(isPage ? sliceOf(position) : { take: position.rows }),
  })
  const total = isPage ? await db.prisma.exportFile.count({ where }) : undefined
  return { items: rows.map(toFile), total, next: cursorAt(EXPORT_ORDER, rows.at(-1)?.id) }
}

/** Finds the newest files, or those before one of them. */
export async function findNewestFiles(
  db: Db,
  organizationId: number,
  { before, rows }: { readonly before: bigint | undefined; readonly rows: number },
): Promise<ExportFile[]> {
  const where = { organizationId, ...(before !== undefined && { id: { lt: before } }) }
  return (await db.prisma.exportFile.findMany({ where, orderBy: { id: 'desc' }, take: rows })).map(toFile)
}

/** Finds the files that are being made. */
export const findRunning = async (db: Db, organizationId: number): Promise<ExportFile[]> =>
  (await db.prisma.exportFile.findMany({ where: { organizationId, state: 'running' }, orderBy: { id: 'asc' } })).map(
    toFile,
  )

/** Finds the file of a format that the receiver accepted last: of a day, or of any. */
export async function findAccepted(
  db: Db,
  organizationId: number,
  { format, asOf }: { readonly format: string; readonly asOf: LocalDate | undefined },
): Promise<ExportFile | undefined> {
  const day = asOf === undefined ? {} : { asOf: new Date(`${asOf}T00:00:00Z`) }
  const row = await db.prisma.exportFile.findFirst({
    where: { organizationId, format, state: 'accepted', ...day },
    orderBy: [{ acceptedAt: 'desc' }, { id: 'desc' }],
  })
  return row ? toFile(row) : undefined
}

/** What is asked for. */
export type NewFile = Pick<
  ExportFile,
  | 'organizationId'
  | 'id'
  | 'format'
  | 'formatVersion'
  | 'document'
  | 'settings'
  | 'asOf'
  | 'mode'
  | 'corrects'
  | 'knownAt'
  | 'createdAt'
>

/** Inserts a file that is to be made, with its row of the trail. */
export async function insertFile(db: Db, author: Author, file: NewFile): Promise<void> {
  const { organizationId, id, format, formatVersion, settings, asOf, mode, corrects, createdAt } = file
  const after = {
    format,
    version: formatVersion,
    settings,
    asOf,
    mode,
    corrects: corrects === null ? null : String(corrects),
  }
  const trace = { action: 'request', before: null, after }
  await db.prisma.$transaction([
    db.prisma.exportFile.create({
      data: {
        organizationId,
        id,
        format,
        formatVersion,
        document: file.document as Prisma.InputJsonObject,
        settings,
        asOf: new Date(`${asOf}T00:00:00Z`),
        mode,
        corrects,
        knownAt: new Date(file.knownAt),
        state: 'running',
        createdAt: new Date(createdAt),
      },
    }),
    db.prisma.auditEntry.create({ data: auditRow(db.pool, author, createdAt, { entity: EXPORT_FILE, id }, trace) }),
    db.prisma.idempotencyKey.createMany({ data: keyRows(author, EXPORT_FILE, Number(id)) }),
  ])
}

const whose = statement<object>(
  'organizations-with-running-exports',
  () => `SELECT DISTINCT organization_id AS id FROM export_file WHERE state = 'running' ORDER BY 1`,
)

/** Finds the organizations for which a file is being made. */
export async function findExporting({ pool }: Queries): Promise<number[]> {
  return (await pool.query<{ id: number }>(whose({}))).rows.map(({ id }) => id)
}

const lock = statement<{ organizationId: number }>(
  'lock-running-export',
  (
    p,
  ) => `SELECT organization_id AS "organizationId", id, format, format_version AS "formatVersion", document, settings, as_of AS "asOf", mode,
    corrects, known_at AS "knownAt", state, figures, sha256, bytes, created_at AS "createdAt", finished_at AS "finishedAt",
    accepted_at AS "acceptedAt", position, done, total, sums
  FROM export_file WHERE organization_id = ${p('organizationId')} AND state = 'running'
  ORDER BY id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED`,
)

/** Locks the file that is made next; undefined where there is none, or others make it. */
export async function lockRunning(transaction: Transaction, organizationId: number): Promise<ExportFile | undefined> {
  return (await transaction.query<ExportFile>(lock({ organizationId }))).rows[0]
}

/** How far a file has come. */
export type ExportProgress = Pick<ExportFile, 'organizationId' | 'id' | 'position' | 'done' | 'total' | 'sums'>

const progress = statement<Omit<ExportProgress, 'sums'> & { sums: string }>(
  'save-export-progress',
  (
    p,
  ) => `UPDATE export_file SET position = ${p('position')}, done = ${p('done')}, total = ${p('total')}, sums = ${p('sums')}::jsonb
    WHERE organization_id = ${p('organizationId')} AND id = ${p('id')}`,
)

/** Saves how far a file has come. */
export const saveProgress = async (transaction: Transaction, { sums, ...at }: ExportProgress): Promise<void> =>
  void (await transaction.query(progress({ ...at, sums: JSON.stringify(sums) })))

interface Finished extends TrailValues {
  readonly id: bigint
  readonly figures: string
  readonly sha256: string
  readonly bytes: bigint
}

const finish = statement<Finished>(
  'finish-export',
  (p) => `
  WITH finished AS (
    UPDATE export_file SET state = 'ready', figures = ${p('figures')}::jsonb, sha256 = decode(${p('sha256')}, 'hex'),
      bytes = ${p('bytes')}, finished_at = ${p('changedAt')}
    WHERE organization_id = ${p('organizationId')} AND id = ${p('id')} AND state = 'running' RETURNING id
  ), ${trail(p as Parameter<TrailValues>, 'finished', EXPORT_FILE)}
  SELECT id FROM finished`,
)

/** The content of a file that is made. */
export interface ExportContent {
  /** Hexadecimal. */
  readonly sha256: string
  readonly bytes: bigint
}

/** Says that a file is made, with its row of the trail. */
export async function finishFile(
  transaction: Transaction,
  { organizationId, id, sums }: ExportProgress,
  { sha256, bytes }: ExportContent,
  now: Instant,
): Promise<void> {
  const trace = { action: 'complete', before: null, after: { state: 'ready', sha256 } }
  const traced = trailValues(transaction, service(organizationId), now, { entity: EXPORT_FILE, id }, trace)
  await transaction.query(finish({ ...traced, id, figures: JSON.stringify(sums), sha256, bytes }))
}

const accept = statement<TrailValues & { id: bigint }>(
  'accept-export',
  (p) => `
  WITH accepted AS (
    UPDATE export_file SET state = 'accepted', accepted_at = ${p('changedAt')}
    WHERE organization_id = ${p('organizationId')} AND id = ${p('id')} AND state = 'ready' RETURNING id
  ), ${trail(p as Parameter<TrailValues>, 'accepted', EXPORT_FILE)}
  SELECT id FROM accepted`,
)

/** Says that the receiver has accepted a file. @returns false where it is not ready, or was accepted before */
export async function acceptFile(db: Pick<Db, 'pool'>, author: Author, id: bigint, now: Instant): Promise<boolean> {
  const trace = { action: 'accept', before: { state: 'ready' }, after: { state: 'accepted' } }
  const traced = trailValues(db.pool, author, now, { entity: EXPORT_FILE, id }, trace)
  return (await db.pool.query(accept({ ...traced, id }))).rowCount === 1
}
