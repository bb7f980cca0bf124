import { readCharts } from '../../db/accounting/charts.ts'
import { hasBooked } from '../../db/accounting/provisions.ts'
import { readNewestChart, type SetChart, setChart as saveChart } from '../../db/accounting/setChart.ts'
import { findProductIds } from '../../db/organizations/products.ts'
import { findChannelAccounts } from '../../db/payments/channels.ts'
import type { Queries } from '../../db/queries/statement.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { type Chart, missingSlots } from '../../domain/accounting/chart.ts'
import { accountsAsOf, FIRST_CHART } from '../../domain/accounting/chartsInForce.ts'
import { chartOf, conflictOf, type NewChart } from '../../domain/accounting/newChart.ts'
import { fromStoredChart, toStoredChart } from '../../domain/accounting/storedChart.ts'
import { LAST_DATE, type LocalDate } from '../../domain/dates.ts'
import { failedPrecondition, LendingError } from '../../domain/errors.ts'
import type { Caller } from '../access/caller.ts'
import type { Deps } from '../deps.ts'
import { journalCaughtUp, whenTaken } from './caughtUp.ts'
import { readTurnovers } from './trialBalance.ts'

/** The chart of an organization, and since when it counts. */
export interface ChartView {
  readonly version: number
  readonly chart: Chart
  /** Whether the journal has come to the chart. */
  readonly inForce: boolean
  /** The first booked day for which the chart counts; null: from the beginning, or not known yet. */
  readonly countsFrom: LocalDate | null
}

const viewOf = (newest: SetChart | undefined): ChartView => {
  if (!newest) return { version: FIRST_CHART.version, chart: FIRST_CHART.chart, inForce: true, countsFrom: null }
  const { version, chart, takenUp, countsFrom } = newest
  return { version, chart: fromStoredChart(chart), inForce: takenUp, countsFrom }
}

/** Returns the newest chart of the caller's organization. @throws LendingError `permission_denied` */
export async function getChart({ db }: Pick<Deps, 'db'>, caller: Caller): Promise<ChartView> {
  requirePermission(caller, 'reports.read')
  return viewOf(await readNewestChart(db, caller.organizationId))
}

const AGAIN_SECONDS = 1

/**
 * Sets the chart of the caller's organization, and waits until the journal has come to it: after 10 s, the answer says
 * that it has not. The same chart again makes no new version.
 * @throws LendingError `permission_denied`, `invalid_argument`; `failed_precondition` for an account with postings that is
 *   removed or changes its type, and for a slot of provisions that is left out once some are booked; `unavailable` while the journal is behind
 */
export async function setChart(
  deps: Pick<Deps, 'db' | 'now' | 'journalPatience'>,
  caller: Caller,
  request: NewChart,
): Promise<ChartView> {
  requirePermission(caller, 'accounting.manage')
  const { organizationId } = caller
  const chart = chartOf(request, new Set(await findProductIds(deps.db, organizationId)))
  await journalCaughtUp(deps, organizationId)
  await requireChannelAccounts(deps, organizationId, chart)
  const stored = toStoredChart(chart)
  const saved = await saveChart(deps.db, caller, deps.now(organizationId), async (newest, queries) => {
    const { version, chart: before, inForce } = viewOf(newest)
    const was = toStoredChart(before)
    if (JSON.stringify(was) === JSON.stringify(stored)) return undefined
    if (!inForce)
      throw new LendingError('unavailable', 'another chart was set at the same time; try again', [], AGAIN_SECONDS)
    await requireAccounts(queries, organizationId, chart)
    await requireSlots(queries, organizationId, chart)
    return { version: version + 1, chart: stored, before: was }
  })
  const set = saved
    ? { version: saved.version, chart: fromStoredChart(saved.chart), inForce: false, countsFrom: null }
    : await getChart(deps, caller)
  const taken = await whenTaken(deps, async () =>
    (await readCharts(deps.db, organizationId)).find(({ version }) => version === set.version),
  )
  return taken ? { ...taken, inForce: true } : set
}

/** Requires that the account of each payment channel is in a chart, as an asset. */
async function requireChannelAccounts({ db }: Pick<Deps, 'db'>, organizationId: number, chart: Chart): Promise<void> {
  const codes = await findChannelAccounts(db, organizationId)
  const missing = codes.find((code) => chart.accounts.find((one) => one.code === code)?.type !== 'asset')
  if (missing !== undefined)
    throw failedPrecondition(`account ${missing} is that of a payment channel: keep it as an asset`, 'accounts')
}

/** Requires that a chart names the slots of provisions where provisions were booked: the journal has balances there. */
async function requireSlots(queries: Queries, organizationId: number, chart: Chart): Promise<void> {
  const [missing] = missingSlots(chart)
  if (missing !== undefined && (await hasBooked(queries, organizationId)))
    throw failedPrecondition('must have an account: provisions have been booked', `slots.${missing}`)
}

/** Requires that each account with postings is in a chart, with the type that it has. */
async function requireAccounts(queries: Queries, organizationId: number, chart: Chart): Promise<void> {
  const charts = await readCharts(queries, organizationId)
  const asked = { organizationId, basis: 'booked', asOf: LAST_DATE, productId: null } as const
  const turnovers = await readTurnovers(queries, asked, charts)
  const posted = new Set([...turnovers.values()].flatMap((accounts) => [...accounts.keys()]))
  const conflict = conflictOf(chart, accountsAsOf(charts, LAST_DATE), [...posted].toSorted())
  if (conflict !== undefined) throw failedPrecondition(conflict, 'accounts')
}
