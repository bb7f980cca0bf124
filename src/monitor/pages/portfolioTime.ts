import { type Html, html } from '../../api/http/html.ts'
import { addPeriods, daysBetween } from '../../domain/dates.ts'
import { AT_RISK_DAYS, type Sums } from '../../domain/portfolio/cells.ts'
import { shareOf } from '../../domain/portfolio/share.ts'
import { portfolioTimeCsv } from '../../services/portfolio/csv.ts'
import { listPortfolioDays } from '../../services/portfolio/overTime.ts'
import type { Desk } from '../desk.ts'
import { money, share } from '../layout/figures.ts'
import { figures, page, table } from '../layout/page.ts'
import { linePlot } from '../layout/plot.ts'
import { policyName } from './arrears.ts'

/** Spans between the days that are named below a plot. */
const SPANS = 4

/** A kept day of one currency. */
interface Kept {
  readonly day: string
  readonly isRight: boolean
  readonly total: Sums
}

/**
 * Builds the page of the portfolio at risk over time, from the kept days of the person's organization: a plot and a table
 * for each currency. Nothing is computed for the page.
 */
export async function portfolioTimePage(desk: Desk): Promise<string> {
  const { deps, caller, say } = desk
  const { policy, days } = await listPortfolioDays(deps, caller)
  const kept = days.flatMap(({ day, isRight, groups }) =>
    groups.map(({ currency, total }) => ({ day, isRight, currency, total })),
  )
  const byCurrency = [...Map.groupBy(kept, ({ currency }) => currency)]
  const body = html`<h1>${say('parOverTime')}</h1>
<p>${say('parMeans', { version: policy.version ?? 0, name: policyName(desk, policy.name) })}</p>
<p>${say('rightAgain')} <a href="/arrears">${say('arrearsToday')}</a> · <a href="/portfolio-at-risk.csv">${say('csv')}</a></p>
${byCurrency.map(([currency, of]) => html`${plot(desk, currency, of)}${dayTable(desk, currency, of)}`)}
${byCurrency.length === 0 && html`<p>${say('noDayKept')}</p>`}`
  return page(desk, say('parOverTime'), body)
}

/** Writes the kept days as a CSV file. */
export async function portfolioTimeFile({ deps, caller }: Desk) {
  return { name: 'portfolio-at-risk.csv', content: portfolioTimeCsv(await listPortfolioDays(deps, caller)) }
}

function plot({ say }: Desk, currency: string, days: readonly Kept[]): Html {
  const first = days[0]!.day
  const span = daysBetween(first, days.at(-1)!.day)
  const named = [...new Set(Array.from({ length: SPANS + 1 }, (_, index) => Math.round((span * index) / SPANS)))]
  return linePlot({
    label: say('parInPercent', { currency }),
    names: AT_RISK_DAYS.map((least) => `PAR ${least}`),
    note: say('inPercent', { currency }),
    points: days.map(({ day, isRight, total }) => ({
      day: daysBetween(first, day),
      values: total.atRisk.map((amount) => shareOf(amount, total.principal)),
      isFaint: !isRight,
      label: `${day}${isRight ? '' : `, ${say('changedSince')}`}`,
    })),
    dates: named.map((day) => ({ day, date: addPeriods(first, day, 'days') })),
  })
}

const dayTable = ({ say }: Desk, currency: string, days: readonly Kept[]): Html =>
  table(
    say('parByDay', { currency }),
    [
      [say('day')],
      ...figures(say('loans'), say('principalOutstanding'), ...AT_RISK_DAYS.map((least) => `PAR ${least}`)),
      [say('note')],
    ],
    days
      .toReversed()
      .map(({ day, isRight, total }) => [
        day,
        total.loans,
        money(total.principal, currency),
        ...total.atRisk.map((amount) => share(amount, total.principal)),
        isRight ? '' : say('changedSince'),
      ]),
    say('nothing'),
  )
