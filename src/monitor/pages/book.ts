import { type Html, html } from '../../api/http/html.ts'
import type { Deps } from '../../app/deps.ts'
import { addPeriods, dateIn, toRfc3339 } from '../../domain/dates.ts'
import { currencyOf, minorToNumber } from '../../domain/money.ts'
import { AT_RISK_DAYS } from '../../domain/portfolio/cells.ts'
import { type BookTotals, DAYS_SHOWN, type ProductTotals, type Totals } from '../../services/book/totals.ts'
import { type ListedHead, listHeads, MOST_COUNTED } from '../../services/events/chainHeads.ts'
import { countDue } from '../../services/loans/sweep.ts'
import type { Recent } from '../recent.ts'
import { ago, money, percent } from './figures.ts'
import { page, table } from './page.ts'
import { barPlot } from './plot.ts'

const RENEW_SECONDS = 30
const REFUSALS_SHOWN = 25
/** Loans that are due are counted up to this number. */
const MOST_DUE = 1_000

/** The parts of the page that do not come from the database. */
export interface Seen {
  readonly recent: Recent
  readonly totals: Pick<Totals, 'latest'>
}

/**
 * Builds the page of one organization's book: amounts out and at risk, recent movements, refusals, and the state of the
 * sweep and of the seal.
 */
export async function bookPage(deps: Deps, organizationId: number, { recent, totals }: Seen): Promise<string> {
  const now = deps.machineNow()
  const due = await countDue(deps.db, now, MOST_DUE)
  const isTest = deps.testClocks.find(organizationId) !== undefined
  const [head] = await listHeads(deps, organizationId)
  const book = totals.latest().find((one) => one.organizationId === organizationId)
  const body = html`<h1>The book</h1>
${book ? html`<p>As of ${ago(book.computedAt, now)}; summed up in ${book.tookMs} ms.</p>` : html`<p>${isTest ? 'A test organization, which is not summed up: no money is in it.' : 'Not summed up yet.'}</p>`}
<form action="/loans"><label>Loan <input name="id" inputmode="numeric" placeholder="its id" required></label> <button>Show</button></form>
<p><a href="/trial-balance">Trial balance</a> and the months of the books · <a href="/arrears">Arrears</a> · <a href="/portfolio-at-risk">Portfolio at risk over time</a></p>
${book && portfolio(book)}
${book && moved(book, dateIn(deps.config.zone, now))}
${sweepState(recent, due, now)}
${head && sealState(head)}
${refusals(recent, organizationId, deps.config.zone)}`
  return page('The book', body, { renew: RENEW_SECONDS })
}

function portfolio({ products }: BookTotals): Html {
  const rows = products
    .toSorted((a, b) => (a.productId ?? 0) - (b.productId ?? 0) || a.currency.localeCompare(b.currency))
    .map((product) => [
      product.name ?? 'Loans of record systems',
      product.currency,
      product.loans,
      money(product.outstanding, product.currency),
      product.overdueLoans,
      money(product.overdue, product.currency),
      ...product.atRisk.map((amount) => percent(amount, product.principal)),
    ])
  const totals = [...Map.groupBy(products, ({ currency }) => currency)].map(([currency, of]) => totalRow(currency, of))
  return table(
    'Outstanding, overdue and portfolio at risk, by product',
    [
      ['Product', 'words'],
      ['Currency'],
      ['Loans', 'figure'],
      ['Outstanding', 'figure'],
      ['Overdue loans', 'figure'],
      ['Overdue', 'figure'],
      ...AT_RISK_DAYS.map((days): [string, 'figure'] => [`PAR ${days}`, 'figure']),
    ],
    [...rows, ...totals],
    'No loan is active.',
  )
}

function totalRow(currency: string, products: readonly ProductTotals[]) {
  const sum = (read: (product: ProductTotals) => bigint) => products.reduce((total, one) => total + read(one), 0n)
  const principal = sum((product) => product.principal)
  return [
    html`<strong>All</strong>`,
    currency,
    products.reduce((total, { loans }) => total + loans, 0),
    html`<strong>${money(
      sum((product) => product.outstanding),
      currency,
    )}</strong>`,
    products.reduce((total, { overdueLoans }) => total + overdueLoans, 0),
    html`<strong>${money(
      sum((product) => product.overdue),
      currency,
    )}</strong>`,
    ...AT_RISK_DAYS.map((_, index) =>
      percent(
        sum(({ atRisk }) => atRisk[index] ?? 0n),
        principal,
      ),
    ),
  ]
}

/** Builds one plot for each currency: amounts of two currencies cannot share an axis. */
function moved({ days }: BookTotals, today: string): Html {
  const shown = Array.from({ length: DAYS_SHOWN }, (_, index) => addPeriods(today, index + 1 - DAYS_SHOWN, 'days'))
  const plots = [...Map.groupBy(days, ({ currency }) => currency)].map(([currency, of]) => {
    const number = (minor: bigint) => minorToNumber(minor, currencyOf(currency))
    return barPlot({
      label: `Disbursed and collected by day, in ${currency}`,
      names: [`Disbursed, ${currency}`, `Collected, ${currency}`],
      days: shown.map((day) => {
        const { disbursed = 0n, collected = 0n } = of.find((one) => one.day === day) ?? {}
        const label = `${day}: disbursed ${money(disbursed, currency)}, collected ${money(collected, currency)}`
        return { day, values: [number(disbursed), number(collected)], label }
      }),
    })
  })
  return html`${plots}${plots.length === 0 && html`<p>Nothing was disbursed or collected in the last ${DAYS_SHOWN} days.</p>`}`
}

const tile = (name: string, value: Html | string | number) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`

function sealState({ changeId, sequence, unsealed, text }: ListedHead): Html {
  return html`<section><dl class="tiles">
${tile('Last change sealed', text === null ? 'none yet' : String(changeId))}
${tile('Events numbered', String(sequence))}
${tile('Changes not sealed yet', unsealed > MOST_COUNTED ? `more than ${MOST_COUNTED}` : unsealed)}
</dl>${text !== null && html`<p>Head of the chain, to keep elsewhere: <code>${text}</code></p>`}</section>`
}

function sweepState({ sweep }: Recent, due: number, now: number): Html {
  return html`<section><dl class="tiles">
${tile('Last sweep of this instance', sweep.lastAt === undefined ? 'none yet' : ago(sweep.lastAt, now))}
${tile('Loans it brought up to date', sweep.loans)}
${tile('Rounds that failed', sweep.failures === 0 ? '0' : html`<span class="bad">${sweep.failures}</span>`)}
${tile('Loans whose time has come', due > MOST_DUE ? `more than ${MOST_DUE}` : due)}
</dl></section>`
}

const refusals = (recent: Recent, organizationId: number, zone: string): Html =>
  table(
    'Latest refusals and errors of this instance',
    [['When'], ['Style'], ['Route'], ['Code'], ['Why', 'words'], ['Request']],
    recent
      .refusals(organizationId)
      .slice(0, REFUSALS_SHOWN)
      .map(({ at, style, route, code, reason, requestId }) => [
        toRfc3339(at, zone).slice(0, 19).replace('T', ' '),
        style,
        route,
        code === 'internal' ? html`<span class="bad">${code}</span>` : code,
        reason,
        requestId,
      ]),
    'Nothing was refused.',
  )
