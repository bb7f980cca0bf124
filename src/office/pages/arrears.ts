import { type Html, html } from '../../api/http/html.ts'
import { addPeriods, daysBetween } from '../../domain/dates.ts'
import type { Bucket } from '../../domain/delinquency/policy.ts'
import { AT_RISK_DAYS, type Group, groupsOf, type Sums, shareOf } from '../../domain/portfolio/cells.ts'
import { type ArrearsList, listArrears, MOST_ARREARS } from '../../services/portfolio/arrears.ts'
import { arrearsCsv, portfolioTimeCsv } from '../../services/portfolio/csv.ts'
import { listPortfolioDays, readPortfolio } from '../../services/portfolio/portfolio.ts'
import { BUCKET_WORDS, PRESET_WORDS } from '../../words/names.ts'
import { nameIn } from '../../words/words.ts'
import { type Desk, type Fields, textOf, timeText } from '../desk.ts'
import { createKeptSums } from '../keptSums.ts'
import { type Column, figures, linkOf, money, page, share, table } from '../layout/page.ts'
import { linePlot } from '../layout/plot.ts'
import { pageNeeds } from '../permissions.ts'

const ROWS = 100

const askedOf = (query: Fields) => ({ bucket: textOf(query, 'bucket'), after: textOf(query, 'after') })

/** Returns the words about the policy of a page: its name after a comma, where it has one. */
export const policyName = ({ language }: Desk, name: string | null): string =>
  name === null ? '' : `, ${nameIn(PRESET_WORDS, language, name)}`

/** The sums of today's portfolio, and their moment. */
interface ArrearsSums {
  /** By currency. */
  readonly groups: readonly Group[]
  /** By currency, and by restructured or not. */
  readonly divided: readonly Group[]
  /** The business time of the organization when they were made. */
  readonly businessTime: number
}

/** Returns the sums of today's portfolio for a person: those of a large book may be some minutes old. */
type SumArrears = (desk: Desk) => Promise<ArrearsSums>

/**
 * Builds the page of what is overdue in the person's organization: the buckets of today's portfolio, and the overdue loans,
 * those with the oldest unpaid instalment first. The sums of a large book may be some minutes old.
 * @throws LendingError as `listArrears`
 */
export async function arrearsPage(desk: Desk, query: Fields, sumArrears: SumArrears): Promise<string> {
  const { deps, caller, say, may } = desk
  const asked = askedOf(query)
  const list = await listArrears(deps, caller, { ...asked, rows: ROWS })
  // The sums stand on the first page of the list alone.
  const sums = asked.after === undefined ? await sumArrears(desk) : undefined
  const { version, name, policy } = list.policy
  const more = linkOf('/arrears', { ...asked, after: list.next })
  const most = MOST_ARREARS.toLocaleString('en')
  const body = html`<h1>${say('arrears')}</h1>
<p>${say('asOfPolicy', { day: list.asOf, version: version ?? 0, name: policyName(desk, name) })} ${may(pageNeeds('/portfolio-at-risk')) && html`<a href="/portfolio-at-risk">${say('overTime')}</a>`}</p>
${sums && html`<p>${say('sumsOf', { time: timeText(sums.businessTime, deps.config.zone) })}</p>${buckets(desk, sums.groups)}${atRisk(desk, sums)}`}
${form(desk, policy.buckets, asked.bucket)}
${loans(desk, list)}
<p>${list.next !== undefined && html`<a href="${more}">${say('moreLoans')}</a> · `}<a href="${linkOf('/arrears.csv', asked)}">${say('csvOfLoans', { most })}</a></p>`
  return page(desk, say('arrears'), body)
}

/** Writes the overdue loans as a CSV file, at most `MOST_ARREARS`. @throws LendingError as `listArrears` */
export async function arrearsFile({ deps, caller }: Desk, query: Fields) {
  const { asOf, loans } = await listArrears(deps, caller, { ...askedOf(query), rows: MOST_ARREARS })
  return { name: `arrears-${asOf}.csv`, content: arrearsCsv(loans) }
}

const daysText = ({ fromDays, toDays }: Bucket): string => {
  if (toDays === null) return `${fromDays}+`
  return fromDays === toDays ? String(fromDays) : `${fromDays}–${toDays}`
}

function buckets({ say, language }: Desk, groups: readonly Group[]): Html {
  const rows = groups.flatMap(({ currency, total, buckets: all }) => [
    ...all.map(({ bucket, loans: count, principal }) => [
      nameIn(BUCKET_WORDS, language, bucket.name),
      currency,
      daysText(bucket),
      count,
      money(principal, currency),
      share(principal, total.principal),
    ]),
    [
      html`<strong>${say('total')}</strong>`,
      currency,
      '',
      total.loans,
      html`<strong>${money(total.principal, currency)}</strong>`,
      '',
    ],
  ])
  const heads = [say('daysPastDue'), say('loans'), say('principalOutstanding'), say('share')]
  const columns: Column[] = [[say('bucket'), 'words'], [say('currency')], ...figures(...heads)]
  return table(say('buckets'), columns, rows, say('noneOpen'))
}

/** Writes what is at risk: of all loans and, in a currency that has restructured ones, of these and of the others. */
function atRisk({ say }: Desk, { groups, divided }: ArrearsSums): Html {
  const rows = groups.flatMap((group) => {
    const parts = divided.filter(({ currency }) => currency === group.currency)
    return [group, ...(parts.some(({ isRestructured }) => isRestructured) ? parts : [])]
  })
  const nameOf = ({ isRestructured }: Group) => {
    if (isRestructured === undefined) return say('total')
    return say(isRestructured ? 'restructuredLoans' : 'otherLoans')
  }
  return table(
    say('portfolioAtRisk'),
    [
      [say('currency')],
      [say('loans'), 'words'],
      ...figures(say('principalOutstanding'), ...AT_RISK_DAYS.flatMap((days) => [`PAR ${days}`, say('share')])),
    ],
    rows.map((group) => [
      group.currency,
      nameOf(group),
      money(group.total.principal, group.currency),
      ...group.total.atRisk.flatMap((amount) => [money(amount, group.currency), share(amount, group.total.principal)]),
    ]),
    say('noneOpen'),
  )
}

function form({ say, language }: Desk, all: readonly Bucket[], chosen: string | undefined): Html {
  const option = (value: string, text: string) =>
    html`<option value="${value}"${value === (chosen ?? '') && html` selected`}>${text}</option>`
  return html`<form action="/arrears"><label>${say('bucket')} <select name="bucket">${option('', say('all'))}${all.map(({ name }) => option(name, nameIn(BUCKET_WORDS, language, name)))}</select></label> <button>${say('show')}</button></form>`
}

function loans({ say, language }: Desk, { loans: late }: ArrearsList): Html {
  const rows = late.map((loan) => [
    html`<a href="/loans/${loan.id}">${loan.id}</a>`,
    html`<a href="/customers/${loan.customerId}">${loan.customerName}</a>`,
    loan.phone ?? '',
    loan.daysPastDue,
    nameIn(BUCKET_WORDS, language, loan.bucket.name),
    loan.currency.code,
    money(loan.overdue, loan.currency),
    money(loan.principal, loan.currency),
    loan.lastPaidOn ?? '',
    loan.productName ?? '',
    loan.externalId ?? '',
  ])
  return table(
    say('overdueLoans'),
    [
      [say('loan')],
      [say('customer'), 'words'],
      [say('phone')],
      [say('daysPastDue'), 'figure'],
      [say('bucket')],
      [say('currency')],
      ...figures(say('overdue'), say('principalOutstanding')),
      [say('lastPayment')],
      [say('product')],
      [say('externalId')],
    ],
    rows,
    say('noneOverdue'),
  )
}

/** Creates the sums of a process. */
export const createArrearsSums = (): SumArrears =>
  createKeptSums(async ({ deps, caller }): Promise<ArrearsSums> => {
    const businessTime = deps.now(caller.organizationId)
    const { cells, policy } = await readPortfolio(deps, caller, {})
    const groups = groupsOf(cells, policy.policy, [])
    return { groups, divided: groupsOf(cells, policy.policy, ['restructured']), businessTime }
  })

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
