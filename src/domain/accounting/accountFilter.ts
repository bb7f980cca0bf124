import type { LocalDate } from '../dates.ts'
import type { Charts, ChartVersion } from './chartsInForce.ts'
import { chartOn, turnsOf } from './chartsInForce.ts'
import { SLOTS } from './slots.ts'

/** Slots as the sum of 2 to the power of the place of each in `SLOTS`. */
export type SlotMask = number

/** The postings that have a line on an account. */
export interface OnAccount {
  /** The slots of the account by booked day: from a day on (null: from the beginning) and before another (null: for ever). */
  readonly spans: readonly {
    readonly from: LocalDate | null
    readonly before: LocalDate | null
    readonly slots: SlotMask
  }[]
  /** The slots of the account in each version of the chart, for postings that move amounts. */
  readonly versions: readonly { readonly version: number; readonly slots: SlotMask }[]
  /** The code of the account: that of a channel, where no slot has it. */
  readonly code: string
}

/** Returns which postings have a line on the account with a code. */
export function onAccount(charts: Charts, code: string): OnAccount {
  const starts = [null, ...turnsOf(charts)]
  return {
    code,
    spans: starts.flatMap((from, index) => {
      const slots = maskOf(chartOn(charts, from), code)
      return slots === 0 ? [] : [{ from, before: starts[index + 1] ?? null, slots }]
    }),
    versions: charts.flatMap((chart) => {
      const slots = maskOf(chart, code)
      return slots === 0 ? [] : [{ version: chart.version, slots }]
    }),
  }
}

const maskOf = ({ chart }: ChartVersion, code: string): SlotMask =>
  SLOTS.reduce((mask, slot, place) => mask + (chart.slots[slot] === code ? 2 ** place : 0), 0)
