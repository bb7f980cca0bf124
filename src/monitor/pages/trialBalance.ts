import { type Html, html } from '../../api/http/html.ts'
import { dateIn } from '../../domain/dates.ts'
import { firstDayOf, lastDayOf } from '../../domain/journal/months.ts'
import { BASES } from '../../domain/journal/trialBalance.ts'
import { currencyCodes } from '../../domain/money.ts'
import { listPeriods, type Period } from '../../services/journal/periods.ts'
import { getTrialBalance, type TrialBalanceView } from '../../services/journal/trialBalance.ts'
import { ACCOUNT_WORDS, STATE_WORDS } from '../../words/names.ts'
import { nameIn } from '../../words/words.ts'
import { type Desk, timeText } from '../desk.ts'
import { money } from '../layout/figures.ts'
import { figures, page, table } from '../layout/page.ts'
import { dayOf, type Fields, wordOf } from '../query.ts'

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
