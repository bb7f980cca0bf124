import type { Db } from '../postgres/client.ts'
import type { Listed, Page } from '../queries/paging.ts'
import { moment } from '../queries/rows.ts'

/** A row of the audit trail: who changed what, when, in which request, and what it was before and after. */
export interface AuditEntry {
  readonly id: bigint
  readonly at: number
  /** Null: the service itself, or an operator at the command line. */
  readonly accountId: number | null
  readonly requestId: string | null
  readonly action: string
  readonly entity: string
  readonly entityId: string
  /** To be written as JSON: a number that JavaScript cannot hold is in it as it was written. */
  readonly before: unknown
  readonly after: unknown
}

/** The rows to read; a property that is left out sets no condition. */
export interface AuditFilter {
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

/** A page of an organization's audit trail, newest first. */
export async function listAudit(
  db: Db,
  organizationId: number,
  filter: AuditFilter,
  { page, rows }: Page,
): Promise<Listed<AuditEntry>> {
  const values: unknown[] = [organizationId]
  const where = ['organization_id = $1', ...conditionsOf(filter, values)].join(' AND ')
  const [counted, listed] = await Promise.all([
    db.pool.query<{ total: number }>(`SELECT count(*)::int AS total FROM audit_entry WHERE ${where}`, values),
    db.pool.query<AuditRow>(
      `SELECT ${AUDIT_COLUMNS} FROM audit_entry WHERE ${where}
       ORDER BY id DESC OFFSET $${values.length + 1} LIMIT $${values.length + 2}`,
      [...values, (page - 1) * rows, rows],
    ),
  ])
  return { items: listed.rows.map(toAuditEntry), total: counted.rows[0]?.total ?? 0 }
}

const CONDITIONS: Readonly<Record<keyof AuditFilter, string>> = {
  entity: 'entity = ?',
  entityId: 'entity_id = ?',
  accountId: 'account_id = ?',
  action: 'action = ?',
  requestId: 'request_id = ?',
  since: 'at >= ?',
  until: 'at < ?',
  above: 'id > ?',
}

/** SQL for what the filter asks for; its parameters are added to `values`. */
export const conditionsOf = (filter: AuditFilter, values: unknown[]): string[] =>
  Object.entries(CONDITIONS).flatMap(([name, condition]) => {
    const value = filter[name as keyof AuditFilter]
    if (value === undefined) return []
    values.push(name === 'since' || name === 'until' ? moment(Number(value)) : value)
    return [condition.replace('?', `$${values.length}`)]
  })

/** The columns that `toAuditEntry` reads; the JSON as text, because the driver would round its ids. */
export const AUDIT_COLUMNS =
  'id, at, account_id, request_id, action, entity, entity_id, before::text AS before, after::text AS after'

export interface AuditRow {
  readonly id: bigint
  readonly at: number
  readonly account_id: number | null
  readonly request_id: string | null
  readonly action: string
  readonly entity: string
  readonly entity_id: string
  readonly before: string | null
  readonly after: string | null
}

export const toAuditEntry = (row: AuditRow): AuditEntry => ({
  id: row.id,
  at: row.at,
  accountId: row.account_id,
  requestId: row.request_id,
  action: row.action,
  entity: row.entity,
  entityId: row.entity_id,
  before: exactly(row.before),
  after: exactly(row.after),
})

/** JSON as values, where a number is kept as its text if a double would write it otherwise. */
const exactly = (text: string | null): unknown =>
  text === null
    ? null
    : JSON.parse(text, (_, value: unknown, { source }) =>
        typeof value === 'number' && source !== undefined && String(value) !== source ? JSON.rawJSON(source) : value,
      )
