import type { LocalDate } from '../dates.ts'
import { least } from '../money.ts'
import type { Instalment } from '../schedule/schedule.ts'

/** The components of a debt, in the order in which money pays them within an instalment (contract 4.3.5). */
export const COMPONENTS = ['penalty', 'fees', 'interest', 'principal'] as const

export type Component = (typeof COMPONENTS)[number]

/** An amount by component, minor units. */
export type Portions = Record<Component, bigint>

/** Nothing of any component; a fresh one, to be added to. */
export const noPortions = (): Portions => ({ penalty: 0n, fees: 0n, interest: 0n, principal: 0n })

/** All components together, minor units. */
export const totalOf = (portions: Readonly<Portions>): bigint =>
  portions.penalty + portions.fees + portions.interest + portions.principal

/** Component by component, minor units; both stay as they are. */
export const add = (a: Readonly<Portions>, b: Readonly<Portions>): Portions => ({
  penalty: a.penalty + b.penalty,
  fees: a.fees + b.fees,
  interest: a.interest + b.interest,
  principal: a.principal + b.principal,
})

/** `a` less `b`, component by component, minor units; where `b` is larger the difference is negative. */
export const take = (a: Readonly<Portions>, b: Readonly<Portions>): Portions => ({
  penalty: a.penalty - b.penalty,
  fees: a.fees - b.fees,
  interest: a.interest - b.interest,
  principal: a.principal - b.principal,
})

/** What happens to the debt of a period, each with an amount by component. */
export type Bucket = 'due' | 'paid' | 'waived' | 'writtenOff' | 'recovered'

/** Sums over the periods of a loan. */
export type Totals = Record<Bucket, Readonly<Portions>>

/** What is owed by component. */
export const outstandingOf = ({ due, paid, waived, writtenOff }: Readonly<Totals>): Portions =>
  take(take(take(due, paid), waived), writtenOff)

/** An instalment and what has become of it so far. It never changes: what happens to it makes another one. */
export interface Period extends Readonly<Totals> {
  readonly period: number
  readonly fromDate: LocalDate
  readonly dueDate: LocalDate
  /** Owed in it, all components together: due less paid, waived and written off. */
  readonly owed: bigint
  /** The value date that left nothing owed in it. */
  readonly completedOn: LocalDate | null
}

/** Nothing of any component, for all who have nothing. */
export const NONE: Readonly<Portions> = noPortions()

/** An instalment before anything has happened to it. */
export const openPeriod = ({ period, fromDate, dueDate, principal, interest, fees }: Instalment): Period => ({
  period,
  fromDate,
  dueDate,
  due: { penalty: 0n, fees, interest, principal },
  paid: NONE,
  waived: NONE,
  writtenOff: NONE,
  // Of what was written off, what has come back.
  recovered: NONE,
  owed: fees + interest + principal,
  completedOn: null,
})

/** The period with more of one component due. */
export const owing = (period: Period, component: Component, amount: bigint): Period => ({
  ...period,
  due: { ...period.due, [component]: period.due[component] + amount },
  owed: period.owed + amount,
  completedOn: null,
})

/** What is owed of one component of a period. */
const roomOwed = (period: Period, component: Component): bigint =>
  period.due[component] - period.paid[component] - period.waived[component] - period.writtenOff[component]

/** Where an amount goes: which components, in which order, how much each has room for, and what is recorded. */
export interface Pouring {
  readonly components: readonly Component[]
  readonly room: (period: Period, component: Component) => bigint
  readonly into: Exclude<Bucket, 'due'>
  /** Taking money back out: what is recorded falls, and the order is the reverse, latest instalment first. */
  readonly backwards?: true
}

/** Penalty, fees, interest, principal; oldest instalment first (contract 4.3.5). */
export const PAYING: Pouring = { components: COMPONENTS, room: roomOwed, into: 'paid' }
/** Interest only, oldest instalment first (contract 4.4). */
export const WAIVING: Pouring = { components: ['interest'], room: roomOwed, into: 'waived' }
export const WRITING_OFF: Pouring = { components: COMPONENTS, room: roomOwed, into: 'writtenOff' }
export const RECOVERING: Pouring = {
  components: COMPONENTS,
  room: (period, component) => period.writtenOff[component] - period.recovered[component],
  into: 'recovered',
}
/** Un-paying: principal, interest, fees, penalty; latest instalment first (contract 4.4, refund). */
export const UNPAYING: Pouring = {
  components: COMPONENTS.toReversed(),
  room: (period, component) => period.paid[component],
  into: 'paid',
  backwards: true,
}

/** How an amount was split; `rest` is what found no room, so that portions and rest sum to the amount. */
export interface Poured {
  readonly portions: Portions
  readonly rest: bigint
}

/**
 * Pours an amount over the periods until it or the room is used up, and notes the day on which a period's debt ended.
 * @param periods those that change are replaced in the list
 * @param from index of the first period worth looking at: earlier ones have no room
 */
export function pour(periods: Period[], amount: bigint, how: Pouring, on: LocalDate, from = 0): Poured {
  const portions = noPortions()
  let rest = amount
  for (let step = from; step < periods.length && rest > 0n; step++) {
    const index = how.backwards ? periods.length - 1 - step : step
    const period = periods[index]!
    const into = { ...period[how.into] }
    const before = rest
    for (const component of how.components) {
      const part = least(rest, how.room(period, component))
      if (part === 0n) continue
      into[component] += how.backwards ? -part : part
      portions[component] += part
      rest -= part
    }
    periods[index] = settled(period, how, into, before - rest, on)
  }
  return { portions, rest }
}

/** The period after `moved` was poured over it. */
function settled(period: Period, how: Pouring, into: Portions, moved: bigint, on: LocalDate): Period {
  // Passed over: of an instalment in which nothing was ever due, no day ended the debt.
  if (moved === 0n) return period
  // What is recovered was no longer owed.
  const paidOff = how.into === 'recovered' ? 0n : how.backwards ? -moved : moved
  const owed = period.owed - paidOff
  return { ...period, [how.into]: into, owed, completedOn: owed > 0n ? null : (period.completedOn ?? on) }
}
