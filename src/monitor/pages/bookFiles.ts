import { Readable } from 'node:stream'
import { stringify } from 'csv-stringify/sync'
import { dateIn, toRfc3339 } from '../../domain/dates.ts'
import { BYTE_ORDER_MARK, markText } from '../../domain/spreadsheetText.ts'
import { requireReader } from '../../services/access/caller.ts'
import { type AuditEntry, listAudit } from '../../services/audit/audit.ts'
import type { ExportKind } from '../../services/book/bookExport.ts'
import { exportTable } from '../../services/book/exportCsv.ts'
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

const COLUMNS = ['id', 'at', 'accountId', 'action', 'entity', 'entityId', 'before', 'after', 'requestId']

async function* auditParts({ deps, caller }: Desk): AsyncGenerator<string> {
  yield `${BYTE_ORDER_MARK}${stringify([COLUMNS])}`
  const rowOf = (entry: AuditEntry) => [
    String(entry.id),
    toRfc3339(entry.at, deps.config.zone),
    String(entry.accountId ?? ''),
    ...[entry.action, entry.entity, entry.entityId, jsonText(entry.before), jsonText(entry.after)].map((one) =>
      markText(one),
    ),
    entry.requestId ?? '',
  ]
  let after: string | undefined
  do {
    const range = after === undefined ? { rows: ROWS } : { rows: ROWS, after }
    const { items, next } = await listAudit(deps, caller, {}, range)
    if (items.length > 0) yield stringify(items.map(rowOf))
    after = items.length === ROWS ? next : undefined
  } while (after !== undefined)
}
