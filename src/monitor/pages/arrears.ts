import { type Html, html } from '../../api/http/html.ts'
import type { Bucket } from '../../domain/delinquency/policy.ts'
import { AT_RISK_DAYS } from '../../domain/portfolio/cells.ts'
import type { Group } from '../../domain/portfolio/groups.ts'
import { type ArrearsList, listArrears, MOST_ARREARS } from '../../services/portfolio/arrears.ts'
import { arrearsCsv } from '../../services/portfolio/csv.ts'
import { BUCKET_WORDS, PRESET_WORDS } from '../../words/names.ts'
import { nameIn } from '../../words/words.ts'
import type { SumArrears } from '../arrearsSums.ts'
import { type Desk, timeText } from '../desk.ts'
import { money, share } from '../layout/figures.ts'
import { type Column, figures, linkOf, page, table } from '../layout/page.ts'
import { type Fields, textOf } from '../query.ts'

const ROWS = 100

const askedOf = (query: Fields) => ({ bucket: textOf(query, 'bucket'), after: textOf(query, 'after') })

/** Returns the words about the policy of a page: its name after a comma, where it has one. */
export const policyName = ({ language }: Desk, name: string | null): string =>
  name === null ? '' : `, ${nameIn(PRESET_WORDS, language, name)}`

/**
 * Builds the page of what is overdue in the person's organization: the buckets of today's portfolio, and the overdue loans,
 * those with the oldest unpaid instalment first. The sums of a large book may be some minutes old.
 * @throws LendingError as `listArrears`
 */
export async function arrearsPage(desk: Desk, query: Fields, sumArrears: SumArrears): Promise<string> {
  const { deps, caller, say, isReader } = desk
  const asked = askedOf(query)
  const list = await listArrears(deps, caller, { ...asked, rows: ROWS })
  // The sums stand on the first page of the list alone.
  const sums = asked.after === undefined ? await sumArrears(desk) : undefined
  const { version, name, policy } = list.policy
  const more = linkOf('/arrears', { ...asked, after: list.next })
  const most = MOST_ARREARS.toLocaleString('en')
  const body = html`<h1>${say('arrears')}</h1>
<p>${say('asOfPolicy', { day: list.asOf, version: version ?? 0, name: policyName(desk, name) })} ${isReader && html`<a href="/portfolio-at-risk">${say('overTime')}</a>`}</p>
${sums && html`<p>${say('sumsOf', { time: timeText(sums.businessTime, deps.config.zone) })}</p>${buckets(desk, sums.groups)}${atRisk(desk, sums.groups)}`}
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

const atRisk = ({ say }: Desk, groups: readonly Group[]): Html =>
  table(
    say('portfolioAtRisk'),
    [[say('currency')], ...figures(...AT_RISK_DAYS.flatMap((days) => [`PAR ${days}`, say('share')]))],
    groups.map(({ currency, total }) => [
      currency,
      ...total.atRisk.flatMap((amount) => [money(amount, currency), share(amount, total.principal)]),
    ]),
    say('noneOpen'),
  )

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
