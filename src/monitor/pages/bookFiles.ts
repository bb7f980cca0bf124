import { Readable } from 'node:stream'
import { dateIn, toRfc3339 } from '../../domain/dates.ts'
import { requireReader } from '../../services/access/caller.ts'
import { type AuditEntry, listAudit } from '../../services/audit/audit.ts'
import type { ExportKind } from '../../services/book/bookExport.ts'
import { exportTable } from '../../services/book/exportCsv.ts'
import { type Column, csvHead, csvRows, othersText } from '../../services/csv.ts'
import type { Desk } from '../desk.ts'
import { jsonText } from '../trail/audit.ts'

/** Rows of the trail that are read at once. */
const ROWS = 1_000

const today = ({ deps, caller }: Desk) => dateIn(deps.config.zone, deps.now(caller.organizationId))

/** Writes a table of the book as a CSV file. @throws LendingError as `exportTable` */
export const bookFile = (desk: Desk, kind: ExportKind) => ({
  name: `${kind}-${today(desk)}.csv`,
  content: exportTable(desk.deps, desk.caller, kind),
})

/** Writes the audit trail as a CSV file, newest first. @throws LendingError `permission_denied` */
export function auditFile(desk: Desk) {
  requireReader(desk.caller)
  return { name: `audit-trail-${today(desk)}.csv`, content: Readable.from(auditParts(desk)) }
}

async function* auditParts({ deps, caller }: Desk): AsyncGenerator<string> {
  const columns: readonly Column<AuditEntry>[] = [
    ['id', ({ id }) => String(id)],
    ['at', ({ at }) => toRfc3339(at, deps.config.zone)],
    ['accountId', ({ accountId }) => accountId],
    ['action', ({ action }) => othersText(action)],
    ['entity', ({ entity }) => othersText(entity)],
    ['entityId', ({ entityId }) => othersText(entityId)],
    ['before', ({ before }) => othersText(jsonText(before))],
    ['after', ({ after }) => othersText(jsonText(after))],
    ['requestId', ({ requestId }) => requestId],
  ]
  yield csvHead(columns)
  let after: string | undefined
  do {
    const range = after === undefined ? { rows: ROWS } : { rows: ROWS, after }
    const { items, next } = await listAudit(deps, caller, {}, range)
    if (items.length > 0) yield csvRows(columns, items)
    after = items.length === ROWS ? next : undefined
  } while (after !== undefined)
}
