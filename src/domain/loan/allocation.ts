import type { LocalDate } from '../dates.ts'
import { min } from '../money.ts'
import type { Instalment } from '../schedule/schedule.ts'

/** Components of a debt, in the order in which money pays them within an instalment (contract 4.3.5). */
export const COMPONENTS = ['penalty', 'fees', 'interest', 'principal'] as const

export type Component = (typeof COMPONENTS)[number]

/** An amount by component, minor units. */
export type Portions = Record<Component, bigint>

/** Returns portions of 0, which the caller may add to. */
export const noPortions = (): Portions => ({ penalty: 0n, fees: 0n, interest: 0n, principal: 0n })

/** Returns the sum of all components, minor units. */
export const totalOf = (portions: Readonly<Portions>): bigint =>
  portions.penalty + portions.fees + portions.interest + portions.principal

/** Returns `a` plus `b`, component by component, minor units. */
export const add = (a: Readonly<Portions>, b: Readonly<Portions>): Portions => ({
  penalty: a.penalty + b.penalty,
  fees: a.fees + b.fees,
  interest: a.interest + b.interest,
  principal: a.principal + b.principal,
})

/** Returns `a` less `b`, component by component, minor units; negative where `b` is larger. */
export const subtract = (a: Readonly<Portions>, b: Readonly<Portions>): Portions => ({
  penalty: a.penalty - b.penalty,
  fees: a.fees - b.fees,
  interest: a.interest - b.interest,
  principal: a.principal - b.principal,
})

/** The buckets of a period, each with an amount by component. */
export type Bucket = 'due' | 'paid' | 'waived' | 'writtenOff' | 'recovered'

/** Sums over the periods of a loan. */
export type Totals = Record<Bucket, Readonly<Portions>>

/** Returns what is owed, by component. */
export const outstandingOf = ({ due, paid, waived, writtenOff }: Readonly<Totals>): Portions =>
  subtract(subtract(subtract(due, paid), waived), writtenOff)

/** An instalment and what has become of it. A period never changes: each change makes a new one. */
export interface Period extends Readonly<Totals> {
  readonly period: number
  readonly fromDate: LocalDate
  readonly dueDate: LocalDate
  /** The sum of all components: due less paid, waived and written off. */
  readonly owed: bigint
  /** The value date from which nothing is owed in the period. */
  readonly completedOn: LocalDate | null
}

/** Portions of 0, shared: not to be added to. */
export const NONE: Readonly<Portions> = noPortions()

/** Returns the period of an instalment to which nothing has happened. */
export const openPeriod = ({ period, fromDate, dueDate, principal, interest, fees }: Instalment): Period => ({
  period,
  fromDate,
  dueDate,
  due: { penalty: 0n, fees, interest, principal },
  paid: NONE,
  waived: NONE,
  writtenOff: NONE,
  recovered: NONE,
  owed: fees + interest + principal,
  completedOn: null,
})

/** Returns the period with more of one component due. */
export const owing = (period: Period, component: Component, amount: bigint): Period => ({
  ...period,
  due: { ...period.due, [component]: period.due[component] + amount },
  owed: period.owed + amount,
  completedOn: null,
})

/** Returns what is owed of one component of a period. */
export const owedOf = (period: Period, component: Component): bigint =>
  period.due[component] - period.paid[component] - period.waived[component] - period.writtenOff[component]

/** The rule of an allocation: the components in their order, the room of each, and the bucket. */
export interface AllocationRule {
  readonly components: readonly Component[]
  readonly room: (period: Period, component: Component) => bigint
  readonly into: Exclude<Bucket, 'due'>
  /** True where money is taken out again: the bucket falls, and the latest instalment comes first. */
  readonly backwards?: true
}

/** Penalty, fees, interest, principal; oldest instalment first (contract 4.3.5). */
export const PAYING: AllocationRule = { components: COMPONENTS, room: owedOf, into: 'paid' }
/** Interest only, oldest instalment first (contract 4.4). */
export const WAIVING = { components: ['interest'], room: owedOf, into: 'waived' } as const satisfies AllocationRule
export const WRITING_OFF = {
  components: COMPONENTS,
  room: owedOf,
  into: 'writtenOff',
} as const satisfies AllocationRule
export const RECOVERING: AllocationRule = {
  components: COMPONENTS,
  room: (period, component) => period.writtenOff[component] - period.recovered[component],
  into: 'recovered',
}
/** Un-paying: principal, interest, fees, penalty; latest instalment first (contract 4.4, refund). */
export const UNPAYING: AllocationRule = {
  components: COMPONENTS.toReversed(),
  room: (period, component) => period.paid[component],
  into: 'paid',
  backwards: true,
}

/** An amount as it was allocated: `rest` is what found no room, so that portions and rest sum to the amount. */
export interface Allocated {
  readonly portions: Portions
  readonly rest: bigint
}

/** An amount to allocate, and its value date. */
export interface DatedAmount {
  readonly amount: bigint
  /** The value date; it completes each period in which nothing is owed afterwards. */
  readonly on: LocalDate
  /** Index of the first period that may have room; left out: 0. */
  readonly from?: number
}

/**
 * Allocates an amount to the periods until the amount or the room is used up.
 * @param periods the list, in which each period that changes is replaced
 */
export function allocate(periods: Period[], rule: AllocationRule, { amount, on, from = 0 }: DatedAmount): Allocated {
  const portions = noPortions()
  let rest = amount
  for (let step = from; step < periods.length && rest > 0n; step++) {
    const index = rule.backwards ? periods.length - 1 - step : step
    const period = periods[index]!
    const into = { ...period[rule.into] }
    const before = rest
    for (const component of rule.components) {
      const part = min(rest, rule.room(period, component))
      if (part === 0n) continue
      into[component] += rule.backwards ? -part : part
      portions[component] += part
      rest -= part
    }
    periods[index] = settled(period, rule, into, { moved: before - rest, on })
  }
  return { portions, rest }
}

/** The period after `moved` was allocated to it. */
function settled(
  period: Period,
  rule: AllocationRule,
  into: Portions,
  { moved, on }: { readonly moved: bigint; readonly on: LocalDate },
): Period {
  // An instalment in which nothing was ever due is never completed.
  if (moved === 0n) return period
  // A recovery pays what was written off, which is no longer owed.
  const paidOff = rule.into === 'recovered' ? 0n : rule.backwards ? -moved : moved
  const owed = period.owed - paidOff
  return { ...period, [rule.into]: into, owed, completedOn: owed > 0n ? null : (period.completedOn ?? on) }
}
