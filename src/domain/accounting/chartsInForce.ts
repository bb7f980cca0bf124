import type { LocalDate } from '../dates.ts'
import { invariant } from '../errors.ts'
import { type Chart, DEFAULT_CHART, type LedgerAccount } from './chart.ts'

/** A chart that the journal has taken up. */
export interface ChartVersion {
  readonly version: number
  readonly chart: Chart
  /** The first booked day for which the chart counts; null: it counts from the beginning. */
  readonly countsFrom: LocalDate | null
}

/** The charts that the journal of a lender has taken up, by version. The first one is version 1. */
export type Charts = readonly ChartVersion[]

/** The chart of a lender that has set none. */
export const FIRST_CHART: ChartVersion = { version: 1, chart: DEFAULT_CHART, countsFrom: null }

/**
 * Returns the chart in force on a booked day: of the charts that count from that day, from a day before or from the
 * beginning, the one with the highest version.
 * @param day null: a day before any chart that counts from a day
 */
export function chartOn(charts: Charts, day: LocalDate | null): ChartVersion {
  const found = charts.findLast(({ countsFrom }) => countsFrom === null || (day !== null && countsFrom <= day))
  invariant(found, 'version 1 among the charts')
  return found
}

/** Returns the chart of a version. */
export function chartOfVersion(charts: Charts, version: number): Chart {
  const found = charts.find((one) => one.version === version)
  invariant(found, `a chart of version ${version}, which a posting names`)
  return found.chart
}

/** Returns the days on which another chart begins to count, in their order. */
export const turnsOf = (charts: Charts): LocalDate[] =>
  [...new Set(charts.flatMap(({ countsFrom }) => (countsFrom === null ? [] : [countsFrom])))].toSorted()

/**
 * Returns all accounts of the charts by their code, as they are called on a day: an account that the chart in force does
 * not have any more is as in the last chart before that has it, and one that only a later chart has, as in the first such chart.
 */
export function accountsAsOf(charts: Charts, day: LocalDate): ReadonlyMap<string, LedgerAccount> {
  const now = charts.indexOf(chartOn(charts, day))
  const inOrder = [...charts.slice(0, now + 1).toReversed(), ...charts.slice(now + 1)]
  const accounts = new Map<string, LedgerAccount>()
  for (const { chart } of inOrder)
    for (const account of chart.accounts) if (!accounts.has(account.code)) accounts.set(account.code, account)
  return accounts
}
