import {
  add,
  copyPeriod,
  markCompletion,
  noPortions,
  openPeriod,
  owedIn,
  PAYING,
  type Period,
  type Portions,
  pour,
  RECOVERING,
  totalOf,
  UNPAYING,
  WAIVING,
  WRITING_OFF,
} from './allocation.ts'
import { type Balances, balancesOf } from './balances.ts'
import { dateIn, type Instant, type LocalDate } from './dates.ts'
import { byValueDate, type Entry, type EntryType } from './entry.ts'
import { invariant } from './errors.ts'
import { least, sum } from './money.ts'
import type { LoanTerms } from './terms.ts'

/** What replay reads of an entry: a stored one, or one that is about to be. */
export type Replayable = Omit<Entry, 'id'>

/** What an entry did at its place. Portions and overpayment sum to the amount, but for a waiver (see `dropped`). */
export interface Outcome {
  /** The entry's own amount, or, of a charge-off or write-off, what is owed at its place. */
  readonly amount: bigint
  readonly portions: Portions
  /** Of a payment: what exceeded the debt. Of a refund: what came out of the overpayment. */
  readonly overpayment: bigint
  /** Of a refund: what was no longer there to give back, and so is principal owed again (part of `portions`). */
  readonly credited: bigint
  /** Of a waiver: what found no interest to waive, after an earlier entry changed. */
  readonly dropped: bigint
}

/** A loan as its terms and entries make it, at a moment. */
export interface LoanState extends Balances {
  readonly periods: readonly Period[]
  /** By ordinal of the entry; reversed entries have none. */
  readonly outcomes: ReadonlyMap<number, Outcome>
}

/**
 * The one fold that says what a loan is (contract 4.3.6): its entries, ordered by value date and then by posting,
 * applied to its schedule; the penalty stands between those dated up to the last due date and those after it.
 * @param asOf the moment of the question: decides what is overdue and whether the penalty's instant has come
 */
export function replay(terms: LoanTerms, entries: Iterable<Replayable>, asOf: Instant): LoanState {
  const standing = [...entries].filter((entry) => entry.reversedAt === null).sort(byValueDate)
  const fold = new Fold(terms)
  const outcomes = new Map<number, Outcome>()
  const inTime = standing.findIndex((entry) => entry.valueDate > terms.dueOn)
  const split = inTime === -1 ? standing.length : inTime
  for (const entry of standing.slice(0, split)) outcomes.set(entry.ordinal, fold.apply(entry))
  if (asOf >= terms.dueAt) fold.raisePenalty()
  for (const entry of standing.slice(split)) outcomes.set(entry.ordinal, fold.apply(entry))
  return stateOfFold(terms, { fold, asOf, last: standing.at(-1) }, outcomes)
}

/** Where a fold ended, so that it can go on from there. */
interface End {
  readonly fold: Fold
  readonly asOf: Instant
  /** The last entry that was applied. */
  readonly last: Replayable | undefined
}

const ends = new WeakMap<LoanState, End>()

function stateOfFold(terms: LoanTerms, end: End, outcomes: ReadonlyMap<number, Outcome>): LoanState {
  const state = { ...balancesOf(terms, end.fold, end.asOf), periods: end.fold.periods, outcomes }
  ends.set(state, end)
  return state
}

/**
 * What `replay` of the entries behind `before` and one more comes to, by applying only that one: a loan of thousands of
 * entries takes the next as fast as a loan of none.
 * @returns undefined where it does not come last of all, and everything has to be applied again
 */
export function extend(terms: LoanTerms, before: LoanState, entry: Replayable, asOf: Instant): LoanState | undefined {
  const end = ends.get(before)
  const penaltyPassed = asOf >= terms.dueAt
  if (!end || (end.last && byValueDate(end.last, entry) > 0)) return undefined
  if (end.asOf >= terms.dueAt !== penaltyPassed || (penaltyPassed && entry.valueDate <= terms.dueOn)) return undefined
  const fold = end.fold.copy()
  const outcomes = new Map(before.outcomes).set(entry.ordinal, fold.apply(entry))
  return stateOfFold(terms, { fold, asOf, last: entry }, outcomes)
}

/** Whether a state that was replayed earlier is still the loan's at this moment: time alone has changed nothing since. */
export function stillHolds(terms: LoanTerms, state: LoanState, asOf: Instant): boolean {
  const end = ends.get(state)
  if (!end || asOf < end.asOf || (state.nextChangeAt !== null && asOf >= state.nextChangeAt)) return false
  return asOf === end.asOf || dateIn(terms.zone, asOf) === dateIn(terms.zone, end.asOf)
}

/** The state while entries are being applied, in order. */
export class Fold {
  readonly periods: Period[]
  /** Owed in all periods together; kept along, so that no entry has to sum them. */
  owed: bigint
  overpaid = 0n
  chargedOffOn: LocalDate | null = null
  writtenOffOn: LocalDate | null = null
  /** The value date that left nothing owed. */
  paidOffOn: LocalDate | null = null
  penaltyRaised = false
  private readonly terms: LoanTerms
  /** Periods before this one owe nothing: a loan of many entries need not look at them again. */
  private firstOwing = 0

  constructor(terms: LoanTerms) {
    this.periods = terms.schedule.map(openPeriod)
    this.owed = sum(this.periods.map(owedIn))
    this.terms = terms
  }

  /** A fold that goes on from here without changing this one. */
  copy(): Fold {
    const copy = new Fold(this.terms)
    copy.periods.splice(0, copy.periods.length, ...this.periods.map(copyPeriod))
    const { owed, overpaid, chargedOffOn, writtenOffOn, paidOffOn, penaltyRaised, firstOwing } = this
    return Object.assign(copy, { owed, overpaid, chargedOffOn, writtenOffOn, paidOffOn, penaltyRaised, firstOwing })
  }

  /** The penalty, once, when anything is unpaid (contract 4.3.4): due with the last instalment. */
  raisePenalty(): void {
    const { penaltyAmount, schedule } = this.terms
    if (penaltyAmount === null || this.owed === 0n) return
    const last = this.periods[schedule.length - 1]!
    this.penaltyRaised = true
    last.due.penalty += penaltyAmount
    last.completedOn = null
    this.owed += penaltyAmount
    this.firstOwing = Math.min(this.firstOwing, schedule.length - 1)
  }

  /** Applies the next entry in order. */
  apply(entry: Replayable): Outcome {
    const outcome = this.effect[entry.type](entry)
    invariant(this.owed === 0n || this.overpaid === 0n, 'never outstanding and overpaid at once')
    if (this.owed > 0n) this.paidOffOn = null
    else this.paidOffOn ??= entry.valueDate
    return outcome
  }

  private readonly effect: Record<EntryType, (entry: Replayable) => Outcome> = {
    Repayment: (entry) => this.receive(entry),
    'Recovery Repayment': (entry) => this.receive(entry),
    'Waive Interest': (entry) => this.waive(entry),
    Refund: (entry) => this.giveBack(entry, true),
    'Credit Balance Refund': (entry) => this.giveBack(entry, false),
    'Charge-off': (entry) => this.chargeOff(entry),
    'Write-off': (entry) => this.writeOff(entry),
  }

  /** Money in: pays what is owed, then what was written off; the rest is overpayment. */
  private receive(entry: Replayable): Outcome {
    const { amount } = entry
    const paid = pour(this.periods, amount, PAYING, entry.valueDate, this.skipSettled())
    this.owed -= amount - paid.rest
    if (this.writtenOffOn === null || paid.rest === 0n) {
      this.overpaid += paid.rest
      return { amount, portions: paid.portions, overpayment: paid.rest, credited: 0n, dropped: 0n }
    }
    const recovered = pour(this.periods, paid.rest, RECOVERING, entry.valueDate)
    this.overpaid += recovered.rest
    const portions = add(paid.portions, recovered.portions)
    return { amount, portions, overpayment: recovered.rest, credited: 0n, dropped: 0n }
  }

  private waive(entry: Replayable): Outcome {
    const { amount } = entry
    const { portions, rest } = pour(this.periods, amount, WAIVING, entry.valueDate, this.skipSettled())
    this.owed -= totalOf(portions)
    return { amount, portions, overpayment: 0n, credited: 0n, dropped: rest }
  }

  /**
   * Money out: first of the overpayment, then, for a refund, of what was paid, latest instalment first. What is no
   * longer there, because an earlier payment was reversed, is principal owed again.
   */
  private giveBack(entry: Replayable, fromPaid: boolean): Outcome {
    const { amount } = entry
    const overpayment = least(amount, this.overpaid)
    this.overpaid -= overpayment
    let rest = amount - overpayment
    let portions = noPortions()
    if (fromPaid && rest > 0n) {
      const poured = pour(this.periods, rest, UNPAYING, entry.valueDate)
      portions = poured.portions
      this.owed += rest - poured.rest
      rest = poured.rest
      this.firstOwing = 0
    }
    if (rest > 0n) {
      this.oweAgain(rest, entry.valueDate)
      portions.principal += rest
    }
    return { amount, portions, overpayment, credited: rest, dropped: 0n }
  }

  /** Adds principal to the instalment due on or after the date, or to an extra one where none is. */
  private oweAgain(amount: bigint, on: LocalDate): void {
    let period = this.periods.find((candidate) => candidate.dueDate >= on)
    if (period === undefined) {
      const last = this.periods.at(-1)!
      const extra = { period: last.period + 1, fromDate: last.dueDate, dueDate: on }
      period = openPeriod({ ...extra, principal: 0n, interest: 0n, fees: 0n })
      this.periods.push(period)
    }
    period.due.principal += amount
    markCompletion(period, on)
    this.owed += amount
    this.firstOwing = 0
  }

  /** Marks what is owed as charged off; changes no balance. Where nothing is owed there is nothing to mark. */
  private chargeOff(entry: Replayable): Outcome {
    const portions = noPortions()
    if (this.owed > 0n && this.chargedOffOn === null) {
      for (const period of this.periods)
        for (const component of PAYING.components) portions[component] += PAYING.room(period, component)
      this.chargedOffOn = entry.valueDate
    }
    return { amount: totalOf(portions), portions, overpayment: 0n, credited: 0n, dropped: 0n }
  }

  private writeOff(entry: Replayable): Outcome {
    const { portions } = pour(this.periods, this.owed, WRITING_OFF, entry.valueDate)
    if (this.owed > 0n) this.writtenOffOn = entry.valueDate
    this.owed = 0n
    return { amount: totalOf(portions), portions, overpayment: 0n, credited: 0n, dropped: 0n }
  }

  private skipSettled(): number {
    while (this.firstOwing < this.periods.length && owedIn(this.periods[this.firstOwing]!) === 0n) this.firstOwing++
    return this.firstOwing
  }
}
