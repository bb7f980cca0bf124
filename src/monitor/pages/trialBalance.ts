import { type Html, html } from '../../api/http/html.ts'
import type { Deps } from '../../app/deps.ts'
import { dateIn, isCalendarDate, toRfc3339 } from '../../domain/dates.ts'
import { LendingError } from '../../domain/errors.ts'
import { firstDayOf, lastDayOf } from '../../domain/journal/months.ts'
import { BASES, type Basis } from '../../domain/journal/trialBalance.ts'
import { currencyCodes } from '../../domain/money.ts'
import type { Caller } from '../../services/access/caller.ts'
import { listPeriods, type Period } from '../../services/journal/periods.ts'
import { getTrialBalance, type TrialBalanceView } from '../../services/journal/trialBalance.ts'
import { money } from './figures.ts'
import { page, table } from './page.ts'

/** The query of the page, as it was sent. */
export type TrialBalanceQuery = Readonly<Partial<Record<'asOf' | 'basis' | 'currency', unknown>>>

const NAMES: Readonly<Record<Basis, string>> = { booked: 'as booked', economic: 'by value date' }

/** Requires one of some words; an empty field of the form is left out. */
function wordOf<Word extends string>(words: readonly Word[], name: string, given: unknown): Word | undefined {
  if (given === undefined || given === '') return undefined
  const word = words.find((one) => one === given)
  if (word === undefined) throw new LendingError('invalid_argument', `${name} must be one of ${words.join(', ')}`)
  return word
}

function dayOf(given: unknown): string | undefined {
  if (given === undefined || given === '') return undefined
  if (typeof given === 'string' && isCalendarDate(given)) return given
  throw new LendingError('invalid_argument', 'as of must be a date, YYYY-MM-DD')
}

/**
 * Builds the page of the trial balance of the operator's organization, with the months of its books.
 * @throws LendingError `invalid_argument`; `unavailable` while the journal is behind
 */
export async function trialBalancePage(deps: Deps, operator: Caller, query: TrialBalanceQuery): Promise<string> {
  const asked = {
    asOf: dayOf(query.asOf),
    basis: wordOf(BASES, 'basis', query.basis),
    currency: wordOf(currencyCodes, 'currency', query.currency),
  }
  const found = await getTrialBalance(deps, operator, asked)
  const { zone } = deps.config
  const body = html`<h1>Trial balance</h1>
<p>${found.currency.code}, ${NAMES[found.basis]}, up to ${found.asOf}; all changes up to event ${String(found.sequence)}.</p>
${form(found)}
${accounts(found)}
${months(await listPeriods(deps, operator), dateIn(zone, deps.now(operator.organizationId)), zone)}`
  return page('Trial balance', body)
}

function form({ asOf, basis, currency }: TrialBalanceView): Html {
  const option = (value: string, text: string, chosen: string) =>
    value === chosen
      ? html`<option value="${value}" selected>${text}</option>`
      : html`<option value="${value}">${text}</option>`
  return html`<form action="/trial-balance">
<label>As of <input name="asOf" type="date" value="${asOf}"></label>
<label>Basis <select name="basis">${BASES.map((one) => option(one, NAMES[one], basis))}</select></label>
<label>Currency <select name="currency">${currencyCodes.map((one) => option(one, one, currency.code))}</select></label>
<button>Show</button></form>`
}

function accounts({ accounts: all, totalDebit, totalCredit, currency }: TrialBalanceView): Html {
  const of = (minor: bigint) => money(minor, currency)
  const rows = all.map(({ code, name, type, debit, credit, balance }) => [
    ...[code, name, type, of(debit), of(credit), of(balance)],
  ])
  return table(
    'Accounts',
    [['Code'], ['Account', 'words'], ['Type'], ['Debit', 'figure'], ['Credit', 'figure'], ['Balance', 'figure']],
    [...rows, ['', 'All accounts', '', of(totalDebit), of(totalCredit), '']],
    'There is no account.',
  )
}

function months(periods: readonly Period[], today: string, zone: string): Html {
  const rows = periods.map(({ month, state, closedAt, trialBalanceHash }) => {
    const end = lastDayOf(firstDayOf(month)!)
    return [
      html`<a href="/trial-balance?asOf=${end < today ? end : today}">${month}</a>`,
      state,
      closedAt === null ? '' : toRfc3339(closedAt, zone).slice(0, 19).replace('T', ' '),
      trialBalanceHash ?? '',
    ]
  })
  return table('Months', [['Month'], ['State'], ['Closed'], ['Hash of the trial balance']], rows, 'There is no month.')
}
