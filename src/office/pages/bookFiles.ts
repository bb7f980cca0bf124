import { Readable } from 'node:stream'
import { html } from '../../api/http/html.ts'
import { monthOf } from '../../domain/accounting/months.ts'
import { dateIn, toRfc3339 } from '../../domain/dates.ts'
import { type AuditEntry, listAudit } from '../../services/audit/audit.ts'
import type { ExportKind } from '../../services/book/bookExport.ts'
import { exportTable } from '../../services/book/bookExport.ts'
import { type Column, csvHead, csvRows, othersText } from '../../services/csv.ts'
import type { Desk } from '../desk.ts'
import { page, table } from '../layout/page.ts'
import { jsonText } from './audit.ts'

/** Rows of the trail that are read at once. */
const ROWS = 1_000

/** Returns the day of the person's organization, for the name of a file. */
export const today = ({ deps, caller }: Desk) => dateIn(deps.config.zone, deps.now(caller.organizationId))

/** Writes a table of the book as a CSV file. @throws LendingError as `exportTable` */
export const bookFile = (desk: Desk, kind: ExportKind) => ({
  name: `${kind}-${today(desk)}.csv`,
  content: exportTable(desk.deps, desk.caller, kind),
})

/** Writes the audit trail as a CSV file, newest first. @throws LendingError `permission_denied` */
export function auditFile(desk: Desk) {
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

/** Builds the page of the files: each table of the book as CSV. */
export function exportsPage(desk: Desk): string {
  const { deps, caller, say } = desk
  const month = monthOf(dateIn(deps.config.zone, deps.now(caller.organizationId)))
  const file = (path: string, name: string) => html`<a href="${path}">${name}</a>`
  const rows = [
    [file('/customers.csv', 'customers.csv'), say('allCustomers')],
    [file('/loans.csv', 'loans.csv'), say('allLoans')],
    [file('/transactions.csv', 'transactions.csv'), say('allTransactions')],
    [file('/payments.csv', 'payments.csv'), say('allPayments')],
    [file('/payments-in-suspense.csv', 'payments-in-suspense.csv'), say('waitingPayments')],
    [file('/arrears.csv', 'arrears.csv'), say('allArrears')],
    [file('/portfolio-at-risk.csv', 'portfolio-at-risk.csv'), say('parOverTime')],
    [file(`/journal.csv?period=${month}`, `journal-${month}.csv`), `${say('journal')} ${say('ofMonth')} ${month}`],
    [file('/audit.csv', 'audit.csv'), say('allTrail')],
  ]
  const body = html`<h1>${say('exports')}</h1>
<p>${say('exportsMean')}</p>
${table(say('exports'), [[say('file')], [say('content'), 'words']], rows, say('nothing'))}`
  return page(desk, say('exports'), body)
}
