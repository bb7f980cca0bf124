import { type Html, html } from '../../api/http/html.ts'
import { firstDayOf, lastDayOf, monthOf } from '../../domain/accounting/months.ts'
import { BASES } from '../../domain/accounting/trialBalance.ts'
import { dateIn } from '../../domain/dates.ts'
import { currencyCodes } from '../../domain/money.ts'
import { getChart } from '../../services/accounting/charts.ts'
import { listPeriods, type Period } from '../../services/accounting/periods.ts'
import { listPostings, type Posting } from '../../services/accounting/postings.ts'
import { getTrialBalance, type TrialBalanceView } from '../../services/accounting/trialBalance.ts'
import { ACCOUNT_WORDS, POSTING_WORDS, STATE_WORDS } from '../../words/names.ts'
import { nameIn } from '../../words/words.ts'
import { type Desk, dayOf, type Fields, textOf, timeText, wordOf } from '../desk.ts'
import { type Column, figures, linkOf, money, page, table } from '../layout/page.ts'

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

/**
 * Builds the page of the trial balance of the person's organization, with the months of its books.
 * @throws LendingError `invalid_argument`; `unavailable` while the journal is behind
 */
export async function trialBalancePage(desk: Desk, query: Fields): Promise<string> {
  const { deps, caller, say } = desk
  const asked = {
    asOf: dayOf(query, 'asOf'),
    basis: wordOf(BASES, query, 'basis'),
    currency: wordOf(currencyCodes, query, 'currency'),
  }
  const found = await getTrialBalance(deps, caller, asked)
  const { currency, basis, asOf, sequence } = found
  const sums = { currency: currency.code, basis: say(basis), day: asOf, sequence }
  const body = html`<h1>${say('trialBalance')}</h1>
<p>${say('upTo', sums)}</p>
${form(desk, found)}
${accounts(desk, found)}
${months(desk, await listPeriods(deps, caller))}`
  return page(desk, say('trialBalance'), body)
}

function form({ say }: Desk, { asOf, basis, currency }: TrialBalanceView): Html {
  const option = (value: string, text: string, chosen: string) =>
    value === chosen
      ? html`<option value="${value}" selected>${text}</option>`
      : html`<option value="${value}">${text}</option>`
  return html`<form action="/trial-balance">
<label>${say('asOf')} <input name="asOf" type="date" value="${asOf}"></label>
<label>${say('basis')} <select name="basis">${BASES.map((one) => option(one, say(one), basis))}</select></label>
<label>${say('currency')} <select name="currency">${currencyCodes.map((one) => option(one, one, currency.code))}</select></label>
<button>${say('show')}</button></form>`
}

function accounts(
  { say, language }: Desk,
  { accounts: all, totalDebit, totalCredit, currency }: TrialBalanceView,
): Html {
  const of = (minor: bigint) => money(minor, currency)
  const rows = all.map(({ code, name, type, debit, credit, balance }) => [
    code,
    name,
    nameIn(ACCOUNT_WORDS, language, type),
    of(debit),
    of(credit),
    of(balance),
  ])
  return table(
    say('accounts'),
    [[say('code')], [say('account'), 'words'], [say('type')], ...figures(say('debit'), say('credit'), say('balance'))],
    [...rows, ['', say('allAccounts'), '', of(totalDebit), of(totalCredit), '']],
    say('noAccount'),
  )
}

function months({ deps, caller, say, language }: Desk, periods: readonly Period[]): Html {
  const { zone } = deps.config
  const today = dateIn(zone, deps.now(caller.organizationId))
  const rows = periods.map(({ month, state, closedAt, trialBalanceHash }) => {
    const end = lastDayOf(firstDayOf(month)!)
    return [
      html`<a href="/trial-balance?asOf=${end < today ? end : today}">${month}</a>`,
      nameIn(STATE_WORDS, language, state),
      closedAt === null ? '' : timeText(closedAt, zone),
      trialBalanceHash ?? '',
    ]
  })
  return table(say('months'), [[say('month')], [say('state')], [say('closed')], [say('hash')]], rows, say('noMonth'))
}
