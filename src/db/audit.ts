import type { Db } from './client.ts'
import type { Listed, Page } from './loans.ts'

/** A row of the audit trail: who changed what, when, in which request, and what it was before and after. */
export interface AuditEntry {
  readonly id: bigint
  readonly at: number
  /** Null: the service by itself. */
  readonly accountId: number | null
  readonly requestId: string | null
  readonly action: string
  readonly entity: string
  readonly entityId: string
  readonly before: unknown
  readonly after: unknown
}

/** Which rows to read. */
export interface AuditFilter {
  readonly entity?: string | undefined
  readonly entityId?: string | undefined
  readonly accountId?: number | undefined
}

/** A page of an organization's audit trail, newest first. */
export async function listAudit(
  db: Db,
  organizationId: number,
  filter: AuditFilter,
  { page, rows }: Page,
): Promise<Listed<AuditEntry>> {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined)
  const where = { organizationId, ...Object.fromEntries(given) }
  const [total, items] = await Promise.all([
    db.prisma.auditEntry.count({ where }),
    db.prisma.auditEntry.findMany({ where, orderBy: { id: 'desc' }, skip: (page - 1) * rows, take: rows }),
  ])
  return { items: items.map(({ organizationId: _, at, ...entry }) => ({ ...entry, at: at.getTime() })), total }
}
