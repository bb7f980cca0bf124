import { type Html, html } from '../../api/http/html.ts'
import type { Deps } from '../../app/deps.ts'
import { addPeriods, daysBetween } from '../../domain/dates.ts'
import { AT_RISK_DAYS, type Sums } from '../../domain/portfolio/cells.ts'
import { shareOf } from '../../domain/portfolio/share.ts'
import type { Caller } from '../../services/access/caller.ts'
import { portfolioTimeCsv } from '../../services/portfolio/csv.ts'
import { listPortfolioDays } from '../../services/portfolio/overTime.ts'
import { money, share } from './figures.ts'
import { page, table } from './page.ts'
import { linePlot } from './plot.ts'

/** Spans between the days that are named below a plot. */
const SPANS = 4
/** The words beside a day that a change made stale. */
const CHANGED = 'changed since'

/** A kept day of one currency. */
interface Kept {
  readonly day: string
  readonly isRight: boolean
  readonly total: Sums
}

/**
 * Builds the page of the portfolio at risk over time, from the kept days of the operator's organization: a plot and a table
 * for each currency. Nothing is computed for the page.
 */
export async function portfolioTimePage(deps: Deps, operator: Caller): Promise<string> {
  const { policy, days } = await listPortfolioDays(deps, operator)
  const kept = days.flatMap(({ day, isRight, groups }) =>
    groups.map(({ currency, total }) => ({ day, isRight, currency, total })),
  )
  const byCurrency = [...Map.groupBy(kept, ({ currency }) => currency)]
  const body = html`<h1>Portfolio at risk over time</h1>
<p>The principal outstanding of loans that are past due for a day or more (PAR 1), and for more than 30, 60 or 90 days, as a share of all principal outstanding, at the end of each day; by version ${policy.version ?? 0} of the delinquency policy${policy.name !== null && html`, ${policy.name}`}.</p>
<p>A day that was ${CHANGED} is right again when the next day begins. <a href="/arrears">Arrears today</a> · <a href="/portfolio-at-risk.csv">CSV file</a></p>
${byCurrency.map(([currency, of]) => html`${plot(currency, of)}${figures(currency, of)}`)}
${byCurrency.length === 0 && html`<p>No day is kept yet: when a day begins, the days before it are kept.</p>`}`
  return page('Portfolio at risk over time', body)
}

/** Writes the kept days as a CSV file. */
export async function portfolioTimeFile(deps: Deps, operator: Caller) {
  return { name: 'portfolio-at-risk.csv', text: portfolioTimeCsv(await listPortfolioDays(deps, operator)) }
}

function plot(currency: string, days: readonly Kept[]): Html {
  const first = days[0]!.day
  const span = daysBetween(first, days.at(-1)!.day)
  const named = [...new Set(Array.from({ length: SPANS + 1 }, (_, index) => Math.round((span * index) / SPANS)))]
  return linePlot({
    label: `Portfolio at risk in percent, ${currency}`,
    names: AT_RISK_DAYS.map((least) => `PAR ${least}`),
    note: `in percent, ${currency}`,
    points: days.map(({ day, isRight, total }) => ({
      day: daysBetween(first, day),
      values: total.atRisk.map((amount) => shareOf(amount, total.principal)),
      isFaint: !isRight,
      label: `${day}${isRight ? '' : `, ${CHANGED}`}`,
    })),
    dates: named.map((day) => ({ day, date: addPeriods(first, day, 'days') })),
  })
}

const figures = (currency: string, days: readonly Kept[]): Html =>
  table(
    `Portfolio at risk by day, ${currency}`,
    [
      ['Day'],
      ['Loans', 'figure'],
      ['Principal outstanding', 'figure'],
      ...AT_RISK_DAYS.map((least) => [`PAR ${least}`, 'figure'] as const),
      ['Note'],
    ],
    days
      .toReversed()
      .map(({ day, isRight, total }) => [
        day,
        total.loans,
        money(total.principal, currency),
        ...total.atRisk.map((amount) => share(amount, total.principal)),
        isRight ? '' : CHANGED,
      ]),
    'No day is kept.',
  )
