import { type Html, html } from '../../api/http/html.ts'
import { ACCOUNT_TYPES, type AccountType } from '../../domain/accounting/chart.ts'
import { firstDayOf, lastDayOf, monthOf } from '../../domain/accounting/months.ts'
import { type AccountBalance, BASES } from '../../domain/accounting/trialBalance.ts'
import { dateIn } from '../../domain/dates.ts'
import { currencyCodes, sum } from '../../domain/money.ts'
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
${await accountChoice(desk, account)}
<button>${say('show')}</button></form>
<p>${month}: <a href="/journal.csv?period=${month}">CSV</a> · <a href="/journal.hledger?period=${month}">hledger</a></p>
${postings(desk, found.items, { nameOf, from, to, account })}
${found.next !== undefined && html`<p><a href="${linkOf('/journal', { from, to, account, after: found.next })}">${say('more')}</a></p>`}`
  return page(desk, say('journal'), body)
}

/** Builds the choice of an account: those of the newest chart, and the one that is chosen. */
async function accountChoice({ deps, caller, say }: Desk, chosen: string | undefined): Promise<Html> {
  const { chart } = await getChart(deps, caller)
  const names = new Map(chart.accounts.map(({ code, name }) => [code, `${code} ${name}`]))
  if (chosen !== undefined && !names.has(chosen)) names.set(chosen, chosen)
  const option = (code: string, text: string) =>
    html`<option value="${code}"${code === (chosen ?? '') && html` selected`}>${text}</option>`
  return html`<label>${say('account')} <select name="account">${option('', say('anyAccount'))}${[...names].map(([code, name]) => option(code, name))}</select></label>`
}

/** Returns the function that writes an account with its name in the newest chart; the code alone where that has none. */
export async function accountNames({ deps, caller }: Desk): Promise<(code: string) => string> {
  const { chart } = await getChart(deps, caller)
  const names = new Map(chart.accounts.map(({ code, name }) => [code, `${code} ${name}`]))
  return (code) => names.get(code) ?? code
}

/** What is shown of the journal: the days, the account if one is chosen, and how an account is written. */
interface Shown {
  readonly nameOf: (code: string) => string
  readonly from: string
  readonly to: string
  readonly account: string | undefined
}

/** Builds the postings: a booked day leads to the postings of that day, an account to those on it. */
function postings(
  { say, language }: Desk,
  items: readonly Posting[],
  { nameOf, from, to, account: chosen }: Shown,
): Html {
  const ofDay = (day: string) =>
    html`<a href="${linkOf('/journal', { from: day, to: day, account: chosen })}">${day}</a>`
  const ofAccount = (code: string) =>
    code === chosen
      ? nameOf(code)
      : html`<a href="${linkOf('/journal', { from, to, account: code })}">${nameOf(code)}</a>`
  const rows = items.flatMap(({ id, kind, bookedOn, valueDate, loanId, currency, late, lines }) =>
    lines.map(({ account, debit, credit }, index) => [
      ...(index === 0
        ? [
            String(id),
            `${nameIn(POSTING_WORDS, language, kind)}${late ? `, ${say('late')}` : ''}`,
            from === to ? bookedOn : ofDay(bookedOn),
            valueDate,
            loanId === null ? '' : html`<a href="/loans/${loanId}">${loanId}</a>`,
          ]
        : ['', '', '', '', '']),
      ofAccount(account),
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

/** The orders of the accounts of the trial balance. */
const ORDERS = ['code', 'name', 'balance'] as const
type Order = (typeof ORDERS)[number]

/** Which accounts of the trial balance are shown, and in which order. */
interface View {
  /** Undefined: those of all types. */
  readonly type: AccountType | undefined
  readonly order: Order
}

/** Returns the accounts that are shown, in their order. */
function shownOf({ accounts: all }: TrialBalanceView, { type, order }: View): AccountBalance[] {
  const shown = all.filter((account) => type === undefined || account.type === type)
  if (order === 'name') return shown.toSorted((a, b) => a.name.localeCompare(b.name))
  const place = (a: bigint, b: bigint) => (a < b ? 1 : Number(a > b) * -1)
  return order === 'balance' ? shown.toSorted((a, b) => place(a.balance, b.balance)) : shown
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
  const view: View = { type: wordOf(ACCOUNT_TYPES, query, 'type'), order: wordOf(ORDERS, query, 'order') ?? 'code' }
  const found = await getTrialBalance(deps, caller, asked)
  const { currency, basis, asOf, sequence } = found
  const sums = { currency: currency.code, basis: say(basis), day: asOf, sequence }
  const body = html`<h1>${say('trialBalance')}</h1>
<p>${say('upTo', sums)}</p>
${form(desk, found, view)}
${accounts(desk, found, view)}
${months(desk, await listPeriods(deps, caller))}`
  return page(desk, say('trialBalance'), body)
}

function form({ say, language }: Desk, { asOf, basis, currency }: TrialBalanceView, { type, order }: View): Html {
  const option = (value: string, text: string, chosen: string) =>
    value === chosen
      ? html`<option value="${value}" selected>${text}</option>`
      : html`<option value="${value}">${text}</option>`
  return html`<form action="/trial-balance">
<label>${say('asOf')} <input name="asOf" type="date" value="${asOf}"></label>
<label>${say('basis')} <select name="basis">${BASES.map((one) => option(one, say(one), basis))}</select></label>
<label>${say('currency')} <select name="currency">${currencyCodes.map((one) => option(one, one, currency.code))}</select></label>
<label>${say('ofAccountType')} <select name="type">${option('', say('allTypes'), type ?? '')}${ACCOUNT_TYPES.map((one) => option(one, nameIn(ACCOUNT_WORDS, language, one), type ?? ''))}</select></label>
<label>${say('orderOfRows')} <select name="order">${ORDERS.map((one) => option(one, say(`order_${one}`), order))}</select></label>
<button>${say('show')}</button></form>`
}

/** Builds the accounts with their sums; the balances have one where all are of a type. A code leads to the postings of its month. */
function accounts({ say, language }: Desk, found: TrialBalanceView, view: View): Html {
  const { asOf, currency } = found
  const of = (minor: bigint) => money(minor, currency)
  const shown = shownOf(found, view)
  const total = (amount: 'debit' | 'credit' | 'balance') => of(sum(shown.map((account) => account[amount])))
  const from = firstDayOf(monthOf(asOf))
  const rows = shown.map(({ code, name, type, debit, credit, balance }) => [
    html`<a href="${linkOf('/journal', { from, to: asOf, account: code })}">${code}</a>`,
    name,
    nameIn(ACCOUNT_WORDS, language, type),
    of(debit),
    of(credit),
    of(balance),
  ])
  const sums =
    view.type === undefined
      ? ['', say('allAccounts'), '', total('debit'), total('credit'), '']
      : ['', say('accountsOfType'), '', total('debit'), total('credit'), total('balance')]
  return table(
    say('accounts'),
    [[say('code')], [say('account'), 'words'], [say('type')], ...figures(say('debit'), say('credit'), say('balance'))],
    [...rows, sums],
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
