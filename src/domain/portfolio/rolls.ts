import type { Bucket, DelinquencyPolicy } from '../delinquency/policy.ts'
import type { NoPosition, Position } from '../delinquency/position.ts'

/** Where a loan stands on a day: the index of its bucket, or why it has none. */
export type Place = number | NoPosition

/** Loans of a currency that stood in one place on the first of two days, and in one on the last. */
export interface Roll {
  readonly currency: string
  readonly opening: Place
  readonly closing: Place
  readonly loans: number
  /** The principal outstanding on the first day, in minor units; of loans that were not open then, that on the last. */
  readonly principal: bigint
}

/** Returns the roll of one loan; undefined where it was open on neither day. */
export function rollOf(currency: string, first: Position | NoPosition, last: Position | NoPosition): Roll | undefined {
  const place = (position: Position | NoPosition): Place => (typeof position === 'string' ? position : position.index)
  const open = typeof first !== 'string' ? first : typeof last !== 'string' ? last : undefined
  // A loan that was lent and paid back between the two days was open on neither.
  return open && { currency, opening: place(first), closing: place(last), loans: 1, principal: open.principal }
}

/** A number of loans, and principal in minor units. */
export interface Moved {
  readonly loans: number
  readonly principal: bigint
}

/** The loans of one place on the first day, and where they were on the last. */
export interface RollRow extends Moved {
  /** By bucket of the last day, in order. */
  readonly to: readonly (Moved & { readonly bucket: Bucket })[]
  readonly closed: Moved
  readonly writtenOff: Moved
}

/** How the loans of a currency moved between the buckets. */
export interface RollRates {
  readonly currency: string
  /** By bucket of the first day, in order. */
  readonly from: readonly (RollRow & { readonly bucket: Bucket })[]
  /** Loans that were lent after the first day. Their principal is that of the last day. */
  readonly lent: RollRow
  /** Loans that owed nothing on the first day and do on the last, such as after a refund. Their principal is that of the last day. */
  readonly reopened: RollRow
}

/** Returns how loans moved between the buckets, by currency. Each row sums to its opening. */
export function rollRatesOf(rolls: readonly Roll[], { buckets }: DelinquencyPolicy): RollRates[] {
  const byCurrency = Map.groupBy(
    rolls.toSorted((a, b) => (a.currency < b.currency ? -1 : a.currency > b.currency ? 1 : 0)),
    ({ currency }) => currency,
  )
  return [...byCurrency].map(([currency, some]) => {
    const rowOf = (...openings: readonly Place[]): RollRow => {
      const opened = some.filter(({ opening }) => openings.includes(opening))
      const at = (closing: Place) => movedOf(opened.filter((roll) => roll.closing === closing))
      return {
        ...movedOf(opened),
        to: buckets.map((bucket, index) => ({ bucket, ...at(index) })),
        closed: at('closed'),
        writtenOff: at('written off'),
      }
    }
    return {
      currency,
      from: buckets.map((bucket, index) => ({ bucket, ...rowOf(index) })),
      lent: rowOf('not lent'),
      reopened: rowOf('closed', 'written off'),
    }
  })
}

const movedOf = (rolls: readonly Roll[]): Moved => ({
  loans: rolls.reduce((sum, { loans }) => sum + loans, 0),
  principal: rolls.reduce((sum, { principal }) => sum + principal, 0n),
})
