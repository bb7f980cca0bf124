import { type Chart, DEFAULT_CHART } from '../../domain/accounting/chart.ts'
import { SLOTS, type Slot, type SummedSlot } from '../../domain/accounting/slots.ts'
import { fromStoredChart } from '../../domain/accounting/storedChart.ts'
import type { LocalDate } from '../../domain/dates.ts'
import { invariant } from '../../domain/errors.ts'
import type { Transaction } from '../postgres/transaction.ts'
import type { Queries } from '../queries/statement.ts'

/** The version of the chart of an organization that has set none. */
export const FIRST_VERSION = 1

/** The entity of the trail of which a new chart is a change. */
export const CHARTING = 'accounting chart'

/**
 * Reads a version of the chart.
 * @throws InvariantError for a version that is not there, or is damaged
 */
export async function readChart({ pool }: Queries, organizationId: number, version: number): Promise<Chart> {
  if (version === FIRST_VERSION) return DEFAULT_CHART
  const { rows } = await pool.query<{ chart: unknown }>({
    name: 'read-chart',
    text: 'SELECT chart FROM accounting_chart WHERE organization_id = $1 AND version = $2',
    values: [organizationId, version],
  })
  invariant(rows[0], `version ${version} of the chart of organization ${organizationId}`)
  return fromStoredChart(rows[0].chart)
}

/** Marks a chart as one that the journal has come to. @param countsFrom null: from the beginning */
export async function takeUpChart(
  transaction: Transaction,
  organizationId: number,
  { version, countsFrom }: { readonly version: number; readonly countsFrom: LocalDate | null },
): Promise<void> {
  await transaction.query({
    name: 'take-up-chart',
    text: `UPDATE accounting_chart SET taken_up = true, counts_from = ($2::text[])[2]::date
      WHERE organization_id = $1 AND version = ($2::text[])[1]::int`,
    values: [organizationId, [version, countsFrom]],
  })
}

/** The amounts of a currency and a product that were booked before a day, by slot. */
export interface BookedBefore {
  readonly currency: string
  readonly productId: number
  readonly amounts: Readonly<Partial<Record<Slot, bigint>>>
}

/** Sums what was booked before a day. */
export async function readBookedBefore(
  transaction: Transaction,
  organizationId: number,
  day: LocalDate,
): Promise<BookedBefore[]> {
  const { rows } = await transaction.query<{ currency: string; productId: number; slot: SummedSlot; amount: string }>({
    name: 'read-booked-before',
    text: `SELECT currency, product_id AS "productId", slot, sum(debit - credit)::text AS amount FROM posting_day
      WHERE organization_id = $1 AND booked_on < $2 GROUP BY currency, product_id, slot ORDER BY currency, product_id`,
    values: [organizationId, day],
  })
  const groups = Map.groupBy(rows, ({ currency, productId }) => `${currency} ${productId}`)
  return [...groups.values()].map((group) => ({
    currency: group[0]!.currency,
    productId: group[0]!.productId,
    amounts: Object.fromEntries(
      // Money on the account of a channel stays there.
      group.filter(({ slot }) => SLOTS.some((one) => one === slot)).map(({ slot, amount }) => [slot, BigInt(amount)]),
    ),
  }))
}
