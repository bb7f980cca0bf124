import { type Html, html } from '../../api/http/html.ts'
import { readId } from '../../api/wire.ts'
import type { Deps } from '../../app/deps.ts'
import { addPeriods, dateIn, daysBetween, toRfc3339 } from '../../domain/dates.ts'
import { notFound } from '../../domain/errors.ts'
import { totalOf } from '../../domain/loan/portions.ts'
import { owedByDay } from '../../domain/loan/replay.ts'
import { minorToNumber } from '../../domain/money.ts'
import type { Caller } from '../../services/access/caller.ts'
import { latestPostings, type Posting } from '../../services/journal/postings.ts'
import { getLoan, type LoanNow } from '../../services/loans/loans.ts'
import { money } from './figures.ts'
import { page, table } from './page.ts'
import { stepPlot } from './plot.ts'

/** The most days with another balance that a plot can show. */
const MOST_POINTS = 200
/** The most entries in the list: ten thousand rows take a tenth of a second, in which no other request is answered. */
const MOST_ENTRIES = 1_000
/** The most postings in the list. */
const MOST_POSTINGS = 200
/** Spans between the days that are named below the plot. */
const SPANS = 4

/**
 * Builds the page of one loan of the operator's organization: its state, schedule, entries and balance over time.
 * @throws LendingError `not_found`
 */
export async function loanPage(deps: Deps, operator: Caller, id: string): Promise<string> {
  const number = readId(id)
  if (number === null) throw notFound('no loan has that id')
  const found = await getLoan(deps, operator, { id: number })
  const { loan, state } = found
  const now = deps.now(operator.organizationId)
  const of = (minor: bigint) => money(minor, loan.terms.currency)
  const tile = (name: string, value: string | number) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`
  const body = html`<h1>Loan ${loan.id}</h1>
<p>${loan.productName ?? 'Of a record system'} · ${loan.terms.currency.code} · disbursed on ${loan.terms.disbursedOn} · due on ${loan.terms.dueOn}</p>
<dl class="tiles">
${tile('Status', state.chargedOffOn ? `${state.status}, charged off` : state.status)}
${tile('Principal', of(loan.terms.principal))}
${tile('Outstanding', of(state.totalOutstanding))}
${tile('Overdue', of(state.totalOverdue))}
${tile('Paid', of(state.totalPaid))}
${state.totalOverpaid > 0n ? tile('Overpaid', of(state.totalOverpaid)) : tile('Days overdue', state.daysOverdue)}
</dl>
${balance(found, now)}
${schedule(found)}
${entries(found)}
${journal(await latestPostings(deps, operator, { loanId: loan.id, most: MOST_POSTINGS }))}
<p><a href="/trial-balance">Trial balance</a></p>`
  return page(`Loan ${loan.id}`, body)
}

function schedule({ loan, state }: LoanNow): Html {
  const of = (minor: bigint) => money(minor, loan.terms.currency)
  const rows = state.periods.map((period) => [
    period.period,
    period.dueDate,
    of(period.due.principal),
    of(period.due.interest),
    of(period.due.fees),
    of(period.due.penalty),
    of(totalOf(period.due)),
    of(totalOf(period.paid)),
    of(period.owed),
    period.completedOn ?? '',
  ])
  const figures = ['Principal', 'Interest', 'Fees', 'Penalty', 'Due', 'Paid', 'Owed']
  return table(
    'Schedule',
    [['#'], ['Due on'], ...figures.map((name): [string, 'figure'] => [name, 'figure']), ['Completed on']],
    rows,
    'It has no instalments.',
  )
}

function entries({ loan, state }: LoanNow): Html {
  const of = (minor: bigint) => money(minor, loan.terms.currency)
  const all = loan.entries.length
  const which = all > MOST_ENTRIES ? `: the latest ${MOST_ENTRIES} of ${all}` : ''
  const latest = loan.entries.slice(-MOST_ENTRIES).toReversed()
  const rows = latest.map((entry) => {
    const outcome = state.outcomes.get(entry.ordinal)
    return [
      entry.id,
      entry.reversedAt === null ? entry.type : html`<s>${entry.type}</s> reversed`,
      entry.valueDate,
      toRfc3339(entry.postedAt, loan.terms.zone).slice(0, 19).replace('T', ' '),
      of(entry.amount),
      outcome ? of(outcome.portions.interest) : '',
      outcome ? of(outcome.portions.principal) : '',
      outcome ? of(outcome.portions.penalty + outcome.portions.fees) : '',
      outcome ? of(outcome.overpayment) : '',
    ]
  })
  const figures = ['Amount', 'Interest', 'Principal', 'Penalty, fees', 'Overpaid']
  return table(
    `Entries, newest first${which}`,
    [['Id'], ['Type'], ['Value date'], ['Posted'], ...figures.map((name): [string, 'figure'] => [name, 'figure'])],
    rows,
    'Nothing has happened to it yet.',
  )
}

function journal(postings: readonly Posting[]): Html {
  const rows = postings.flatMap(({ id, kind, bookedOn, valueDate, currency, lines }) =>
    lines.map(({ account, debit, credit }, index) => [
      ...(index === 0 ? [String(id), kind, bookedOn, valueDate] : ['', '', '', '']),
      account,
      debit === 0n ? '' : money(debit, currency),
      credit === 0n ? '' : money(credit, currency),
    ]),
  )
  return table(
    `Journal, newest first${postings.length === MOST_POSTINGS ? `: the latest ${MOST_POSTINGS} postings` : ''}`,
    [['Posting'], ['Kind'], ['Booked'], ['Value date'], ['Account'], ['Debit', 'figure'], ['Credit', 'figure']],
    rows,
    'The journal has nothing of it yet.',
  )
}

/** Returns the balance at the end of each day on which it changed, by the value dates of today's entries. */
function balance({ loan: { terms, entries } }: LoanNow, now: number): Html {
  const today = dateIn(terms.zone, now)
  const shown = owedByDay(terms, entries, now).slice(-MOST_POINTS)
  const first = shown[0]!.date
  const points = shown.map(({ date, owed }) => ({
    day: daysBetween(first, date),
    date,
    value: minorToNumber(owed, terms.currency),
    label: `${date}: ${money(owed, terms.currency)} owed`,
  }))
  const last = [today, shown.at(-1)!.date].sort().at(-1)!
  const span = daysBetween(first, last)
  const named = [...new Set(Array.from({ length: SPANS + 1 }, (_, index) => Math.round((span * index) / SPANS)))]
  return stepPlot({
    label: 'Outstanding over time',
    name: `Outstanding, ${terms.currency.code}`,
    points,
    dates: named.map((day) => ({ day, date: addPeriods(first, day, 'days') })),
  })
}
