import { METHODS, type Method } from '../../../src/domain/accounting/contribution.ts'
import { bookedDay } from '../../../src/domain/accounting/posted.ts'
import { isBalanced, isNothing, SLOTS, type Slot, type SlotAmounts } from '../../../src/domain/accounting/slots.ts'
import { dayAfter, type LocalDate } from '../../../src/domain/dates.ts'
import type { BookedChange } from './bookedLoan.ts'

/** Debits and credits of each slot, minor units. */
type Turnover = Record<Slot, { debit: bigint; credit: bigint }>

const noTurnover = (): Turnover =>
  Object.fromEntries(SLOTS.map((slot) => [slot, { debit: 0n, credit: 0n }])) as Turnover

function addTo(turnover: Turnover, amounts: SlotAmounts): void {
  for (const slot of SLOTS) {
    const amount = amounts[slot]
    if (amount > 0n) turnover[slot].debit += amount
    else turnover[slot].credit -= amount
  }
}

function addAll(turnover: Turnover, more: Turnover): void {
  for (const slot of SLOTS) {
    turnover[slot].debit += more[slot].debit
    turnover[slot].credit += more[slot].credit
  }
}

/** Returns the turnover of a key, which the caller may add to. */
function turnoverOf(sums: Map<string, Turnover>, key: string): Turnover {
  const turnover = sums.get(key) ?? noTurnover()
  sums.set(key, turnover)
  return turnover
}

function addDay(sums: Map<string, Turnover>, day: ReadonlyMap<string, Turnover>): void {
  for (const [key, turnover] of day) addAll(turnoverOf(sums, key), turnover)
}

/** Returns the net amounts of a turnover. */
const netOf = (turnover: Turnover): SlotAmounts =>
  Object.fromEntries(SLOTS.map((slot) => [slot, turnover[slot].debit - turnover[slot].credit])) as SlotAmounts

/** A closed month: its last day, and the trial balance of that day by each method and currency, when it was closed. */
export interface Closed {
  readonly lastDay: LocalDate
  readonly trialBalance: string
}

/** The journal of a book, as sums by booked day; the books of each method beside each other. */
export class DayJournal {
  postings = 0
  late = 0
  readonly closed: Closed[] = []
  /** The sums of all closed months. */
  private readonly upToClose = new Map<string, Turnover>()
  private openFrom: LocalDate | null = null
  private readonly days = new Map<LocalDate, Map<string, Turnover>>()

  /** Books a change on the day on which the keeper books it. @throws for one in a closed month, or not balanced */
  book({ on, postings }: BookedChange, currency: string): void {
    const bookedOn = bookedDay(on, this.openFrom)
    if (this.openFrom !== null && bookedOn < this.openFrom) throw new Error(`${bookedOn} is closed`)
    for (const method of METHODS) {
      const amounts = postings[method]
      if (isNothing(amounts)) continue
      if (!isBalanced(amounts)) throw new Error(`a posting of ${on} does not balance`)
      this.postings++
      if (bookedOn > on) this.late++
      addTo(turnoverOf(this.sumsOf(bookedOn), keyOf(method, currency)), amounts)
    }
  }

  private sumsOf(day: LocalDate): Map<string, Turnover> {
    const sums = this.days.get(day) ?? new Map<string, Turnover>()
    this.days.set(day, sums)
    return sums
  }

  /** Closes the books up to a day, the last of a month. */
  close(lastDay: LocalDate): void {
    const from = this.openFrom ?? ''
    for (const [day, sums] of this.days) if (day >= from && day <= lastDay) addDay(this.upToClose, sums)
    this.openFrom = dayAfter(lastDay)
    this.closed.push({ lastDay, trialBalance: textOf(this.upToClose) })
  }

  /** Returns the trial balances as of days in their order, as text. @throws for one whose debits are not its credits */
  trialBalances(asOf: readonly LocalDate[]): string[] {
    const sums = new Map<string, Turnover>()
    const days = [...this.days.keys()].toSorted()
    let next = 0
    return asOf.map((last) => {
      for (; next < days.length && days[next]! <= last; next++) addDay(sums, this.days.get(days[next]!)!)
      for (const [key, turnover] of sums)
        if (!isBalanced(netOf(turnover))) throw new Error(`the trial balance of ${last}, ${key}, does not balance`)
      return textOf(sums)
    })
  }

  /** Returns the net amounts of all days, by method and currency. */
  totals(): Map<string, SlotAmounts> {
    const sums = new Map<string, Turnover>()
    for (const day of this.days.values()) addDay(sums, day)
    return new Map([...sums].map(([key, turnover]) => [key, netOf(turnover)]))
  }

  /** Returns whether debits equal credits within each month, method and currency. */
  isBalancedByMonth(): boolean {
    const months = new Map<string, Turnover>()
    for (const [day, sums] of this.days)
      for (const [key, turnover] of sums) addAll(turnoverOf(months, `${day.slice(0, 7)} ${key}`), turnover)
    return [...months.values()].every((turnover) => isBalanced(netOf(turnover)))
  }
}

const textOf = (sums: ReadonlyMap<string, Turnover>): string =>
  [...sums.keys()]
    .toSorted()
    .map((key) => `${key}: ${SLOTS.map((slot) => Object.values(sums.get(key)![slot]).join('-')).join(' ')}`)
    .join('\n')

/** The key of the sums of a method and a currency. */
export const keyOf = (method: Method, currency: string): string => `${method} ${currency}`
