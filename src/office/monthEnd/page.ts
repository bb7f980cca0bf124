import { type Html, html, type Part } from '../../api/http/html.ts'
import { monthOf } from '../../domain/accounting/months.ts'
import { addPeriods, dateIn } from '../../domain/dates.ts'
import type { Period } from '../../services/accounting/periods.ts'
import { monthEndCsv } from '../../services/monthEnd/csv.ts'
import { areLeft, type MonthEnd, readMonthEnd } from '../../services/monthEnd/monthEnd.ts'
import { type MonthPdf, printMonthEnd } from '../../services/monthEnd/pdf.ts'
import { type MonthTable, tablesOf } from '../../services/monthEnd/tables.ts'
import { STATE_WORDS } from '../../words/names.ts'
import { LANGUAGES, nameIn } from '../../words/words.ts'
import { type Desk, type Fields, textOf, timeText, wordOf } from '../desk.ts'
import { type Column, done, linkOf, money, page, share, table, tile, tiles } from '../layout/page.ts'
import { pageNeeds } from '../permissions.ts'

const PATH = '/month-end'

/**
 * Builds the page of the end of a month: its state and what is against a close, the financial statements, provisions, roll rates,
 * portfolio at risk, and the journal. Without a month it is of the oldest open one.
 * @throws LendingError as `readMonthEnd`
 */
export async function monthEndPage(desk: Desk, query: Fields): Promise<string> {
  const { deps, caller, say, language } = desk
  const found = await readMonthEnd(deps, caller, textOf(query, 'period', 7))
  const { month, firstDay, end } = found
  const title = say('monthEndOf', { month })
  const whole = monthOf(addPeriods(end, 1, 'days')) > month
  const body = html`<h1>${title}</h1>
${done(desk, query)}
<p>${say(whole ? 'monthWhole' : 'monthSoFar', { from: firstDay, to: end })}</p>
${monthForm(desk, found.periods, month)}
${state(desk, found)}
${tablesOf(found, language).map((one) => html`${tableOf(found, one)}\n`)}
${'refused' in found.provisions && html`<h2>${say('provisionsAsOf', { day: end })}</h2><p>${found.provisions.refused}</p>`}
<p>${say('byPolicyVersion', { version: found.atRisk.policy.version ?? 0 })} <a href="/arrears">${say('arrears')}</a> · <a href="/portfolio-at-risk">${say('overTime')}</a></p>`
  return page(desk, title, body)
}

/** Builds the choice of a month, and the months beside it. */
function monthForm({ say, deps, caller }: Desk, periods: readonly Period[], month: string): Html {
  const months = periods.map((one) => one.month)
  const all = months.includes(month) ? months : [month, ...months]
  const [before, after] = [-1, 1].map((by) => monthOf(addPeriods(`${month}-01`, by, 'months'))) as [string, string]
  const current = monthOf(dateIn(deps.config.zone, deps.now(caller.organizationId)))
  const option = (one: string) => html`<option${one === month && html` selected`}>${one}</option>`
  const link = (to: string, word: 'monthBefore' | 'monthAfter') =>
    html`<a href="${linkOf(PATH, { period: to })}">${say(word)}</a>`
  return html`<form action="${PATH}"><label>${say('month')} <select name="period">${all.map(option)}</select></label> <button>${say('show')}</button></form>
<p class="actions">${link(before, 'monthBefore')}${after <= current && link(after, 'monthAfter')}</p>`
}

/** Builds the state of a month, what can be done with it, and its files. */
function state(desk: Desk, found: MonthEnd): Html {
  const { say, language, may, deps } = desk
  const { month, firstDay, end, period, against, provisions, books, atRisk } = found
  const { zone } = deps.config
  const left = areLeft(provisions)
  const isClosable = period?.state === 'open' && against === undefined
  const mayClose = isClosable && may(pageNeeds('/month-end/:id/do/close'))
  const mayBook = left && may(pageNeeds('/month-end/:id/do/provisions'))
  const closedAt = period?.closedAt
  return html`${tiles([
    tile(say('state'), period ? nameIn(STATE_WORDS, language, period.state) : say('notOfBooks')),
    ...(closedAt == null ? [] : [tile(say('closed'), timeText(closedAt, zone))]),
    ...books.currencies.map(({ currency, incomeStatement }) =>
      tile(say('resultIn', { currency: currency.code }), money(incomeStatement.result, currency)),
    ),
    ...books.currencies.map(({ currency, balanceSheet }) =>
      tile(say('assetsIn', { currency: currency.code }), money(balanceSheet.totalAssets, currency)),
    ),
    ...atRisk.groups.map(({ currency, total }) =>
      tile(`PAR 30, ${currency}`, share(total.atRisk[1]!, total.principal)),
    ),
    tile(say('lastEvent'), String(books.sequence)),
  ])}
${period === undefined && html`<p>${say('notOfBooksMeans')}</p>`}
${period?.trialBalanceHash != null && html`<p>${say('hash')}: ${period.trialBalanceHash}</p>`}
${against !== undefined && html`<p>${say('againstClose', { why: against })}</p>`}
${isClosable && html`<p>${say('canBeClosed')}</p>`}
${'value' in provisions && html`<p>${left ? say('provisionsLeft', { day: end }) : say('provisionsAllBooked')}</p>`}
${(mayBook || mayClose) && html`<p class="actions">${mayBook && html`<a href="${PATH}/${month}/do/provisions">${say('bookProvisions', { day: end })}</a>`}${mayClose && html`<a href="${PATH}/${month}/do/close">${say('closeMonth', { month })}</a>`}</p>`}
<p>${say('filesOfMonth')}: ${LANGUAGES.map((one) => html`<a href="${PATH}/${month}.pdf?language=${one}">PDF (${one})</a> · `)}<a href="${PATH}/${month}.csv">CSV</a></p>
<p>${say('journalOfMonth')}: <a href="${linkOf('/journal', { from: firstDay, to: end })}">${say('journal')}</a> · <a href="/journal.csv?period=${month}">CSV</a> · <a href="/journal.hledger?period=${month}">hledger</a> · <a href="${linkOf('/trial-balance', { asOf: end })}">${say('trialBalance')}</a></p>`
}

/** Builds a table; the code of an account leads to its postings of the month. */
function tableOf({ firstDay, end }: MonthEnd, { heading, columns, rows, empty, isOfAccounts }: MonthTable): Html {
  const link = (code: string): Part =>
    code === '' ? '' : html`<a href="${linkOf('/journal', { from: firstDay, to: end, account: code })}">${code}</a>`
  const shown = columns.map(({ title, right, hasNames }): Column => {
    if (right) return [title, 'figure']
    return hasNames ? [title, 'words'] : [title]
  })
  const shownRow = (cells: readonly string[]): Part[] =>
    isOfAccounts ? [link(cells[0]!), ...cells.slice(1)] : [...cells]
  const strong = (cell: string): Part => (cell === '' ? '' : html`<strong>${cell}</strong>`)
  const parts = rows.map(({ cells, isSum }) => (isSum ? cells.map(strong) : shownRow(cells)))
  return table(heading, shown, parts, empty)
}

/** Writes the pack of a month as a CSV file. @throws LendingError as `readMonthEnd` */
export async function monthEndFile({ deps, caller }: Desk, month: string) {
  const found = await readMonthEnd(deps, caller, month)
  return { name: `month-end-${month}.csv`, content: monthEndCsv(found, deps.config.zone) }
}

/** Writes the pack of a month as a PDF, in the language that is asked for, or of the page. @throws LendingError as `printMonthEnd` */
export const monthEndPdf = ({ deps, caller, language }: Desk, month: string, query: Fields): Promise<MonthPdf> =>
  printMonthEnd(deps, caller, month, wordOf(LANGUAGES, query, 'language') ?? language)
