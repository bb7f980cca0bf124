import { AUDIT_COLUMNS, type AuditEntry, type AuditFilter, type AuditRow, conditionsOf, toAuditEntry } from './audit.ts'
import type { Db } from './client.ts'

/** A row of the trail, and whose it is: 0 is the service itself. */
export interface TrailRow extends AuditEntry {
  readonly organizationId: number
}

/** Which rows of the trail, and of which organization. */
export interface TrailFilter extends AuditFilter {
  readonly organizationId?: number | undefined
}

/** The latest rows of the trail, oldest first; of one organization, or of all and of the service itself. */
export async function latestTrail(db: Db, filter: TrailFilter, most: number): Promise<TrailRow[]> {
  const values: unknown[] = [filter.organizationId ?? null, most]
  const where = ['organization_id = whose.id', ...conditionsOf(filter, values)].join(' AND ')
  const { rows } = await db.pool.query<AuditRow & { organization_id: number }>(
    `WITH whose AS (SELECT id FROM organization UNION ALL SELECT 0)
     SELECT a.* FROM whose CROSS JOIN LATERAL (
       SELECT organization_id, ${AUDIT_COLUMNS} FROM audit_entry WHERE ${where} ORDER BY id DESC LIMIT $2
     ) AS a
     WHERE $1::int IS NULL OR whose.id = $1 ORDER BY a.id DESC LIMIT $2`,
    values,
  )
  return rows.reverse().map((row) => ({ organizationId: row.organization_id, ...toAuditEntry(row) }))
}
