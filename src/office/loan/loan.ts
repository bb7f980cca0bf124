import { type Html, html } from '../../api/http/html.ts'
import { addPeriods, dateIn, daysBetween } from '../../domain/dates.ts'
import { type Entry, isCharge, movesMoney } from '../../domain/loan/entry.ts'
import { totalOf } from '../../domain/loan/portions.ts'
import { owedByDay } from '../../domain/loan/replay.ts'
import { causeOf } from '../../domain/loan/restructure/plan.ts'
import { minorToNumber } from '../../domain/money.ts'
import { latestPostings, type Posting } from '../../services/accounting/postings.ts'
import { getLoan, type LoanNow } from '../../services/loans/loans.ts'
import { POSTING_WORDS } from '../../words/names.ts'
import { nameIn } from '../../words/words.ts'
import { collectionsOf } from '../collections/shown.ts'
import { type Desk, type Fields, idOf, sayName, textOf, timeText } from '../desk.ts'
import { type Column, done, figures, money, page, table, tile, tiles } from '../layout/page.ts'
import { stepPlot } from '../layout/plot.ts'
import { statementForm } from '../pages/documents.ts'
import { accountNames } from '../pages/journal.ts'
import { pageNeeds } from '../permissions.ts'
import { securityOf } from './security.ts'

/** The most days with another balance that a plot can show. */
const MOST_POINTS = 200
/** The most entries in the list: ten thousand rows take a tenth of a second, in which no other request is answered. */
const MOST_ENTRIES = 1_000
/** The most postings in the list. */
const MOST_POSTINGS = 200
/** Spans between the days that are named below the plot. */
const SPANS = 4

/**
 * Builds the page of one loan of the person's organization: its state, schedule, entries and balance over time, what may be
 * done, and for readers its journal.
 * @throws LendingError `not_found`
 */
export async function loanPage(desk: Desk, text: string, query: Fields): Promise<string> {
  const { deps, caller, say } = desk
  const found = await getLoan(deps, caller, { id: idOf(text, 'loan') })
  const { loan } = found
  const postings = desk.may('reports.read')
    ? await latestPostings(deps, caller, { loanId: loan.id, most: MOST_POSTINGS })
    : undefined
  const title = `${say('loan')} ${loan.id}`
  const body = html`<h1>${title}</h1>
${done(desk, query)}
${textOf(query, 'done') === 'doneRepay' && lastReceipt(desk, found)}
<p><a href="/customers/${loan.customerId}">${say('customer')} ${loan.customerExternalId ?? loan.customerBusinessName ?? loan.customerId}</a> · ${loan.productName ?? say('ofRecordSystem')} · ${loan.terms.currency.code} · ${say('disbursedOn')} ${loan.terms.disbursedOn} · ${say('dueOn')} ${loan.terms.dueOn}</p>
${summary(desk, found)}
${actions(desk, found)}
${statementForm(desk, loan.id)}
${balance(desk, found)}
${schedule(desk, found)}
${entries(desk, found)}
${await collectionsOf(desk, found)}
${await securityOf(desk, loan.id)}
${postings && journal(desk, postings, await accountNames(desk))}`
  return page(desk, title, body)
}

function summary({ say }: Desk, { loan, state }: LoanNow): Html {
  const of = (minor: bigint) => money(minor, loan.terms.currency)
  const status = sayName(say, state.status)
  return tiles([
    tile(say('status'), state.chargedOffOn ? `${status}, ${say('chargedOff')}` : status),
    tile(say('principal'), of(loan.terms.principal)),
    tile(say('outstanding'), of(state.totalOutstanding)),
    tile(say('overdue'), of(state.totalOverdue)),
    tile(say('paid'), of(state.totalPaid)),
    ...(state.totalWrittenOff > 0n ? [tile(say('writtenOff'), of(state.totalWrittenOff))] : []),
    state.totalOverpaid > 0n
      ? tile(say('overpaid'), of(state.totalOverpaid))
      : tile(say('daysOverdue'), state.daysOverdue),
  ])
}

/** Builds the link to the receipt of the last transaction that moved money; nothing where there is none. */
function lastReceipt({ say, language }: Desk, { loan }: LoanNow): Html | false {
  const last = loan.entries.findLast(({ type, reversedAt }) => movesMoney(type) && reversedAt === null)
  return (
    last !== undefined &&
    html`<p class="actions"><a href="/loans/${loan.id}/transactions/${last.id}/receipt?language=${language}">${say('lastReceipt')}</a></p>`
  )
}

/** Builds the links to what the person may do with the whole loan. */
function actions({ say, may }: Desk, { loan, state }: LoanNow): Html | false {
  const mayDo = (action: string) => may(pageNeeds('/loans/:id/do/:action', action))
  const repay = mayDo('repay') && html`<a href="/loans/${loan.id}/do/repay">${say('repay')}</a> `
  if (state.status !== 'Active') return repay && html`<p class="actions">${repay}</p>`
  const to = (action: string, word: 'waive' | 'charge' | 'writeOff' | 'restructure') =>
    mayDo(action) && html`<a href="/loans/${loan.id}/do/${action}">${say(word)}</a> `
  if (!['waive', 'charge', 'restructure', 'write-off'].some(mayDo)) return false
  const interest = totalOf({ ...state.outstanding, principal: 0n, fees: 0n, penalty: 0n })
  return html`<p class="actions">${say('actions')}: ${repay}${interest > 0n && to('waive', 'waive')}${to('charge', 'charge')}${state.chargedOffOn === null && to('restructure', 'restructure')}${to('write-off', 'writeOff')}</p>`
}

function schedule({ say }: Desk, { loan, state }: LoanNow): Html {
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
    // What was written off is no more owed, and was not paid.
    totalOf(period.writtenOff) > 0n ? '' : (period.completedOn ?? ''),
  ])
  const heads = (['principal', 'interest', 'fees', 'penalty', 'due', 'paid', 'owed'] as const).map((word) => say(word))
  return table(
    say('schedule'),
    [['#'], [say('dueOn')], ...figures(...heads), [say('completedOn')]],
    rows,
    say('noInstalment'),
  )
}

/**
 * Returns whether the entry of an ADMIN's row can be taken back; what was posted with a restructure goes
 * with it, and a repayment of a payment is taken back through that.
 */
const canReverse = (entry: Entry) =>
  entry.reversedAt === null && causeOf(entry.restructure) === undefined && !entry.paymentId

/** Returns the word in the address of the reversal of an entry. */
const reversalOf = ({ type }: Entry) => (type === 'Restructure' ? 'reverse-restructure' : 'reverse')

function entries({ deps, say, may, language }: Desk, { loan, state }: LoanNow): Html {
  const of = (minor: bigint) => money(minor, loan.terms.currency)
  const all = loan.entries.length
  const which = all > MOST_ENTRIES ? `: ${say('latestOf', { shown: MOST_ENTRIES, all })}` : ''
  const latest = loan.entries.slice(-MOST_ENTRIES).toReversed()
  const mayDo = (action: string) => may(pageNeeds('/loans/:id/transactions/:transactionId/do/:action', action))
  const links = (entry: Entry) =>
    html`${movesMoney(entry.type) && html`<a href="/loans/${loan.id}/transactions/${entry.id}/receipt?language=${language}">${say('receipt')}</a> `}${entry.paymentId != null && html`<a href="/payments/${entry.paymentId}">${say('payment')}</a> `}${
      canReverse(entry) &&
      html`${mayDo(reversalOf(entry)) && html`<a href="/loans/${loan.id}/transactions/${entry.id}/do/${reversalOf(entry)}">${say('reverse')}</a> `}${mayDo('adjust') && !isCharge(entry.type) && !entry.restructure && html`<a href="/loans/${loan.id}/transactions/${entry.id}/do/adjust">${say('adjust')}</a>`}`
    }`
  const rows = latest.map((entry) => {
    const outcome = state.outcomes.get(entry.ordinal)
    const type = sayName(say, entry.type)
    return [
      entry.id,
      entry.reversedAt === null ? type : html`<s>${type}</s> ${say('reversed')}`,
      entry.valueDate,
      of(entry.amount),
      outcome ? of(outcome.portions.interest) : '',
      outcome ? of(outcome.portions.principal) : '',
      outcome ? of(outcome.portions.penalty + outcome.portions.fees) : '',
      outcome ? of(outcome.overpayment) : '',
      links(entry),
      timeText(entry.postedAt, deps.config.zone),
      entry.token ?? '',
      entry.note ?? '',
    ]
  })
  const heads = (['amount', 'interest', 'principal', 'penaltyFees', 'overpaid'] as const).map((word) => say(word))
  const columns: Column[] = [[say('id')], [say('type')], [say('valueDate')], ...figures(...heads), [say('actions')]]
  return table(
    `${say('entries')}${which}`,
    [...columns, [say('posted')], [say('reference')], [say('note'), 'words']],
    rows,
    say('noEntry'),
  )
}

function journal({ say, language }: Desk, postings: readonly Posting[], nameOf: (code: string) => string): Html {
  const rows = postings.flatMap(({ id, kind, bookedOn, valueDate, currency, lines }) =>
    lines.map(({ account, debit, credit }, index) => [
      ...(index === 0 ? [String(id), nameIn(POSTING_WORDS, language, kind), bookedOn, valueDate] : ['', '', '', '']),
      nameOf(account),
      debit === 0n ? '' : money(debit, currency),
      credit === 0n ? '' : money(credit, currency),
    ]),
  )
  const isCut = postings.length === MOST_POSTINGS
  const columns: Column[] = [[say('posting')], [say('kind')], [say('bookedOn')], [say('valueDate')], [say('account')]]
  return table(
    `${say('journalNewest')}${isCut ? ` (${MOST_POSTINGS})` : ''}`,
    [...columns, ...figures(say('debit'), say('credit'))],
    rows,
    say('noPosting'),
  )
}

/** Draws the balance at the end of each day on which it changed, by the value dates of today's entries. */
function balance({ deps, caller, say }: Desk, { loan: { terms, entries: all } }: LoanNow): Html {
  const now = deps.now(caller.organizationId)
  const today = dateIn(terms.zone, now)
  const shown = owedByDay(terms, all, now).slice(-MOST_POINTS)
  const first = shown[0]!.date
  const points = shown.map(({ date, owed }) => ({
    day: daysBetween(first, date),
    date,
    value: minorToNumber(owed, terms.currency),
    label: say('onDay', { date, amount: money(owed, terms.currency) }),
  }))
  const last = [today, shown.at(-1)!.date].sort().at(-1)!
  const span = daysBetween(first, last)
  const named = [...new Set(Array.from({ length: SPANS + 1 }, (_, index) => Math.round((span * index) / SPANS)))]
  return stepPlot({
    label: say('outstandingOverTime'),
    name: `${say('outstanding')}, ${terms.currency.code}`,
    points,
    dates: named.map((day) => ({ day, date: addPeriods(first, day, 'days') })),
  })
}
