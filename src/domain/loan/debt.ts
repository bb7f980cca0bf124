import type { LocalDate } from '../dates.ts'
import { invariant } from '../errors.ts'
import { min, sum } from '../money.ts'
import {
  type Allocated,
  type AllocationRule,
  allocate,
  type DatedAmount,
  forgiving,
  type MoneyRules,
  moneyRulesOf,
  openPeriod,
  owedOf,
  owing,
  type Period,
  type Totals,
} from './allocation.ts'
import type { Folded } from './balances.ts'
import { add, type Component, noPortions, subtract } from './portions.ts'
import { type AtChargeOff, type Forgone, forgoing, givenUpEarly } from './recognition.ts'
import type { Restructured } from './restructure/carriedArrears.ts'
import { asSeenBy } from './restructure/movedDues.ts'
import { interestOf, type Received } from './rules/settlement.ts'
import type { HeadTerms } from './terms/terms.ts'

/** A fold that another one can continue from. */
export interface FoldedSoFar extends Folded {
  /** True where the periods are the open ones alone, each with what is left of it. */
  readonly hasOpenPeriodsOnly: boolean
  /** Index before which no period owes anything: with many entries, the periods before it are not searched again. */
  readonly firstOwing: number
}

/** What a loan owes while entries are applied, and how amounts move in it. */
export class Debt implements FoldedSoFar {
  periods: Period[]
  /** Sums over the periods, kept up to date so that no entry has to add them up. */
  readonly totals: Totals
  /** Owed in all periods. */
  owed: bigint
  overpaid: bigint
  chargedOffOn: LocalDate | null
  writtenOffOn: LocalDate | null
  /** The value date from which nothing is owed. */
  paidOffOn: LocalDate | null
  penaltiesRaised: number
  interestAfterDue: bigint
  lastInterestOn: LocalDate | null
  fromPayments: bigint
  lastPenaltyOn: LocalDate | null
  forgone: Forgone
  atChargeOff: AtChargeOff | null
  restructured: Restructured | null
  readonly hasOpenPeriodsOnly: boolean
  firstOwing: number
  /** Money that came in, in the order of the replay, with what it did; only of a loan that a settlement may forgive. */
  readonly received: Received[] = []
  protected readonly terms: HeadTerms
  protected readonly money: MoneyRules

  protected constructor(terms: HeadTerms, from: FoldedSoFar) {
    this.terms = terms
    this.money = moneyRulesOf(terms.rules?.allocation)
    this.periods = from.periods.slice()
    this.totals = { ...from.totals }
    this.owed = from.owed
    this.hasOpenPeriodsOnly = from.hasOpenPeriodsOnly
    this.overpaid = from.overpaid
    this.chargedOffOn = from.chargedOffOn
    this.writtenOffOn = from.writtenOffOn
    this.paidOffOn = from.paidOffOn
    this.penaltiesRaised = from.penaltiesRaised
    this.interestAfterDue = from.interestAfterDue
    this.lastInterestOn = from.lastInterestOn
    this.fromPayments = from.fromPayments
    this.lastPenaltyOn = from.lastPenaltyOn
    this.forgone = from.forgone
    this.atChargeOff = from.atChargeOff
    this.restructured = from.restructured
    this.firstOwing = from.firstOwing
  }

  /** Notes the day from which nothing is owed. */
  protected noteIfPaidOff(on: LocalDate): void {
    invariant(this.owed === 0n || this.overpaid === 0n, 'never outstanding and overpaid at once')
    if (this.owed > 0n) this.paidOffOn = null
    else this.paidOffOn ??= on
  }

  /** Adds principal to the instalment due on or after the date, or to an extra one where none is. */
  protected oweAgain(amount: bigint, on: LocalDate): void {
    this.owe(this.indexDueOn(on), 'principal', amount)
  }

  /** Returns the index of the instalment due on or after a day, or of an extra one where none is. */
  protected indexDueOn(day: LocalDate): number {
    const index = this.periods.findIndex((candidate) => candidate.dueDate >= day)
    if (index !== -1) return index
    const last = this.periods.at(-1)!
    const extra = { period: last.period + 1, fromDate: last.dueDate, dueDate: day }
    return this.periods.push(openPeriod({ ...extra, principal: 0n, interest: 0n, fees: 0n })) - 1
  }

  /** Returns the index of the instalment due on a day, or of one more that is due then where none is. */
  protected indexDueExactlyOn(day: LocalDate): number {
    const index = this.periods.findIndex(({ dueDate }) => dueDate >= day)
    if (index === -1 || this.periods[index]!.dueDate === day) return this.indexDueOn(day)
    const { period, fromDate } = this.periods[index]!
    const extra = openPeriod({ period, fromDate, dueDate: day, principal: 0n, interest: 0n, fees: 0n })
    const later = this.periods.slice(index).map((one) => ({ ...one, period: one.period + 1 }))
    this.periods.splice(index, this.periods.length, extra, ...later)
    return index
  }

  /** Adds to one component that is due in a period. */
  protected owe(index: number, component: Component, amount: bigint): void {
    this.periods[index] = owing(this.periods[index]!, component, amount)
    this.totals.due = add(this.totals.due, { ...noPortions(), [component]: amount })
    this.owed += amount
    this.firstOwing = Math.min(this.firstOwing, index)
  }

  /** Allocates an amount, and keeps the sums up to date. */
  protected allocate(rule: AllocationRule, dated: DatedAmount): Allocated {
    const allocated = allocate(this.periods, rule, dated)
    const { into, backwards } = rule
    this.totals[into] = (backwards ? subtract : add)(this.totals[into], allocated.portions)
    if (into !== 'recovered') this.owed -= backwards ? allocated.rest - dated.amount : dated.amount - allocated.rest
    return allocated
  }

  /** Waives or writes off by an entry of an ordinal, and notes what of it had not fallen due. */
  protected giveUp(rule: AllocationRule & { into: keyof Forgone }, dated: DatedAmount, ordinal: number): Allocated {
    const early = () => givenUpEarly(asSeenBy(this.periods, ordinal), rule.into, dated.on)
    const before = early()
    const allocated = this.allocate(rule, dated)
    this.forgone = forgoing(this.forgone, rule.into, before, early())
    return allocated
  }

  /** Returns the index of the first period that owes anything. */
  protected skipSettled(): number {
    while (this.firstOwing < this.periods.length && this.periods[this.firstOwing]!.owed === 0n) this.firstOwing++
    return this.firstOwing
  }

  /**
   * Waives interest of instalments, paid or not. What had paid it pays what else is owed, and the rest is overpayment, in
   * the outcomes of `received`.
   * @param most by instalment; no more is waived than the interest that was charged and not given up
   * @returns what was waived
   */
  forgive(most: readonly bigint[], on: LocalDate): bigint {
    const before = givenUpEarly(this.periods, 'waived', on)
    let [waived, unpaid] = [0n, 0n]
    for (const [index, period] of this.periods.entries()) {
      const { due, waived: waivedBefore, writtenOff } = period
      const interest = min(most[index] ?? 0n, due.interest - waivedBefore.interest - writtenOff.interest)
      if (interest <= 0n) continue
      waived += interest
      unpaid += min(owedOf(period, 'interest'), interest)
      this.periods[index] = forgiving(period, interest, on)
    }
    const freed = waived - unpaid
    this.totals.waived = add(this.totals.waived, { ...noPortions(), interest: waived })
    this.totals.paid = subtract(this.totals.paid, { ...noPortions(), interest: freed })
    this.owed -= unpaid
    this.forgone = forgoing(this.forgone, 'waived', before, givenUpEarly(this.periods, 'waived', on))
    this.payAgain(freed, on)
    this.noteIfPaidOff(on)
    return waived
  }

  /** Pays with the money that had paid forgiven interest, each part in the entry that brought it. */
  private payAgain(freed: bigint, on: LocalDate): void {
    const parts = interestOf(this.received, freed)
    for (const [index, interest] of parts) {
      const { ordinal, outcome } = this.received[index]!
      const { portions, rest } = this.allocate(this.money.paying, { amount: interest, on })
      this.overpaid += rest
      const moved = add(subtract(outcome.portions, { ...noPortions(), interest }), portions)
      const overpayment = outcome.overpayment + rest
      this.received[index] = { ordinal, outcome: { ...outcome, portions: moved, overpayment } }
    }
    // A fold that continues from another one does not know the entries before it.
    const left = freed - sum(parts.map(([, interest]) => interest))
    this.overpaid += this.allocate(this.money.paying, { amount: left, on }).rest
  }
}
