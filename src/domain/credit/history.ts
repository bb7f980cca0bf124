import { addPeriods, dateIn, daysBetween, type Instant, type LocalDate } from '../dates.ts'
import { type Period, totalOf } from '../loan/allocation.ts'
import type { Replayable } from '../loan/fold.ts'
import { type LoanState, replay } from '../loan/replay.ts'
import type { LoanTerms } from '../loan/terms.ts'
import type { Currency } from '../money.ts'

/** What the book says of a customer on a day. Amounts in minor units of one currency. */
export interface CreditHistory {
  readonly asOf: LocalDate
  readonly loansTaken: number
  /** With something outstanding now, in whatever currency. */
  readonly loansOpen: number
  /** Obligations met: written-off ones are not. */
  readonly loansClosed: number
  /** Instalments that have fallen due, and those paid before they did. */
  readonly instalmentsDue: number
  /** Of those, the ones whose debt had ended by the due date, going by value dates. */
  readonly instalmentsOnTime: number
  readonly daysOverdueNow: number
  /** The longest that an instalment was, or has been, unpaid after its due date. */
  readonly worstDaysOverdue: number
  /** Loans charged off and still owed, and how much. */
  readonly loansChargedOff: number
  readonly chargedOff: bigint
  /** Loans written off and not paid back in full since, and how much is missing. */
  readonly loansWrittenOff: number
  readonly writtenOff: bigint
  /** Loans once charged off or written off of which nothing is missing any more. */
  readonly loansRecovered: number
  /** Whole months since the first disbursement. */
  readonly monthsOfHistory: number
  readonly borrowed: bigint
  readonly repaid: bigint
  /** The largest principal of a closed loan. */
  readonly largestRepaid: bigint
  readonly outstanding: bigint
}

/** What is asked of the book. */
export interface HistoryQuestion {
  readonly asOf: Instant
  readonly zone: string
  /** Loans in another currency count in numbers and days; their amounts are left out. */
  readonly currency: Currency
}

/** A customer's history, computed from the loans as replay makes them at that moment (contract 4.3.6). */
export function historyOf(
  loans: readonly { readonly terms: LoanTerms; readonly entries: Iterable<Replayable> }[],
  { asOf, zone, currency }: HistoryQuestion,
): CreditHistory {
  const today = dateIn(zone, asOf)
  const states = loans.map(({ terms, entries }) => ({ terms, state: replay(terms, entries, asOf) }))
  const inCurrency = states.filter(({ terms }) => terms.currency.code === currency.code)
  const closed = ({ state }: { state: LoanState }) =>
    state.status === 'Closed (obligations met)' || state.status === 'Overpaid'
  const lossOf = (state: LoanState) => state.totalWrittenOff - state.totalRecovered
  const chargedOff = ({ state }: { state: LoanState }) => state.chargedOffOn !== null && state.totalOutstanding > 0n
  const writtenOff = ({ state }: { state: LoanState }) => lossOf(state) > 0n
  const everLost = ({ state }: { state: LoanState }) => state.chargedOffOn !== null || state.totalWrittenOff > 0n
  const instalments = states.flatMap(({ state }) => state.periods).filter((period) => hasComeDue(period, today))
  const first = states.map(({ terms }) => terms.disbursedOn).sort()[0]
  const total = (amount: (state: LoanState) => bigint) =>
    inCurrency.reduce((whole, { state }) => whole + amount(state), 0n)
  return {
    asOf: today,
    loansTaken: states.length,
    loansOpen: states.filter(({ state }) => state.totalOutstanding > 0n).length,
    loansClosed: states.filter(closed).length,
    instalmentsDue: instalments.length,
    instalmentsOnTime: instalments.filter(isOnTime).length,
    daysOverdueNow: highest(states, ({ state }) => state.daysOverdue),
    worstDaysOverdue: highest(instalments, (period) => daysLate(period, today)),
    loansChargedOff: states.filter(chargedOff).length,
    chargedOff: total((state) => (state.chargedOffOn === null ? 0n : state.totalOutstanding)),
    loansWrittenOff: states.filter(writtenOff).length,
    writtenOff: total(lossOf),
    loansRecovered: states.filter((loan) => everLost(loan) && !chargedOff(loan) && !writtenOff(loan)).length,
    monthsOfHistory: first === undefined ? 0 : wholeMonths(first, today),
    borrowed: inCurrency.reduce((whole, { terms }) => whole + terms.principal, 0n),
    repaid: total((state) => state.totalPaid + state.totalRecovered),
    largestRepaid: largest(inCurrency.filter(closed).map(({ terms }) => terms.principal)),
    outstanding: total((state) => state.totalOutstanding),
  }
}

/** Whole months from one date to a later one: 31 January to 28 February is one. 0 when it is not later. */
export function wholeMonths(from: LocalDate, to: LocalDate): number {
  const [fromYear, fromMonth] = from.split('-', 2).map(Number)
  const [toYear, toMonth] = to.split('-', 2).map(Number)
  const months = (toYear! - fromYear!) * 12 + (toMonth! - fromMonth!)
  return Math.max(0, addPeriods(from, months, 'months') > to ? months - 1 : months)
}

/** An instalment says something once its due date is over, or once it is paid; an empty one never does. */
function hasComeDue(period: Period, today: LocalDate): boolean {
  if (totalOf(period.due) === 0n) return false
  return period.dueDate < today || (period.completedOn !== null && totalOf(period.writtenOff) === 0n)
}

const isOnTime = (period: Period): boolean =>
  period.completedOn !== null && period.completedOn <= period.dueDate && totalOf(period.writtenOff) === 0n

/** The largest of any number of figures, or 0. */
const highest = <Item>(items: readonly Item[], figureOf: (item: Item) => number): number =>
  items.reduce((figure, item) => Math.max(figure, figureOf(item)), 0)

const largest = (amounts: readonly bigint[]): bigint => {
  let most = 0n
  for (const amount of amounts) if (amount > most) most = amount
  return most
}

const daysLate = (period: Period, today: LocalDate): number => {
  const ended = period.completedOn ?? today
  return ended > period.dueDate ? daysBetween(period.dueDate, ended) : 0
}
