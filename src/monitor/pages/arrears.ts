import { type Html, html } from '../../api/http/html.ts'
import type { Deps } from '../../app/deps.ts'
import type { Bucket } from '../../domain/delinquency/policy.ts'
import { LendingError } from '../../domain/errors.ts'
import { AT_RISK_DAYS } from '../../domain/portfolio/cells.ts'
import type { Group } from '../../domain/portfolio/groups.ts'
import type { Caller } from '../../services/access/caller.ts'
import { type ArrearsList, listArrears, MOST_ARREARS } from '../../services/portfolio/arrears.ts'
import { arrearsCsv } from '../../services/portfolio/csv.ts'
import { getPortfolioAtRisk } from '../../services/portfolio/portfolioAtRisk.ts'
import { money, share } from './figures.ts'
import { page, table } from './page.ts'

/** The query of the page and of its file, as it was sent. */
export type ArrearsQuery = Readonly<Partial<Record<'bucket' | 'after', unknown>>>

const ROWS = 100

/** Reads a text of the query; an empty field of the form is left out. */
function textOf(name: string, given: unknown): string | undefined {
  if (given === undefined || given === '') return undefined
  if (typeof given === 'string') return given
  throw new LendingError('invalid_argument', `${name} must be given once`)
}

const askedOf = ({ bucket, after }: ArrearsQuery) => ({
  bucket: textOf('bucket', bucket),
  after: textOf('after', after),
})

/**
 * Builds the page of what is overdue in the operator's organization: the buckets of today's portfolio, and the overdue
 * loans, those with the oldest unpaid instalment first. The page does not renew itself: each look reads all open loans.
 * @throws LendingError as `listArrears`
 */
export async function arrearsPage(deps: Deps, operator: Caller, query: ArrearsQuery): Promise<string> {
  const asked = askedOf(query)
  const list = await listArrears(deps, operator, { ...asked, rows: ROWS })
  // The sums stand on the first page of the list alone.
  const portfolio = asked.after === undefined ? await getPortfolioAtRisk(deps, operator, {}) : undefined
  const { version, name, policy } = list.policy
  const body = html`<h1>Arrears</h1>
<p>As of ${list.asOf}, by version ${version ?? 0} of the delinquency policy${name !== null && html`, ${name}`}. <a href="/portfolio-at-risk">Over time</a></p>
${portfolio && html`${buckets(portfolio.groups)}${atRisk(portfolio.groups)}`}
${form(policy.buckets, asked.bucket)}
${loans(list)}
<p>${list.next !== undefined && html`<a href="${linkOf('/arrears', { ...asked, after: list.next })}">More loans</a> · `}<a href="${linkOf('/arrears.csv', asked)}">CSV file</a> of at most ${MOST_ARREARS.toLocaleString('en')} loans</p>`
  return page('Arrears', body)
}

/** Writes the overdue loans as a CSV file, at most `MOST_ARREARS`. @throws LendingError as `listArrears` */
export async function arrearsFile(deps: Deps, operator: Caller, query: ArrearsQuery) {
  const { asOf, loans } = await listArrears(deps, operator, { ...askedOf(query), rows: MOST_ARREARS })
  return { name: `arrears-${asOf}.csv`, text: arrearsCsv(loans) }
}

function linkOf(path: string, asked: ReturnType<typeof askedOf>): string {
  const given = Object.entries(asked).filter((one): one is [string, string] => one[1] !== undefined)
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}

const daysText = ({ fromDays, toDays }: Bucket): string => {
  if (toDays === null) return `${fromDays} and more`
  return fromDays === toDays ? String(fromDays) : `${fromDays} to ${toDays}`
}

function buckets(groups: readonly Group[]): Html {
  const rows = groups.flatMap(({ currency, total, buckets: all }) => [
    ...all.map(({ bucket, loans: count, principal }) => [
      ...[bucket.name, currency, daysText(bucket), count, money(principal, currency)],
      share(principal, total.principal),
    ]),
    [
      html`<strong>All</strong>`,
      currency,
      '',
      total.loans,
      html`<strong>${money(total.principal, currency)}</strong>`,
      '',
    ],
  ])
  return table(
    'Open loans by bucket',
    [
      ['Bucket', 'words'],
      ['Currency'],
      ['Days past due', 'figure'],
      ['Loans', 'figure'],
      ['Principal outstanding', 'figure'],
      ['Share', 'figure'],
    ],
    rows,
    'No loan is open.',
  )
}

const atRisk = (groups: readonly Group[]): Html =>
  table(
    'Portfolio at risk',
    [
      ['Currency'],
      ...AT_RISK_DAYS.flatMap(
        (days) =>
          [
            [`PAR ${days}`, 'figure'],
            ['Share', 'figure'],
          ] as const,
      ),
    ],
    groups.map(({ currency, total }) => [
      currency,
      ...total.atRisk.flatMap((amount) => [money(amount, currency), share(amount, total.principal)]),
    ]),
    'No loan is open.',
  )

function form(all: readonly Bucket[], chosen: string | undefined): Html {
  const option = (value: string, text: string) =>
    html`<option value="${value}"${value === (chosen ?? '') && html` selected`}>${text}</option>`
  return html`<form action="/arrears"><label>Bucket <select name="bucket">${option('', 'all')}${all.map(({ name }) => option(name, name))}</select></label> <button>Show</button></form>`
}

function loans({ loans: late }: ArrearsList): Html {
  const rows = late.map((loan) => [
    html`<a href="/loans/${loan.id}">${loan.id}</a>`,
    loan.customerName,
    loan.phone ?? '',
    loan.daysPastDue,
    loan.bucket.name,
    loan.currency.code,
    money(loan.overdue, loan.currency),
    money(loan.principal, loan.currency),
    loan.lastPaidOn ?? '',
    loan.productName ?? '',
    loan.externalId ?? '',
  ])
  return table(
    'Overdue loans, those with the oldest unpaid instalment first',
    [
      ['Loan'],
      ['Customer', 'words'],
      ['Phone'],
      ['Days past due', 'figure'],
      ['Bucket'],
      ['Currency'],
      ['Overdue', 'figure'],
      ['Principal outstanding', 'figure'],
      ['Last payment'],
      ['Product'],
      ['External id'],
    ],
    rows,
    'No loan is overdue.',
  )
}
