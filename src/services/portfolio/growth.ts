import { setImmediate as turn } from 'node:timers/promises'
import { readOverdue } from '../../db/portfolio/arrearsList.ts'
import {
  type Cohort,
  type DueWeek,
  findRestructured,
  type MonthSums,
  sumCohorts,
  sumDueWeeks,
  sumMonths,
} from '../../db/portfolio/growth.ts'
import { inSnapshot, OF_A_PORTFOLIO_MS, type Snapshot } from '../../db/postgres/transaction.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { addPeriods, dateIn, daysBetween, type Instant, type LocalDate } from '../../domain/dates.ts'
import { replay } from '../../domain/loan/replay.ts'
import { currencyOf, minorToText } from '../../domain/money.ts'
import { monthOf } from '../../domain/portfolio/cells.ts'
import type { Caller } from '../access/caller.ts'
import { type Column, csvFile } from '../csv.ts'
import type { Caches, Core } from '../deps.ts'

export type { Cohort } from '../../db/portfolio/growth.ts'

/** The months of the growth of a book, this month among them. */
export const MONTHS_SHOWN = 24
/** The weeks of the forecast. */
export const WEEKS_SHOWN = 12
/** Restructured loans that are read at once, and those that are replayed before requests get their turn. */
const READ = { atOnce: 200, slice: 50 } as const

/** A month of a currency. Amounts in minor units. */
export interface GrowthMonth {
  readonly month: string
  readonly currency: string
  readonly loans: number
  readonly disbursed: bigint
  readonly collected: bigint
  /** The principal that was out at the end of the month; of this month, that is out today. */
  readonly outstanding: bigint
}

/** What falls due in a week of a currency. */
export interface ForecastWeek extends DueWeek {
  readonly from: LocalDate
  /** The last day of the week. */
  readonly to: LocalDate
}

/** How a book has grown, how the loans of each month do, and what falls due. */
export interface Growth {
  readonly asOf: LocalDate
  /** By currency, ascending. */
  readonly months: readonly GrowthMonth[]
  /** The last month first. */
  readonly cohorts: readonly Cohort[]
  /** By currency, ascending; each week, also one in which nothing falls due. */
  readonly forecast: readonly ForecastWeek[]
}

/**
 * Returns how the book of the caller's organization has grown in the last months, and what falls due in the next weeks.
 * @throws LendingError `permission_denied`; `resource_exhausted` when too many questions about a whole portfolio wait
 */
export async function readGrowth(deps: Core & Caches, caller: Caller): Promise<Growth> {
  requirePermission(caller, 'reports.read')
  const { organizationId } = caller
  const { zone } = deps.config
  const read = () => {
    const at = deps.now(organizationId)
    const today = dateIn(zone, at)
    const first = `${monthOf(addPeriods(`${monthOf(today)}-01`, 1 - MONTHS_SHOWN, 'months'))}-01`
    const asked = { organizationId, from: first, today }
    return inSnapshot(
      deps.db,
      async (snapshot): Promise<Growth> => {
        const sums = await sumMonths(snapshot, asked)
        const cohorts = await sumCohorts(snapshot, asked)
        const weeks = await sumDueWeeks(snapshot, { organizationId, today, weeks: WEEKS_SHOWN })
        const more = await restructuredWeeks(snapshot, { organizationId, today, at, zone })
        return { asOf: today, months: monthsOf(sums, first), cohorts, forecast: forecastOf([...weeks, ...more], today) }
      },
      { mostMs: OF_A_PORTFOLIO_MS },
    )
  }
  return deps.portfolioReads.run({ organizationId, name: 'growth' }, read)
}

const byName = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Returns each month of each currency, with what the journal has outstanding of a month without any posting. */
function monthsOf({ disbursed, collected, outstanding }: MonthSums, first: LocalDate): GrowthMonth[] {
  const currencies = [...new Set([...disbursed, ...collected, ...outstanding].map(({ currency }) => currency))].sort(
    byName,
  )
  const months = Array.from({ length: MONTHS_SHOWN }, (_, index) => monthOf(addPeriods(first, index, 'months')))
  const nameOf = ({ month, currency }: { readonly month: string; readonly currency: string }) => `${currency} ${month}`
  const [lent, paid, out] = [disbursed, collected, outstanding].map(
    (rows) => new Map(rows.map((row) => [nameOf(row), row.amount])),
  )
  const loans = new Map(disbursed.map((row) => [nameOf(row), row.loans]))
  const all = currencies.flatMap((currency) => months.map((month) => ({ currency, month })))
  return all.map((key) => ({
    ...key,
    loans: loans.get(nameOf(key)) ?? 0,
    disbursed: lent!.get(nameOf(key)) ?? 0n,
    collected: paid!.get(nameOf(key)) ?? 0n,
    outstanding: out!.get(nameOf(key)) ?? 0n,
  }))
}

/** Returns what falls due of the loans that were restructured: each is replayed. */
async function restructuredWeeks(
  snapshot: Snapshot,
  asked: { readonly organizationId: number; readonly today: LocalDate; readonly at: Instant; readonly zone: string },
): Promise<DueWeek[]> {
  const { organizationId, today, at, zone } = asked
  const weeks: DueWeek[] = []
  for (let after = 0n; ; ) {
    const ids = await findRestructured(snapshot, { organizationId, after, most: READ.atOnce })
    for (const [index, { terms, entries }] of (await readOverdue(snapshot, zone, { organizationId, ids })).entries()) {
      if ((index + 1) % READ.slice === 0) await turn()
      for (const { dueDate, owed } of replay(terms, entries, at).periods)
        if (owed > 0n && dueDate >= today && daysBetween(today, dueDate) < WEEKS_SHOWN * 7) {
          const week = Math.floor(daysBetween(today, dueDate) / 7)
          weeks.push({ currency: terms.currency.code, week, instalments: 1, amount: owed })
        }
    }
    if (ids.length < READ.atOnce) return weeks
    after = ids.at(-1)!
  }
}

/** Returns each week of each currency in which something falls due at all. */
function forecastOf(due: readonly DueWeek[], today: LocalDate): ForecastWeek[] {
  const currencies = [...new Set(due.map(({ currency }) => currency))].sort(byName)
  return currencies.flatMap((currency) =>
    Array.from({ length: WEEKS_SHOWN }, (_, week) => {
      const some = due.filter((one) => one.currency === currency && one.week === week)
      return {
        currency,
        week,
        from: addPeriods(today, week * 7, 'days'),
        to: addPeriods(today, week * 7 + 6, 'days'),
        instalments: some.reduce((sum, one) => sum + one.instalments, 0),
        amount: some.reduce((sum, one) => sum + one.amount, 0n),
      }
    }),
  )
}

const amountIn = (currency: string, minor: bigint): string => minorToText(minor, currencyOf(currency))

const MONTH_COLUMNS: readonly Column<GrowthMonth>[] = [
  ['month', ({ month }) => month],
  ['currencyCode', ({ currency }) => currency],
  ['loansDisbursed', ({ loans }) => loans],
  ['disbursed', ({ currency, disbursed }) => amountIn(currency, disbursed)],
  ['collected', ({ currency, collected }) => amountIn(currency, collected)],
  ['principalOutstanding', ({ currency, outstanding }) => amountIn(currency, outstanding)],
]

const COHORT_COLUMNS: readonly Column<Cohort>[] = [
  ['month', ({ month }) => month],
  ['currencyCode', ({ currency }) => currency],
  ['loans', ({ loans }) => loans],
  ['openLoans', ({ open }) => open],
  ['principal', ({ currency, principal }) => amountIn(currency, principal)],
  ['paid', ({ currency, paid }) => amountIn(currency, paid)],
  ['principalOutstanding', ({ currency, outstanding }) => amountIn(currency, outstanding)],
  ['overdue', ({ currency, overdue }) => amountIn(currency, overdue)],
  ['par30', ({ currency, atRisk }) => amountIn(currency, atRisk)],
  ['writtenOff', ({ currency, writtenOff }) => amountIn(currency, writtenOff)],
]

const FORECAST_COLUMNS: readonly Column<ForecastWeek>[] = [
  ['from', ({ from }) => from],
  ['to', ({ to }) => to],
  ['currencyCode', ({ currency }) => currency],
  ['instalments', ({ instalments }) => instalments],
  ['due', ({ currency, amount }) => amountIn(currency, amount)],
]

/** The files of the growth of a book. */
export const GROWTH_FILES = ['months', 'cohorts', 'forecast'] as const
export type GrowthFile = (typeof GROWTH_FILES)[number]

/** Writes a part of the growth of a book for a spreadsheet. */
export function growthCsv({ months, cohorts, forecast }: Growth, file: GrowthFile): string {
  if (file === 'months') return csvFile(MONTH_COLUMNS, months)
  return file === 'cohorts' ? csvFile(COHORT_COLUMNS, cohorts) : csvFile(FORECAST_COLUMNS, forecast)
}
