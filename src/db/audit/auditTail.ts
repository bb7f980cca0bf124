import type { Db } from '../postgres/client.ts'
import {
  AUDIT_COLUMNS,
  type AuditEntry,
  type AuditFilter,
  type AuditRow,
  auditConditions,
  openEntries,
  toAuditEntry,
} from './audit.ts'

/** A row of the trail, and whose it is: 0 is the service itself. */
export interface TrailRow extends AuditEntry {
  readonly organizationId: number
}

/** The rows of the trail to read, and their organization. */
export interface TrailFilter extends AuditFilter {
  readonly organizationId?: number | undefined
}

/** The key of a row of the trail. */
export interface TrailKey {
  readonly organizationId: number
  readonly id: bigint
}

interface Row extends AuditRow {
  readonly organization_id: number
}

const toTrailRow = (row: Row): TrailRow => ({ organizationId: row.organization_id, ...toAuditEntry(row) })

const openRows = (db: Db, rows: readonly Row[]): Promise<readonly TrailRow[]> =>
  openEntries(db, rows.map(toTrailRow), ({ organizationId }) => organizationId)

/** Rows that the filter lets through, of one organization, or of all and of the service itself. */
function select(
  columns: string,
  order: 'ASC' | 'DESC',
  { organizationId, ...filter }: TrailFilter,
  most: number,
): { text: string; values: unknown[] } {
  const base = { texts: ['organization_id = whose.id'], values: [organizationId ?? null, most] }
  const { texts, values } = auditConditions(filter, base)
  const where = texts.join(' AND ')
  const text = `
    WITH whose AS (SELECT id FROM organization UNION ALL SELECT 0)
    SELECT a.* FROM whose CROSS JOIN LATERAL (
      SELECT organization_id, ${columns} FROM audit_entry WHERE ${where} ORDER BY id ${order} LIMIT $2
    ) AS a
    WHERE $1::int IS NULL OR whose.id = $1 ORDER BY a.id ${order} LIMIT $2`
  return { text, values: [...values] }
}

/** The latest rows of the trail, oldest first; of one organization, or of all and of the service itself. */
export async function latestTrail(db: Db, filter: TrailFilter, most: number): Promise<readonly TrailRow[]> {
  const { rows } = await db.pool.query<Row>(select(AUDIT_COLUMNS, 'DESC', filter, most))
  return openRows(db, rows.reverse())
}

/** The keys of the rows that match, oldest first: an index alone answers this. */
export async function listTrailKeys(db: Db, filter: TrailFilter, most: number): Promise<TrailKey[]> {
  const { rows } = await db.pool.query<{ organization_id: number; id: bigint }>(select('id', 'ASC', filter, most))
  return rows.map(({ organization_id: organizationId, id }) => ({ organizationId, id }))
}

/** The rows that are there, oldest first. */
export async function readTrailRows(db: Db, keys: readonly TrailKey[]): Promise<readonly TrailRow[]> {
  const { rows } = await db.pool.query<Row>(
    `SELECT organization_id, ${AUDIT_COLUMNS} FROM audit_entry
     JOIN unnest($1::int[], $2::bigint[]) AS key (organization_id, id) USING (organization_id, id) ORDER BY id`,
    [keys.map(({ organizationId }) => organizationId), keys.map(({ id }) => id)],
  )
  return openRows(db, rows)
}
