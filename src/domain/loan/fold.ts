import type { LocalDate } from '../dates.ts'
import { invariant } from '../errors.ts'
import { min } from '../money.ts'
import {
  type Allocated,
  type AllocationRule,
  add,
  allocate,
  COMPONENTS,
  type Component,
  type DatedAmount,
  noPortions,
  openPeriod,
  outstandingOf,
  owing,
  PAYING,
  type Period,
  RECOVERING,
  subtract,
  type Totals,
  totalOf,
  UNPAYING,
  WAIVING,
  WRITING_OFF,
} from './allocation.ts'
import type { Folded } from './balances.ts'
import type { Entry, EntryType } from './entry.ts'
import type { Outcome } from './outcomes.ts'
import { type AtChargeOff, type Forgone, forgoing, givenUpEarly, NOTHING_FORGONE, unearnedOn } from './recognition.ts'
import type { LoanTerms } from './terms.ts'

/** The fields of an entry that replay reads, stored or not yet stored. */
export type Replayable = Omit<Entry, 'id'>

/** A fold that another one can continue from. */
export interface FoldedSoFar extends Folded {
  /** True where the periods are the open ones alone, each with what is left of it. */
  readonly hasOpenPeriodsOnly: boolean
  /** Index before which no period owes anything: with many entries, the periods before it are not searched again. */
  readonly firstOwing: number
}

const BEFORE_ANY_ENTRY = {
  overpaid: 0n,
  chargedOffOn: null,
  writtenOffOn: null,
  paidOffOn: null,
  penaltyRaised: false,
  forgone: NOTHING_FORGONE,
  atChargeOff: null,
  hasOpenPeriodsOnly: false,
  firstOwing: 0,
}

/** The state while entries are being applied, in order. */
export class Fold implements FoldedSoFar {
  readonly periods: Period[]
  /** Sums over the periods, kept up to date so that no entry has to add them up. */
  readonly totals: Totals
  /** Owed in all periods. */
  owed: bigint
  overpaid: bigint
  chargedOffOn: LocalDate | null
  writtenOffOn: LocalDate | null
  /** The value date from which nothing is owed. */
  paidOffOn: LocalDate | null
  penaltyRaised: boolean
  forgone: Forgone
  atChargeOff: AtChargeOff | null
  readonly hasOpenPeriodsOnly: boolean
  firstOwing: number

  private constructor(from: FoldedSoFar) {
    this.periods = from.periods.slice()
    this.totals = { ...from.totals }
    this.owed = from.owed
    this.hasOpenPeriodsOnly = from.hasOpenPeriodsOnly
    this.overpaid = from.overpaid
    this.chargedOffOn = from.chargedOffOn
    this.writtenOffOn = from.writtenOffOn
    this.paidOffOn = from.paidOffOn
    this.penaltyRaised = from.penaltyRaised
    this.forgone = from.forgone
    this.atChargeOff = from.atChargeOff
    this.firstOwing = from.firstOwing
  }

  /** Returns the fold of the loan as it was disbursed, before any entry. */
  static ofDisbursement({ schedule }: Pick<LoanTerms, 'schedule'>): Fold {
    const periods = schedule.map(openPeriod)
    const totals = disbursed(periods)
    return new Fold({ ...BEFORE_ANY_ENTRY, periods, totals, owed: totalOf(totals.due) })
  }

  /** Returns a fold that continues from another one, which does not change. */
  static continuing(from: FoldedSoFar): Fold {
    return new Fold(from)
  }

  /** Raises the penalty, due with the last instalment, where anything is unpaid (contract 4.3.4). */
  raisePenalty({ penaltyAmount, schedule }: Pick<LoanTerms, 'penaltyAmount' | 'schedule'>): void {
    if (penaltyAmount === null || this.owed === 0n) return
    this.penaltyRaised = true
    this.owe(schedule.length - 1, 'penalty', penaltyAmount)
  }

  /** Applies the next entry in order. @returns what the entry did */
  apply(entry: Replayable): Outcome {
    const outcome = Fold.effect[entry.type](this, entry)
    invariant(this.owed === 0n || this.overpaid === 0n, 'never outstanding and overpaid at once')
    if (this.owed > 0n) this.paidOffOn = null
    else this.paidOffOn ??= entry.valueDate
    return outcome
  }

  private static readonly effect: Record<EntryType, (fold: Fold, entry: Replayable) => Outcome> = {
    Repayment: (fold, entry) => fold.receive(entry),
    'Recovery Repayment': (fold, entry) => fold.receive(entry),
    'Waive Interest': (fold, entry) => fold.waive(entry),
    Refund: (fold, entry) => fold.giveBack(entry, true),
    'Credit Balance Refund': (fold, entry) => fold.giveBack(entry, false),
    'Charge-off': (fold, entry) => fold.chargeOff(entry),
    'Write-off': (fold, entry) => fold.writeOff(entry),
  }

  /** Allocates money that comes in: to what is owed, then to what was written off; the rest is overpayment. */
  private receive(entry: Replayable): Outcome {
    const { amount } = entry
    const paid = this.allocate(PAYING, { amount, on: entry.valueDate, from: this.skipSettled() })
    if (this.writtenOffOn === null || paid.rest === 0n) {
      this.overpaid += paid.rest
      return { amount, portions: paid.portions, overpayment: paid.rest, credited: 0n, dropped: 0n }
    }
    const recovered = this.allocate(RECOVERING, { amount: paid.rest, on: entry.valueDate })
    this.overpaid += recovered.rest
    const portions = add(paid.portions, recovered.portions)
    return { amount, portions, overpayment: recovered.rest, credited: 0n, dropped: 0n }
  }

  private waive(entry: Replayable): Outcome {
    const { amount } = entry
    const { portions, rest } = this.giveUp(WAIVING, { amount, on: entry.valueDate, from: this.skipSettled() })
    return { amount, portions, overpayment: 0n, credited: 0n, dropped: rest }
  }

  /**
   * Takes money out: first from the overpayment, then, for a refund, from what was paid, latest instalment first. Where
   * an earlier payment was reversed, what is missing becomes principal that is owed again.
   */
  private giveBack(entry: Replayable, fromPaid: boolean): Outcome {
    invariant(!this.hasOpenPeriodsOnly, 'what was paid of each instalment is known')
    const { amount } = entry
    const overpayment = min(amount, this.overpaid)
    this.overpaid -= overpayment
    let rest = amount - overpayment
    let portions = noPortions()
    if (fromPaid && rest > 0n) {
      const allocated = this.allocate(UNPAYING, { amount: rest, on: entry.valueDate })
      portions = allocated.portions
      rest = allocated.rest
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
    let index = this.periods.findIndex((candidate) => candidate.dueDate >= on)
    if (index === -1) {
      const last = this.periods.at(-1)!
      const extra = { period: last.period + 1, fromDate: last.dueDate, dueDate: on }
      index = this.periods.push(openPeriod({ ...extra, principal: 0n, interest: 0n, fees: 0n })) - 1
    }
    this.owe(index, 'principal', amount)
  }

  /** Marks what is owed as charged off, without changing a balance; marks nothing where nothing is owed. */
  private chargeOff(entry: Replayable): Outcome {
    const isMarked = this.owed > 0n && this.chargedOffOn === null
    if (isMarked) {
      this.chargedOffOn = entry.valueDate
      const unearned = unearnedOn(this.periods, entry.valueDate)
      const { recovered: _, ...totals } = this.totals
      this.atChargeOff = { ...totals, unearned, forgone: this.forgone }
    }
    const portions = isMarked ? outstandingOf(this.totals) : noPortions()
    return { amount: totalOf(portions), portions, overpayment: 0n, credited: 0n, dropped: 0n }
  }

  private writeOff(entry: Replayable): Outcome {
    if (this.owed > 0n) this.writtenOffOn = entry.valueDate
    const { portions } = this.giveUp(WRITING_OFF, { amount: this.owed, on: entry.valueDate })
    return { amount: totalOf(portions), portions, overpayment: 0n, credited: 0n, dropped: 0n }
  }

  /** Adds to one component that is due in a period. */
  private owe(index: number, component: Component, amount: bigint): void {
    this.periods[index] = owing(this.periods[index]!, component, amount)
    this.totals.due = add(this.totals.due, { ...noPortions(), [component]: amount })
    this.owed += amount
    this.firstOwing = Math.min(this.firstOwing, index)
  }

  private allocate(rule: AllocationRule, dated: DatedAmount): Allocated {
    const allocated = allocate(this.periods, rule, dated)
    const { into, backwards } = rule
    this.totals[into] = (backwards ? subtract : add)(this.totals[into], allocated.portions)
    if (into !== 'recovered') this.owed -= backwards ? allocated.rest - dated.amount : dated.amount - allocated.rest
    return allocated
  }

  /** Waives or writes off, and notes what of it had not fallen due. */
  private giveUp(rule: AllocationRule & { into: keyof Forgone }, dated: DatedAmount): Allocated {
    const before = givenUpEarly(this.periods, rule.into, dated.on)
    const allocated = this.allocate(rule, dated)
    this.forgone = forgoing(this.forgone, rule.into, before, givenUpEarly(this.periods, rule.into, dated.on))
    return allocated
  }

  private skipSettled(): number {
    while (this.firstOwing < this.periods.length && this.periods[this.firstOwing]!.owed === 0n) this.firstOwing++
    return this.firstOwing
  }
}

function disbursed(periods: readonly Period[]): Totals {
  const due = noPortions()
  for (const period of periods) for (const component of COMPONENTS) due[component] += period.due[component]
  return { due, paid: noPortions(), waived: noPortions(), writtenOff: noPortions(), recovered: noPortions() }
}
