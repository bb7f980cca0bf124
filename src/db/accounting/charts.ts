import { type Charts, type ChartVersion, FIRST_CHART } from '../../domain/accounting/chartsInForce.ts'
import { fromStoredChart } from '../../domain/accounting/storedChart.ts'
import type { LocalDate } from '../../domain/dates.ts'
import type { Queries } from '../queries/statement.ts'

/** Reads the charts that the journal of an organization has taken up, by version, with the first one, which is not stored. */
export async function readCharts({ pool }: Queries, organizationId: number): Promise<Charts> {
  const { rows } = await pool.query<{ version: number; chart: unknown; countsFrom: LocalDate | null }>({
    name: 'read-charts',
    text: `SELECT version, chart, counts_from AS "countsFrom" FROM accounting_chart
      WHERE organization_id = $1 AND taken_up ORDER BY version`,
    values: [organizationId],
  })
  const stored = rows.map(({ chart, ...row }): ChartVersion => ({ ...row, chart: fromStoredChart(chart) }))
  return [FIRST_CHART, ...stored]
}
