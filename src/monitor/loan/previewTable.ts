import { type Html, html } from '../../api/http/html.ts'
import type { LoanState } from '../../domain/loan/replay.ts'
import type { Preview } from '../../services/loans/changes/preview.ts'
import { type Desk, sayName } from '../desk.ts'
import { money } from '../layout/figures.ts'
import { figures, table } from '../layout/page.ts'

/** Builds the table of a loan as it is and as it becomes: its figures, and the instalments that change. */
export function previewTable({ say }: Desk, { loan, before, after }: Preview): Html {
  const of = (minor: bigint) => money(minor, loan.terms.currency)
  const status = (state: LoanState) => sayName(say, state.status)
  const rows: [string, (state: LoanState) => string][] = [
    [say('status'), status],
    [say('principal'), ({ outstanding }) => of(outstanding.principal)],
    [say('interest'), ({ outstanding }) => of(outstanding.interest)],
    [say('fees'), ({ outstanding }) => of(outstanding.fees)],
    [say('penalty'), ({ outstanding }) => of(outstanding.penalty)],
    [say('outstanding'), ({ totalOutstanding }) => of(totalOutstanding)],
    [say('overdue'), ({ totalOverdue }) => of(totalOverdue)],
    [say('paid'), ({ totalPaid }) => of(totalPaid)],
    [say('overpaid'), ({ totalOverpaid }) => of(totalOverpaid)],
  ]
  const mark = (changed: boolean, text: string) => (changed ? html`<strong>${text}</strong>` : text)
  const cells = rows.map(([name, read]) => {
    const [now, then] = [read(before), read(after)]
    return [name, now, mark(now !== then, then)]
  })
  const periods = after.periods.map((period, index) => ({ period, was: before.periods[index]?.owed ?? 0n }))
  const changed = periods
    .filter(({ period, was }) => period.owed !== was)
    .map(({ period, was }) => [`${period.period}`, period.dueDate, of(was), mark(true, of(period.owed))])
  return html`${table(say('previewTitle'), [[''], ...figures(say('now'), say('afterwards'))], cells, say('nothing'))}
${changed.length > 0 && table(`${say('schedule')}: ${say('owed')}`, [['#'], [say('dueOn')], ...figures(say('now'), say('afterwards'))], changed, say('nothing'))}`
}
