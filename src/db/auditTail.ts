import type { AuditEntry } from './audit.ts'
import type { Db } from './client.ts'
import { moment } from './rows.ts'

/** A row of the trail, and whose it is: 0 is the service itself. */
export interface TrailRow extends AuditEntry {
  readonly organizationId: number
}

/** Which rows of the trail; what is left out is not asked for. */
export interface TrailFilter {
  readonly organizationId?: number | undefined
  readonly entity?: string | undefined
  readonly entityId?: string | undefined
  readonly accountId?: number | undefined
  readonly action?: string | undefined
  /** The request, or the run of the command line. */
  readonly requestId?: string | undefined
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** Only rows whose number is above this. */
  readonly above?: bigint | undefined
}

const CONDITIONS: Readonly<Record<Exclude<keyof TrailFilter, 'organizationId'>, string>> = {
  entity: 'entity = ?',
  entityId: 'entity_id = ?',
  accountId: 'account_id = ?',
  action: 'action = ?',
  requestId: 'request_id = ?',
  since: 'at >= ?',
  until: 'at < ?',
  above: 'id > ?',
}

/** The latest rows of the trail, oldest first; of one organization, or of all and of the service itself. */
export async function latestTrail(db: Db, filter: TrailFilter, most: number): Promise<TrailRow[]> {
  const values: unknown[] = [filter.organizationId ?? null, most]
  const conditions = Object.entries(CONDITIONS).flatMap(([name, condition]) => {
    const value = filter[name as keyof TrailFilter]
    if (value === undefined) return []
    values.push(name === 'since' || name === 'until' ? moment(Number(value)) : value)
    return [condition.replace('?', `$${values.length}`)]
  })
  const { rows } = await db.pool.query<Row>(
    `WITH whose AS (SELECT id FROM organization UNION ALL SELECT 0)
     SELECT a.* FROM whose CROSS JOIN LATERAL (
       SELECT organization_id, id, at, account_id, request_id, action, entity, entity_id, before, after FROM audit_entry
       WHERE ${['organization_id = whose.id', ...conditions].join(' AND ')} ORDER BY id DESC LIMIT $2
     ) AS a
     WHERE $1::int IS NULL OR whose.id = $1 ORDER BY a.id DESC LIMIT $2`,
    values,
  )
  return rows.reverse().map((row) => ({
    organizationId: row.organization_id,
    id: row.id,
    at: row.at,
    accountId: row.account_id,
    requestId: row.request_id,
    action: row.action,
    entity: row.entity,
    entityId: row.entity_id,
    before: row.before,
    after: row.after,
  }))
}

interface Row {
  organization_id: number
  id: bigint
  at: number
  account_id: number | null
  request_id: string | null
  action: string
  entity: string
  entity_id: string
  before: unknown
  after: unknown
}
