import { dateIn, type LocalDate } from '../dates.ts'
import { invariant } from '../errors.ts'
import { min, sum } from '../money.ts'
import { openPeriod, outstandingOf, type Period, type Totals, WAIVING, WRITING_OFF } from './allocation.ts'
import { Debt, type FoldedSoFar } from './debt.ts'
import { type Entry, type EntryType, isCustomerRepayment } from './entry.ts'
import type { Outcome } from './outcomes.ts'
import { add, COMPONENTS, noPortions, totalOf } from './portions.ts'
import { NOTHING_FORGONE, unearnedOn } from './recognition.ts'
import { arrearsCarried, countsAs, settledOf } from './restructure/carriedArrears.ts'
import { dueBeforeMoves } from './restructure/movedDues.ts'
import { causeOf, planOf } from './restructure/plan.ts'
import { reschedule } from './restructure/reschedule.ts'
import { interestOfDay } from './rules/afterDue.ts'
import { chargesLeft, lastIndex, type Raised } from './rules/penalties.ts'
import { forgivenOn, forgivingRules } from './rules/settlement.ts'
import type { HeadTerms, LoanTerms } from './terms/terms.ts'

/** The fields of an entry that replay reads, stored or not yet stored. */
export type Replayable = Omit<Entry, 'id'>

const BEFORE_ANY_ENTRY = {
  overpaid: 0n,
  chargedOffOn: null,
  writtenOffOn: null,
  paidOffOn: null,
  penaltiesRaised: 0,
  interestAfterDue: 0n,
  lastInterestOn: null,
  fromPayments: 0n,
  lastPenaltyOn: null,
  forgone: NOTHING_FORGONE,
  atChargeOff: null,
  restructured: null,
  hasOpenPeriodsOnly: false,
  firstOwing: 0,
}

/** The state while entries are being applied, in order. */
export class Fold extends Debt {
  /** Returns the fold of the loan as it was disbursed, before any entry. */
  static ofDisbursement(terms: LoanTerms): Fold {
    const periods = terms.schedule.map(openPeriod)
    const totals = disbursed(periods)
    return new Fold(terms, { ...BEFORE_ANY_ENTRY, periods, totals, owed: totalOf(totals.due) })
  }

  /** Returns a fold that continues from another one, which does not change. */
  static continuing(terms: HeadTerms, from: FoldedSoFar): Fold {
    return new Fold(terms, from)
  }

  /** Raises penalties, each due with its instalment (contract 10.7). */
  raise(penalties: readonly Raised[]): void {
    for (const { index, times, amount, lastOn } of penalties) {
      this.owe(index, 'penalty', amount)
      const period = this.periods[index]!
      this.periods[index] = { ...period, penalties: period.penalties + times }
      this.penaltiesRaised += times
      if (this.lastPenaltyOn === null || this.lastPenaltyOn < lastOn) this.lastPenaltyOn = lastOn
    }
  }

  /** Raises the interest of a day after the last due date, due with the last instalment (contract 10.13). */
  runOn(day: LocalDate): void {
    const interest = interestOfDay(this.terms, this)
    if (interest === 0n) return
    this.owe(lastIndex(this.terms, this), 'interest', interest)
    this.interestAfterDue += interest
    this.lastInterestOn = day
  }

  /** Applies the next entry in order. @returns what the entry did */
  apply(entry: Replayable): Outcome {
    const outcome = Fold.effect[entry.type](this, entry)
    if (isCustomerRepayment(entry.type) && forgivingRules(this.terms) !== null)
      this.received.push({ ordinal: entry.ordinal, outcome })
    this.noteIfPaidOff(entry.valueDate)
    return outcome
  }

  private static readonly effect: Record<EntryType, (fold: Fold, entry: Replayable) => Outcome> = {
    Repayment: (fold, entry) => fold.receive(entry),
    'Recovery Repayment': (fold, entry) => fold.receive(entry),
    'Waive Interest': (fold, entry) => fold.waive(WAIVING['Waive Interest'], entry),
    'Waive Fees': (fold, entry) => fold.waive(WAIVING['Waive Fees'], entry),
    'Waive Penalty': (fold, entry) => fold.waive(WAIVING['Waive Penalty'], entry),
    Restructure: (fold, entry) => fold.restructure(entry),
    Refund: (fold, entry) => fold.giveBack(entry, true),
    'Credit Balance Refund': (fold, entry) => fold.giveBack(entry, false),
    'Charge-off': (fold, entry) => fold.chargeOff(entry),
    'Write-off': (fold, entry) => fold.writeOff(entry),
    Fee: (fold, entry) => fold.charge(entry, 'fees'),
    Penalty: (fold, entry) => fold.charge(entry, 'penalty'),
    'Settlement Waiver': (fold, entry) => fold.settle(entry),
  }

  /** Allocates money that comes in: to what is owed, then to what was written off; the rest is overpayment. */
  private receive(entry: Replayable): Outcome {
    const { amount } = entry
    if (entry.paymentId) this.fromPayments += amount
    const paid = this.allocate(this.money.paying, { amount, on: entry.valueDate, from: this.skipSettled() })
    if (this.writtenOffOn === null || paid.rest === 0n) {
      this.overpaid += paid.rest
      return { amount, portions: paid.portions, overpayment: paid.rest, credited: 0n, dropped: 0n }
    }
    const recovered = this.allocate(this.money.recovering, { amount: paid.rest, on: entry.valueDate })
    this.overpaid += recovered.rest
    const portions = add(paid.portions, recovered.portions)
    return { amount, portions, overpayment: recovered.rest, credited: 0n, dropped: 0n }
  }

  private waive(rule: (typeof WAIVING)[keyof typeof WAIVING], entry: Replayable): Outcome {
    const { amount, valueDate: on, ordinal } = entry
    const { portions, rest } = this.giveUp(rule, { amount, on, from: this.skipSettled() }, ordinal)
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
      const allocated = this.allocate(this.money.unpaying, { amount: rest, on: entry.valueDate })
      portions = allocated.portions
      rest = allocated.rest
      this.firstOwing = 0
    }
    if (rest > 0n) {
      this.oweAgain(rest, entry.valueDate)
      this.hadFallen({ ordinal: entry.ordinal, day: entry.valueDate, isExact: false })
      portions.principal += rest
    }
    return { amount, portions, overpayment, credited: rest, dropped: 0n }
  }

  /** Adds a single charge, as far as the cap leaves room; overpayment pays it at once (contract 10.12). */
  private charge(entry: Replayable, component: 'fees' | 'penalty'): Outcome {
    const { amount, valueDate, dueOn, ordinal, restructure } = entry
    const isDueNow = causeOf(restructure) !== undefined && restructure && 'of' in restructure && restructure.isDueNow
    const charged = min(amount, chargesLeft(this.terms, this.totals.due, component) ?? amount)
    const overpayment = min(charged, this.overpaid)
    if (charged > 0n) {
      const day = dueOn ?? valueDate
      const index = isDueNow ? this.indexDueExactlyOn(day) : this.indexDueOn(day)
      this.owe(index, component, charged)
      if (this.hadFallen({ ordinal, day, isExact: isDueNow === true }) && component === 'fees')
        this.periods[index] = withFallen(this.periods[index]!, charged)
      this.overpaid -= overpayment
      this.allocate(this.money.paying, { amount: overpayment, on: valueDate })
    }
    const portions = { ...noPortions(), [component]: charged - overpayment }
    return { amount, portions, overpayment, credited: 0n, dropped: amount - charged }
  }

  /** Returns whether what an entry adds had fallen due before a restructure that is told after the entry moved its due date. */
  private hadFallen(due: Parameters<typeof dueBeforeMoves>[1]): boolean {
    if (this.restructured === null) return false
    const { moved, hasFallen } = dueBeforeMoves(this.restructured.moved, due)
    this.restructured = { ...this.restructured, moved }
    return hasFallen
  }

  /** Waives the interest that a settlement on the day forgives, where the loan is settled: nothing else is owed. */
  private settle({ valueDate: on }: Replayable): Outcome {
    invariant(!this.hasOpenPeriodsOnly, 'what was paid of each instalment is known')
    const forgiven = forgivenOn(this.terms, this.periods, on)
    const most = sum(forgiven)
    const isSettled = most > 0n && this.owed <= most && this.writtenOffOn === null
    const interest = isSettled ? this.forgive(forgiven, on) : 0n
    return { amount: interest, portions: { ...noPortions(), interest }, overpayment: 0n, credited: 0n, dropped: 0n }
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

  /** Schedules again what is owed, and adds the interest of the time that this adds, as far as the cap leaves room. */
  private restructure({ valueDate: on, postedAt, ordinal, restructure }: Replayable): Outcome {
    const plan = planOf(restructure)
    invariant(plan && !this.hasOpenPeriodsOnly, 'a restructure has a plan, and all instalments are known')
    const { ratePerPeriod, zone, rules } = this.terms
    const interestTax = rules?.taxes?.interest ?? null
    const room = chargesLeft(this.terms, this.totals.due, 'fees')
    const postedOn = dateIn(zone, postedAt)
    const done = reschedule(this.periods, plan, { ordinal, on, postedOn, ratePerPeriod, interestTax, room })
    if (!done) return { amount: 0n, portions: noPortions(), overpayment: 0n, credited: 0n, dropped: 0n }
    const arrears = arrearsCarried(this, plan.reason, on)
    const movedBefore = this.restructured?.moved ?? []
    const dueDates = this.periods.map(({ dueDate }) => dueDate)
    this.restructured = {
      ordinal,
      on,
      countsAs: countsAs(plan, arrears),
      dueOn: done.dueOn,
      arrears,
      settledBefore: settledOf(this.totals),
      moved: on < postedOn ? [...movedBefore, { ordinal, postedOn, dueDates }] : movedBefore,
    }
    this.periods = done.periods.slice()
    const portions = { ...noPortions(), interest: done.added }
    this.totals.due = add(this.totals.due, portions)
    this.owed += done.added
    this.firstOwing = 0
    return { amount: done.added + done.dropped, portions, overpayment: 0n, credited: 0n, dropped: done.dropped }
  }

  private writeOff(entry: Replayable): Outcome {
    if (this.owed > 0n) this.writtenOffOn = entry.valueDate
    const { portions } = this.giveUp(WRITING_OFF, { amount: this.owed, on: entry.valueDate }, entry.ordinal)
    return { amount: totalOf(portions), portions, overpayment: 0n, credited: 0n, dropped: 0n }
  }
}

/** Returns an instalment of which a fee had fallen due before. */
const withFallen = (period: Period, fees: bigint): Period => ({
  ...period,
  fallen: { interest: period.fallen?.interest ?? 0n, fees: (period.fallen?.fees ?? 0n) + fees },
})

function disbursed(periods: readonly Period[]): Totals {
  const due = noPortions()
  for (const period of periods) for (const component of COMPONENTS) due[component] += period.due[component]
  return { due, paid: noPortions(), waived: noPortions(), writtenOff: noPortions(), recovered: noPortions() }
}
