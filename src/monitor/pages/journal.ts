import { type Html, html } from '../../api/http/html.ts'
import { dateIn } from '../../domain/dates.ts'
import { firstDayOf, monthOf } from '../../domain/journal/months.ts'
import { getChart } from '../../services/journal/charts.ts'
import { listPostings, type Posting } from '../../services/journal/postings.ts'
import { POSTING_WORDS } from '../../words/names.ts'
import { nameIn } from '../../words/words.ts'
import type { Desk } from '../desk.ts'
import { money } from '../layout/figures.ts'
import { type Column, figures, linkOf, page, table } from '../layout/page.ts'
import { dayOf, type Fields, textOf } from '../query.ts'

const ROWS = 100

/** Builds the page of the journal: the postings booked on some days, those of this month when none are asked for. */
export async function journalPage(desk: Desk, query: Fields): Promise<string> {
  const { deps, caller, say } = desk
  const today = dateIn(deps.config.zone, deps.now(caller.organizationId))
  const from = dayOf(query, 'from') ?? firstDayOf(monthOf(today))!
  const to = dayOf(query, 'to') ?? today
  const [account, after] = [textOf(query, 'account', 20), textOf(query, 'after')]
  const found = await listPostings(deps, caller, { from, to, account, after, rows: ROWS })
  const nameOf = await accountNames(desk)
  const month = monthOf(to)
  const body = html`<h1>${say('journal')}</h1>
<form action="/journal">
<label>${say('from')} <input name="from" type="date" value="${from}"></label>
<label>${say('to')} <input name="to" type="date" value="${to}"></label>
<label>${say('account')} <input name="account" maxlength="20" size="8" value="${account ?? ''}"></label>
<button>${say('show')}</button></form>
<p>${month}: <a href="/journal.csv?period=${month}">CSV</a> · <a href="/journal.hledger?period=${month}">hledger</a></p>
${postings(desk, found.items, nameOf)}
${found.next !== undefined && html`<p><a href="${linkOf('/journal', { from, to, account, after: found.next })}">${say('more')}</a></p>`}`
  return page(desk, say('journal'), body)
}

/** Returns the function that writes an account with its name in the newest chart; the code alone where that has none. */
export async function accountNames({ deps, caller }: Desk): Promise<(code: string) => string> {
  const { chart } = await getChart(deps, caller)
  const names = new Map(chart.accounts.map(({ code, name }) => [code, `${code} ${name}`]))
  return (code) => names.get(code) ?? code
}

function postings({ say, language }: Desk, items: readonly Posting[], nameOf: (code: string) => string): Html {
  const rows = items.flatMap(({ id, kind, bookedOn, valueDate, loanId, currency, late, lines }) =>
    lines.map(({ account, debit, credit }, index) => [
      ...(index === 0
        ? [
            String(id),
            `${nameIn(POSTING_WORDS, language, kind)}${late ? `, ${say('late')}` : ''}`,
            bookedOn,
            valueDate,
            loanId === null ? '' : html`<a href="/loans/${loanId}">${loanId}</a>`,
          ]
        : ['', '', '', '', '']),
      nameOf(account),
      currency.code,
      debit === 0n ? '' : money(debit, currency),
      credit === 0n ? '' : money(credit, currency),
    ]),
  )
  const columns: Column[] = [
    ...([[say('posting')], [say('kind')], [say('bookedOn')], [say('valueDate')], [say('loan')]] as const),
    ...([[say('account')], [say('currency')]] as const),
  ]
  return table(say('postings'), [...columns, ...figures(say('debit'), say('credit'))], rows, say('noPostings'))
}
