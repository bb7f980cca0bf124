import { createHash } from 'node:crypto'
import type { StoredChart } from '../../domain/accounting/storedChart.ts'
import { type Author, type TrailValues, trail, trailValues } from '../audit/trail.ts'
import type { Db } from '../postgres/client.ts'
import { inTransaction, type Transaction } from '../postgres/transaction.ts'
import type { Queries } from '../queries/statement.ts'
import { type Parameter, statement } from '../queries/statement.ts'
import { CHARTING } from './takenUp.ts'

const LOCK = createHash('sha256').update('mkopo accounting chart').digest().readInt32BE()

/** Holds the chart of an organization, and its bookings of provisions, until the end of a transaction. */
export async function lockChart(transaction: Transaction, organizationId: number): Promise<void> {
  await transaction.query('SELECT pg_advisory_xact_lock($1, $2)', [LOCK, organizationId])
}

/** A chart as an organization set it. */
export interface SetChart {
  readonly version: number
  readonly chart: StoredChart
  /** Whether the journal has come to the chart. */
  readonly takenUp: boolean
  /** The first booked day for which the chart counts; null: from the beginning, or not known yet. */
  readonly countsFrom: string | null
}

const NEWEST = `SELECT version, chart, taken_up AS "takenUp", counts_from AS "countsFrom" FROM accounting_chart
  WHERE organization_id = $1 ORDER BY version DESC LIMIT 1`

/** Reads the chart that an organization set last; undefined where it has set none. */
export async function readNewestChart({ pool }: Queries, organizationId: number): Promise<SetChart | undefined> {
  const { rows } = await pool.query<SetChart>({ name: 'read-newest-chart', text: NEWEST, values: [organizationId] })
  return rows[0]
}

const insert = statement<TrailValues & { version: number; chart: string }>(
  'insert-chart',
  (p) => `
  WITH made AS (
    INSERT INTO accounting_chart (organization_id, version, chart, created_at, taken_up, counts_from)
    VALUES (${p('organizationId')}, ${p('version')}, ${p('chart')}::jsonb, ${p('changedAt')}, false, NULL)
    RETURNING version AS id
  ), ${trail(p as Parameter<TrailValues>, 'made', CHARTING)}
  SELECT id FROM made`,
)

/** A chart that was decided on, and the one before it. */
export interface DecidedChart {
  readonly version: number
  readonly chart: StoredChart
  readonly before: StoredChart
}

/**
 * Sets a chart of an organization, with its row of the trail.
 * @param decide called with the newest chart, which nothing else replaces meanwhile; undefined sets none
 */
export const setChart = (
  db: Db,
  author: Author,
  now: number,
  decide: (newest: SetChart | undefined, queries: Queries) => Promise<DecidedChart | undefined>,
): Promise<DecidedChart | undefined> =>
  inTransaction(db, async (transaction: Transaction) => {
    const { organizationId } = author
    const queries = { pool: transaction }
    await lockChart(transaction, organizationId)
    const decided = await decide(await readNewestChart(queries, organizationId), queries)
    if (!decided) return undefined
    const { version, chart, before } = decided
    const trace = { action: 'set', before, after: chart }
    const trail = trailValues(transaction, author, now, { entity: CHARTING, id: version }, trace)
    await transaction.query(insert({ version, chart: JSON.stringify(chart), ...trail }))
    return decided
  })
