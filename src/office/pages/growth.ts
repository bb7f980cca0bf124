import { type Html, html } from '../../api/http/html.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { currencyOf, minorToNumber } from '../../domain/money.ts'
import type { Group } from '../../domain/portfolio/cells.ts'
import { listAccounts } from '../../services/access/accounts.ts'
import {
  type Growth,
  type GrowthFile,
  type GrowthMonth,
  growthCsv,
  readGrowth,
} from '../../services/portfolio/growth.ts'
import { getPortfolioAtRisk } from '../../services/portfolio/portfolio.ts'
import type { Desk } from '../desk.ts'
import { createKeptSums } from '../keptSums.ts'
import { figures, money, page, share, table } from '../layout/page.ts'
import { barPlot, stepPlot } from '../layout/plot.ts'

/** The growth of a book, and its portfolio at risk by officer. */
interface Shown extends Growth {
  readonly officers: readonly Group[]
}

/** Returns the growth of a book for a person; that of a large book may be some minutes old. */
export type SumGrowth = (desk: Desk) => Promise<Shown>

/** Creates the sums of a process. */
export const createGrowthSums = (): SumGrowth =>
  createKeptSums(async ({ deps, caller }) => {
    const growth = await readGrowth(deps, caller)
    const { groups } = await getPortfolioAtRisk(deps, caller, { by: ['officer'] })
    return { ...growth, officers: groups }
  })

/** Builds the page of how the book grows: by month, by cohort, what falls due, and by officer. */
export async function growthPage(desk: Desk, sumGrowth: SumGrowth): Promise<string> {
  const { caller, say } = desk
  requirePermission(caller, 'reports.read')
  const found = await sumGrowth(desk)
  const currencies = [...Map.groupBy(found.months, ({ currency }) => currency)]
  const body = html`<h1>${say('growth')}</h1>
<p>${say('growthMeans', { day: found.asOf })} <a href="/portfolio-at-risk">${say('parOverTime')}</a></p>
${currencies.map(([currency, months]) => monthPlots(desk, currency, months))}
${currencies.length === 0 && html`<p>${say('noneOpen')}</p>`}
${monthTable(desk, found)}${csvLink(desk, 'months')}
${forecast(desk, found)}${csvLink(desk, 'forecast')}
${cohortTable(desk, found)}${csvLink(desk, 'cohorts')}
${await officerTable(desk, found)}`
  return page(desk, say('growth'), body)
}

/** Writes a part of the growth as a CSV file. */
export async function growthFile(desk: Desk, file: GrowthFile, sumGrowth: SumGrowth) {
  const growth = await sumGrowth(desk)
  return { name: `growth-${file}-${growth.asOf}.csv`, content: growthCsv(growth, file) }
}

const csvLink = ({ say }: Desk, file: GrowthFile): Html => html`<p><a href="/growth-${file}.csv">${say('csv')}</a></p>`

function monthPlots({ say }: Desk, currency: string, months: readonly GrowthMonth[]): Html {
  const number = (minor: bigint) => minorToNumber(minor, currencyOf(currency))
  const steps = stepPlot({
    label: say('outstandingByMonth', { currency }),
    name: say('principalOutIn', { currency }),
    points: months.map(({ month, outstanding }, index) => ({
      day: index,
      date: month,
      value: Math.max(0, number(outstanding)),
      label: `${month}: ${money(outstanding, currency)}`,
    })),
    dates: [0, Math.floor((months.length - 1) / 2), months.length - 1].map((index) => ({
      day: index,
      date: months[index]!.month,
    })),
  })
  const bars = barPlot({
    label: say('movedByMonth', { currency }),
    names: [say('disbursedIn', { currency }), say('collectedIn', { currency })],
    days: months.map(({ month, disbursed, collected }) => ({
      name: month.slice(2),
      values: [number(disbursed), number(collected)],
      label: say('movedOn', {
        day: month,
        disbursed: money(disbursed, currency),
        collected: money(collected, currency),
      }),
    })),
  })
  return html`${steps}${bars}`
}

function monthTable({ say }: Desk, { months }: Growth): Html {
  const rows = months
    .filter(({ loans, collected, outstanding }) => loans > 0 || collected > 0n || outstanding !== 0n)
    .toReversed()
    .map(({ month, currency, loans, disbursed, collected, outstanding }) => [
      month,
      currency,
      loans,
      money(disbursed, currency),
      money(collected, currency),
      money(outstanding, currency),
    ])
  const heads = figures(say('loans'), say('disbursedSum'), say('collectedSum'), say('principalOutstanding'))
  return table(say('byMonth'), [[say('month')], [say('currency')], ...heads], rows, say('noneOpen'))
}

function forecast(desk: Desk, { forecast: weeks }: Growth): Html {
  const { say } = desk
  const plots = [...Map.groupBy(weeks, ({ currency }) => currency)].map(([currency, of]) =>
    stepPlot({
      label: say('dueByWeek', { currency }),
      name: say('dueIn', { currency }),
      points: of.map(({ week, from, amount }) => ({
        day: week,
        date: from,
        value: minorToNumber(amount, currencyOf(currency)),
        label: `${from}: ${money(amount, currency)}`,
      })),
      dates: [of[0]!, of[Math.floor(of.length / 2)]!, of.at(-1)!].map(({ week, from }) => ({ day: week, date: from })),
    }),
  )
  const rows = weeks.map(({ from, to, currency, instalments, amount }) => [
    `${from} – ${to}`,
    currency,
    instalments,
    money(amount, currency),
  ])
  const heads = figures(say('instalments'), say('fallsDue'))
  return html`${plots}${table(say('forecast'), [[say('week')], [say('currency')], ...heads], rows, say('noneOpen'))}`
}

function cohortTable({ say }: Desk, { cohorts }: Growth): Html {
  const rows = cohorts.map((one) => [
    one.month,
    one.currency,
    one.loans,
    one.open,
    money(one.principal, one.currency),
    money(one.paid, one.currency),
    money(one.outstanding, one.currency),
    money(one.overdue, one.currency),
    share(one.atRisk, one.outstanding),
    money(one.writtenOff, one.currency),
  ])
  const heads = figures(
    ...(['loans', 'openLoans', 'principal', 'paid', 'principalOutstanding', 'overdue'] as const).map((word) =>
      say(word),
    ),
    'PAR 30',
    say('writtenOff'),
  )
  return table(say('cohorts'), [[say('month')], [say('currency')], ...heads], rows, say('noneOpen'))
}

async function officerTable({ deps, caller, say }: Desk, { officers }: Shown): Promise<Html> {
  const accounts = await listAccounts(deps, caller.organizationId)
  const nameOf = (id: number | null | undefined) =>
    id === null || id === undefined ? say('nobody') : (accounts.find((one) => one.id === id)?.email ?? String(id))
  const rows = officers.map(({ officerId, currency, total }) => [
    nameOf(officerId),
    currency,
    total.loans,
    money(total.principal, currency),
    ...total.atRisk.map((amount) => share(amount, total.principal)),
  ])
  const heads = figures(say('loans'), say('principalOutstanding'), 'PAR 1', 'PAR 30', 'PAR 60', 'PAR 90')
  return table(say('byOfficer'), [[say('officer'), 'words'], [say('currency')], ...heads], rows, say('noneOpen'))
}
