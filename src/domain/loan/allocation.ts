import type { LocalDate } from '../dates.ts'
import { min } from '../money.ts'
import type { Instalment } from '../schedule/schedule.ts'
import { COMPONENTS, type Component, NONE, noPortions, type Portions, subtract } from './portions.ts'

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
  /** The number of penalties that were raised with the period for what was unpaid of it. */
  readonly penalties: number
  /** Interest and fees, due in it, that had fallen due when a restructure was posted; left out where none gave it its date. */
  readonly fallen?: { readonly interest: bigint; readonly fees: bigint }
  /** What a restructure that was told late has moved: the period as entries that were posted before it have seen it. */
  readonly before?: PeriodBefore | undefined
}

/** The due date of a period before a restructure, and what had fallen due in it then. */
export interface PeriodBefore extends Pick<Period, 'dueDate' | 'before'> {
  /** The ordinal of the restructure. */
  readonly ordinal: number
  readonly fallen: Period['fallen'] | undefined
}

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
  penalties: 0,
})

/** Returns the period with more of one component due. */
export const owing = (period: Period, component: Component, amount: bigint): Period => ({
  ...period,
  due: { ...period.due, [component]: period.due[component] + amount },
  owed: period.owed + amount,
  completedOn: null,
})

/** Returns the period after a settlement that forgives a part of its interest, which may be paid already. */
export function forgiving(period: Period, forgiven: bigint, on: LocalDate): Period {
  const unpaid = min(owedOf(period, 'interest'), forgiven)
  const owed = period.owed - unpaid
  return {
    ...period,
    waived: { ...period.waived, interest: period.waived.interest + forgiven },
    paid: { ...period.paid, interest: period.paid.interest - (forgiven - unpaid) },
    owed,
    completedOn: owed > 0n ? null : (period.completedOn ?? on),
  }
}

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
const PAYING: AllocationRule = { components: COMPONENTS, room: owedOf, into: 'paid' }
const waivingOf = (component: Component) =>
  ({ components: [component], room: owedOf, into: 'waived' }) as const satisfies AllocationRule

/** One component, oldest instalment first (contract 4.4). */
export const WAIVING = {
  'Waive Interest': waivingOf('interest'),
  'Waive Fees': waivingOf('fees'),
  'Waive Penalty': waivingOf('penalty'),
} as const
export const WRITING_OFF = {
  components: COMPONENTS,
  room: owedOf,
  into: 'writtenOff',
} as const satisfies AllocationRule
const RECOVERING: AllocationRule = {
  components: COMPONENTS,
  room: (period, component) => period.writtenOff[component] - period.recovered[component],
  into: 'recovered',
}
/** Un-paying: principal, interest, fees, penalty; latest instalment first (contract 4.4, refund). */
const UNPAYING: AllocationRule = {
  components: COMPONENTS.toReversed(),
  room: (period, component) => period.paid[component],
  into: 'paid',
  backwards: true,
}

/** The rules by which the money of a loan is allocated. */
export interface MoneyRules {
  readonly paying: AllocationRule
  readonly recovering: AllocationRule
  readonly unpaying: AllocationRule
}

const USUAL: MoneyRules = { paying: PAYING, recovering: RECOVERING, unpaying: UNPAYING }

/** Returns the rules of an order of components (contract 10.10); of the order of contract 4.3.5 without one. */
export function moneyRulesOf(components: readonly Component[] | undefined): MoneyRules {
  if (components === undefined) return USUAL
  return {
    paying: { ...PAYING, components },
    recovering: { ...RECOVERING, components },
    unpaying: { ...UNPAYING, components: components.toReversed() },
  }
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
