import { readId } from '../../api/wire.ts'
import type { Deps } from '../../deps.ts'
import type { Portions } from '../../domain/allocation.ts'
import { addPeriods, dateIn, daysBetween, startOfDay, toRfc3339 } from '../../domain/dates.ts'
import { notFound } from '../../domain/errors.ts'
import { minorToNumber, sum } from '../../domain/money.ts'
import { replay } from '../../domain/replay.ts'
import type { Caller } from '../../services/caller.ts'
import { getLoan, type LoanNow } from '../../services/loans.ts'
import { money } from './figures.ts'
import { type Html, html, page, table } from './page.ts'
import { stepPlot } from './plot.ts'

/** Days on which the balance changed that a plot can show. */
const MOST_POINTS = 200
/** Spans between the days that are named below it. */
const SPANS = 4

/**
 * One loan of the operator's organization: where it stands, its schedule, its entries and its balance over time.
 * @throws LendingError `not_found`
 */
export async function loanPage(deps: Deps, operator: Caller, id: string): Promise<string> {
  const number = readId(id)
  if (number === null) throw notFound('no loan has that id')
  const found = await getLoan(deps, operator, { id: number })
  const { loan, state } = found
  const now = deps.now()
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
${entries(found)}`
  return page(`Loan ${loan.id}`, body)
}

const total = ({ penalty, fees, interest, principal }: Portions) => sum([penalty, fees, interest, principal])

function schedule({ loan, state }: LoanNow): Html {
  const of = (minor: bigint) => money(minor, loan.terms.currency)
  const rows = state.periods.map((period) => [
    period.period,
    period.dueDate,
    of(period.due.principal),
    of(period.due.interest),
    of(period.due.fees),
    of(period.due.penalty),
    of(total(period.due)),
    of(total(period.paid)),
    of(total(period.due) - total(period.paid) - total(period.waived) - total(period.writtenOff)),
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
  const rows = loan.entries.toReversed().map((entry) => {
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
    'Entries, newest first',
    [['Id'], ['Type'], ['Value date'], ['Posted'], ...figures.map((name): [string, 'figure'] => [name, 'figure'])],
    rows,
    'Nothing has happened to it yet.',
  )
}

/** What was owed at the end of each day on which that changed, as its value dates make it today. */
function balance({ loan, state }: LoanNow, now: number): Html {
  const { terms } = loan
  const standing = loan.entries.filter(({ reversedAt }) => reversedAt === null)
  const today = dateIn(terms.zone, now)
  const days = [...standing.map(({ valueDate }) => valueDate), ...(state.penaltyRaised ? [terms.dueOn] : [])]
  const changes = [...new Set([terms.disbursedOn, ...days])].sort().slice(-MOST_POINTS)
  const first = changes[0] ?? terms.disbursedOn
  const points = changes.map((date) => {
    const until = standing.filter(({ valueDate }) => valueDate <= date)
    const endOfDay = Math.min(now, startOfDay(addPeriods(date, 1, 'days'), terms.zone) - 1)
    const { totalOutstanding } = replay(terms, until, endOfDay)
    const told = `${date}: ${money(totalOutstanding, terms.currency)} owed`
    return { day: daysBetween(first, date), date, value: minorToNumber(totalOutstanding, terms.currency), told }
  })
  const last = [today, changes.at(-1) ?? first].sort().at(-1)!
  const span = daysBetween(first, last)
  const named = [...new Set(Array.from({ length: SPANS + 1 }, (_, index) => Math.round((span * index) / SPANS)))]
  return stepPlot({
    label: 'Outstanding over time',
    name: `Outstanding, ${terms.currency.code}`,
    points,
    dates: named.map((day) => ({ day, date: addPeriods(first, day, 'days') })),
  })
}
