import { html } from '../../api/http/html.ts'
import { dateIn } from '../../domain/dates.ts'
import { monthOf } from '../../domain/journal/months.ts'
import { requireReader } from '../../services/access/caller.ts'
import type { Desk } from '../desk.ts'
import { page, table } from '../layout/page.ts'

/** Builds the page of the files: each table of the book as CSV. */
export function exportsPage(desk: Desk): string {
  const { deps, caller, say } = desk
  requireReader(caller)
  const month = monthOf(dateIn(deps.config.zone, deps.now(caller.organizationId)))
  const file = (path: string, name: string) => html`<a href="${path}">${name}</a>`
  const rows = [
    [file('/customers.csv', 'customers.csv'), say('allCustomers')],
    [file('/loans.csv', 'loans.csv'), say('allLoans')],
    [file('/transactions.csv', 'transactions.csv'), say('allTransactions')],
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
