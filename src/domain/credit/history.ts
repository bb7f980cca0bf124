import { dateIn, daysBetween, type Instant, type LocalDate, wholeMonths } from '../dates.ts'
import type { Period } from '../loan/allocation.ts'
import type { Replayable } from '../loan/fold.ts'
import { totalOf } from '../loan/portions.ts'
import { type LoanState, replay } from '../loan/replay.ts'
import type { LoanTerms } from '../loan/terms/terms.ts'
import type { Currency } from '../money.ts'

/** The history of a customer on a day. Amounts in minor units of one currency. */
export interface CreditHistory {
  readonly asOf: LocalDate
  readonly loansTaken: number
  /** Loans with something outstanding now, in any currency. */
  readonly loansOpen: number
  /** Loans whose obligations are met; no written-off loans. */
  readonly loansClosed: number
  /** Instalments that have fallen due or were paid before. */
  readonly instalmentsDue: number
  /** The instalments among those that were paid by the due date, according to value dates. */
  readonly instalmentsOnTime: number
  readonly daysOverdueNow: number
  /** The most days that an instalment was or is unpaid after its due date. */
  readonly worstDaysOverdue: number
  /** Loans charged off and still owed, and the amount. */
  readonly loansChargedOff: number
  readonly chargedOff: bigint
  /** Loans written off and not recovered in full, and the amount that is missing. */
  readonly loansWrittenOff: number
  readonly writtenOff: bigint
  /** Loans that were charged off or written off and then paid in full. */
  readonly loansRecovered: number
  /** Whole months since the first disbursement. */
  readonly monthsOfHistory: number
  readonly borrowed: bigint
  readonly repaid: bigint
  /** The largest principal of a closed loan. */
  readonly largestRepaid: bigint
  readonly outstanding: bigint
}

/** The moment, the zone and the currency of a history. */
export interface HistoryQuery {
  readonly asOf: Instant
  readonly zone: string
  /** Loans in another currency are counted, with their days; their amounts are left out. */
  readonly currency: Currency
}

/** Computes a customer's history from the replay of each loan at a moment (contract 4.3.6). */
export function historyOf(
  loans: readonly { readonly terms: LoanTerms; readonly entries: Iterable<Replayable> }[],
  { asOf, zone, currency }: HistoryQuery,
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

/** Returns whether an instalment counts: once its due date is over or it is paid; an empty one never does. */
function hasComeDue(period: Period, today: LocalDate): boolean {
  if (totalOf(period.due) === 0n) return false
  return period.dueDate < today || (period.completedOn !== null && totalOf(period.writtenOff) === 0n)
}

const isOnTime = (period: Period): boolean =>
  period.completedOn !== null && period.completedOn <= period.dueDate && totalOf(period.writtenOff) === 0n

/** Returns the highest number of the items, or 0. */
const highest = <Item>(items: readonly Item[], numberOf: (item: Item) => number): number =>
  items.reduce((most, item) => Math.max(most, numberOf(item)), 0)

const largest = (amounts: readonly bigint[]): bigint => {
  let most = 0n
  for (const amount of amounts) if (amount > most) most = amount
  return most
}

const daysLate = (period: Period, today: LocalDate): number => {
  const ended = period.completedOn ?? today
  return ended > period.dueDate ? daysBetween(period.dueDate, ended) : 0
}
