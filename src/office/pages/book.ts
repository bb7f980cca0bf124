import { type Html, html } from '../../api/http/html.ts'
import { readId } from '../../api/wire.ts'
import { addPeriods, dateIn } from '../../domain/dates.ts'
import { currencyOf, minorToNumber } from '../../domain/money.ts'
import { AT_RISK_DAYS } from '../../domain/portfolio/cells.ts'
import { type BookTotals, DAYS_SHOWN, type ProductTotals, type Totals } from '../../services/book/totals.ts'
import { type ListedHead, listHeads, MOST_COUNTED } from '../../services/events/chainHeads.ts'
import { countDue } from '../../services/loans/sweep.ts'
import { countWaiting } from '../../services/office/payments.ts'
import { getToday, type Today } from '../../services/office/today.ts'
import { type Desk, type Fields, type PageWord, textOf, timeText } from '../desk.ts'
import { ago, figures, linkOf, money, page, percent, table, tile, tiles } from '../layout/page.ts'
import { barPlot } from '../layout/plot.ts'
import { waitingText } from '../payments/payments.ts'
import type { Recent } from '../recent.ts'

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
export async function bookPage(desk: Desk, { recent, totals }: Seen): Promise<string> {
  const { deps, caller, say } = desk
  const { organizationId } = caller
  const now = deps.machineNow()
  const due = await countDue(deps.db, deps.testClocks.liveNow(), MOST_DUE)
  const isTest = deps.testClocks.find(organizationId) !== undefined
  const [head] = await listHeads(deps, organizationId)
  const book = totals.latest().find((one) => one.organizationId === organizationId)
  const body = html`<h1>${say('book')}</h1>
${book ? html`<p>${say('summedUp', { ago: ago(book.computedAt, now), ms: book.tookMs })}</p>` : html`<p>${say(isTest ? 'testNotSummed' : 'notSummedYet')}</p>`}
${book && portfolio(desk, book)}
${book && movedByDay(desk, book)}
${sweepState(desk, recent, due)}
${head && sealState(desk, head)}
${refusals(desk, recent)}`
  return page(desk, say('book'), body)
}

function portfolio({ say }: Desk, { products }: BookTotals): Html {
  const rows = products
    .toSorted((a, b) => (a.productId ?? 0) - (b.productId ?? 0) || a.currency.localeCompare(b.currency))
    .map((product) => [
      product.name ?? say('ofRecordSystems'),
      product.currency,
      product.loans,
      money(product.outstanding, product.currency),
      product.overdueLoans,
      money(product.overdue, product.currency),
      ...product.atRisk.map((amount) => percent(amount, product.principal)),
    ])
  const totals = [...Map.groupBy(products, ({ currency }) => currency)].map(([currency, of]) =>
    totalRow(say('total'), currency, of),
  )
  return table(
    say('byProduct'),
    [
      [say('product'), 'words'],
      [say('currency')],
      ...figures(say('loans'), say('outstanding'), say('overdueCount'), say('overdue')),
      ...figures(...AT_RISK_DAYS.map((days) => `PAR ${days}`)),
    ],
    [...rows, ...totals],
    say('noneActive'),
  )
}

function totalRow(name: string, currency: string, products: readonly ProductTotals[]) {
  const sum = (read: (product: ProductTotals) => bigint) => products.reduce((total, one) => total + read(one), 0n)
  const principal = sum((product) => product.principal)
  return [
    html`<strong>${name}</strong>`,
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
export function movedByDay({ deps, caller, say }: Desk, { days }: BookTotals): Html {
  const today = dateIn(deps.config.zone, deps.now(caller.organizationId))
  const shown = Array.from({ length: DAYS_SHOWN }, (_, index) => addPeriods(today, index + 1 - DAYS_SHOWN, 'days'))
  const plots = [...Map.groupBy(days, ({ currency }) => currency)].map(([currency, of]) => {
    const number = (minor: bigint) => minorToNumber(minor, currencyOf(currency))
    return barPlot({
      label: say('movedByDay', { currency }),
      names: [say('disbursedIn', { currency }), say('collectedIn', { currency })],
      days: shown.map((day) => {
        const { disbursed = 0n, collected = 0n } = of.find((one) => one.day === day) ?? {}
        const amounts = { disbursed: money(disbursed, currency), collected: money(collected, currency) }
        const label = say('movedOn', { day, ...amounts })
        return { name: day.slice(5), values: [number(disbursed), number(collected)], label }
      }),
    })
  })
  return html`${plots}${plots.length === 0 && html`<p>${say('nothingMoved', { days: DAYS_SHOWN })}</p>`}`
}

function sealState({ say }: Desk, { changeId, sequence, unsealed, text }: ListedHead): Html {
  return html`<section><dl class="tiles">
${tile(say('lastSealed'), text === null ? say('noneYet') : String(changeId))}
${tile(say('eventsNumbered'), String(sequence))}
${tile(say('notSealed'), unsealed > MOST_COUNTED ? say('moreThan', { most: MOST_COUNTED }) : unsealed)}
</dl>${text !== null && html`<p>${say('chainHead')} <code>${text}</code></p>`}</section>`
}

function sweepState({ deps, say }: Desk, { sweep }: Recent, due: number): Html {
  const now = deps.machineNow()
  return html`<section><dl class="tiles">
${tile(say('lastSweep'), sweep.lastAt === undefined ? say('noneYet') : ago(sweep.lastAt, now))}
${tile(say('broughtUpToDate'), sweep.loans)}
${tile(say('roundsFailed'), sweep.failures === 0 ? '0' : html`<span class="bad">${sweep.failures}</span>`)}
${tile(say('timeHasCome'), due > MOST_DUE ? say('moreThan', { most: MOST_DUE }) : due)}
</dl></section>`
}

const refusals = ({ deps, caller, say }: Desk, recent: Recent): Html =>
  table(
    say('refusals'),
    [[say('when')], [say('style')], [say('route')], [say('code')], [say('why'), 'words'], [say('request')]],
    recent
      .refusals(caller.organizationId)
      .slice(0, REFUSALS_SHOWN)
      .map(({ at, style, route, code, reason, requestId }) => [
        timeText(at, deps.config.zone),
        style,
        route,
        code === 'internal' ? html`<span class="bad">${code}</span>` : code,
        reason,
        requestId,
      ]),
    say('nothingRefused'),
  )

/** The parts of the day, with their words. */
const PARTS = [
  ['dueToday', 'due'],
  ['collectedToday', 'collected'],
  ['collectedEarlier', 'collectedEarlier'],
  ['disbursedToday', 'disbursed'],
] as const satisfies readonly (readonly [PageWord, keyof Today])[]

/** Builds the page of the day: what was disbursed and collected, and which loans have an instalment that is due. */
export async function todayPage(desk: Desk, query: Fields, { totals }: Pick<Seen, 'totals'>): Promise<string> {
  const { deps, caller, say } = desk
  const given = textOf(query, 'after') ?? ''
  const found = await getToday(deps, caller, readId(given) ?? 0n)
  const waiting = await countWaiting(deps, caller)
  const book = totals.latest().find(({ organizationId }) => organizationId === caller.organizationId)
  const body = html`<h1>${say('today')}, ${found.today}</h1>
${moved(desk, found)}
${waiting.length > 0 && html`<p><a href="/payments">${say('paymentsToMatch')}</a>: ${waitingText(desk, waiting)}</p>`}
${dueLoans(desk, found)}
${book && movedByDay(desk, book)}
${found.next !== undefined && html`<p><a href="${linkOf('/', { after: String(found.next) })}">${say('moreLoans')}</a></p>`}`
  return page(desk, say('today'), body)
}

function moved({ say }: Desk, found: Today): Html {
  const parts = PARTS.map(([word, part]) => {
    const sums = found[part].map(({ currency, count, amount }) => {
      const { code } = currencyOf(currency)
      return html`<span>${say('counted', { count, amount: money(amount, currency), currency: code })}</span> `
    })
    return tile(say(word), sums.length === 0 ? '0' : sums)
  })
  return tiles(parts)
}

function dueLoans({ say }: Desk, { dueLoans: loans }: Today): Html {
  const rows = loans.map((loan) => [
    html`<a href="/loans/${loan.id}">${loan.id}</a>`,
    html`<a href="/customers/${loan.customerId}">${loan.customerName}</a>`,
    loan.phone ?? '',
    loan.currency.code,
    money(loan.dueToday, loan.currency),
    money(loan.due, loan.currency),
    money(loan.outstanding, loan.currency),
  ])
  return table(
    say('dueLoans'),
    [
      [say('loan')],
      [say('customer'), 'words'],
      [say('phone')],
      [say('currency')],
      [say('dueOfToday'), 'figure'],
      [say('dueNow'), 'figure'],
      [say('outstanding'), 'figure'],
    ],
    rows,
    say('nobodyDue'),
  )
}
