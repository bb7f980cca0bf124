import type { LocalDate } from './dates.ts'
import { least } from './money.ts'
import type { Instalment } from './schedule.ts'

/** The components of a debt, in the order in which money pays them within an instalment (contract 4.3.5). */
export const COMPONENTS = ['penalty', 'fees', 'interest', 'principal'] as const

export type Component = (typeof COMPONENTS)[number]

/** An amount by component, minor units. */
export type Portions = Record<Component, bigint>

export const noPortions = (): Portions => ({ penalty: 0n, fees: 0n, interest: 0n, principal: 0n })

export const totalOf = (portions: Readonly<Portions>): bigint =>
  portions.penalty + portions.fees + portions.interest + portions.principal

export const add = (a: Readonly<Portions>, b: Readonly<Portions>): Portions => ({
  penalty: a.penalty + b.penalty,
  fees: a.fees + b.fees,
  interest: a.interest + b.interest,
  principal: a.principal + b.principal,
})

/** An instalment and what has become of it so far. */
export interface Period {
  readonly period: number
  readonly fromDate: LocalDate
  readonly dueDate: LocalDate
  readonly due: Portions
  readonly paid: Portions
  readonly waived: Portions
  readonly writtenOff: Portions
  /** Of what was written off, what has come back. */
  readonly recovered: Portions
  /** The value date that left nothing owed in it. */
  completedOn: LocalDate | null
}

/** An instalment before anything has happened to it. */
export const openPeriod = ({ period, fromDate, dueDate, principal, interest, fees }: Instalment): Period => ({
  period,
  fromDate,
  dueDate,
  due: { penalty: 0n, fees, interest, principal },
  paid: noPortions(),
  waived: noPortions(),
  writtenOff: noPortions(),
  recovered: noPortions(),
  completedOn: null,
})

/** The same, to be changed on its own. */
export const copyPeriod = (period: Period): Period => ({
  ...period,
  due: { ...period.due },
  paid: { ...period.paid },
  waived: { ...period.waived },
  writtenOff: { ...period.writtenOff },
  recovered: { ...period.recovered },
})

/** What is owed of one component of a period. */
export const owed = (period: Period, component: Component): bigint =>
  period.due[component] - period.paid[component] - period.waived[component] - period.writtenOff[component]

/** What is owed in a period, all components together. */
export const owedIn = (period: Period): bigint =>
  totalOf(period.due) - totalOf(period.paid) - totalOf(period.waived) - totalOf(period.writtenOff)

/** Where an amount goes: which components, in which order, how much each has room for, and what is recorded. */
export interface Pouring {
  readonly components: readonly Component[]
  readonly room: (period: Period, component: Component) => bigint
  readonly into: 'paid' | 'waived' | 'writtenOff' | 'recovered'
  /** Taking money back out: what is recorded falls, and the order is the reverse, latest instalment first. */
  readonly backwards?: true
}

/** Penalty, fees, interest, principal; oldest instalment first (contract 4.3.5). */
export const PAYING: Pouring = { components: COMPONENTS, room: owed, into: 'paid' }
/** Interest only, oldest instalment first (contract 4.4). */
export const WAIVING: Pouring = { components: ['interest'], room: owed, into: 'waived' }
export const WRITING_OFF: Pouring = { components: COMPONENTS, room: owed, into: 'writtenOff' }
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
 * Pours an amount over the periods until it or the room is used up, and marks the day on which a period's debt ended.
 * @param from index of the first period worth looking at: earlier ones have no room
 */
export function pour(periods: readonly Period[], amount: bigint, how: Pouring, on: LocalDate, from = 0): Poured {
  const portions = noPortions()
  let rest = amount
  for (let step = from; step < periods.length && rest > 0n; step++) {
    const period = periods[how.backwards ? periods.length - 1 - step : step]!
    for (const component of how.components) {
      const part = least(rest, how.room(period, component))
      if (part === 0n) continue
      period[how.into][component] += how.backwards ? -part : part
      portions[component] += part
      rest -= part
    }
    markCompletion(period, on)
  }
  return { portions, rest }
}

/** Notes the day on which nothing was left owed in a period, and forgets it when something is owed again. */
export function markCompletion(period: Period, on: LocalDate): void {
  if (owedIn(period) > 0n) period.completedOn = null
  else period.completedOn ??= on
}
