import type { Db } from '../../src/db/postgres/client.ts'
import type { Chart } from '../../src/domain/accounting/chart.ts'
import { SLOTS, type Slot } from '../../src/domain/accounting/slots.ts'
import { toStoredChart } from '../../src/domain/accounting/storedChart.ts'
import type { LocalDate } from '../../src/domain/dates.ts'

/** A posting that a test puts into the journal itself; what is left out has a value that is of no matter. */
export interface GivenPosting {
  readonly organizationId?: number
  readonly id: number
  readonly sequence?: number
  readonly loanId?: bigint | null
  readonly productId?: number
  readonly currency?: string
  readonly transactionId?: bigint | null
  readonly kind?: string
  readonly valueDate?: LocalDate
  readonly bookedOn: LocalDate
  readonly moved?: readonly [from: number, to: number]
  readonly amounts: Partial<Record<Slot, bigint>>
}

/** Puts a posting into the journal, and into the sums of its day unless it moves amounts between accounts. */
export async function givePosting(db: Pick<Db, 'pool'>, given: GivenPosting): Promise<void> {
  const { organizationId = 1, id, sequence = id, productId = 1, currency = 'KES', kind = 'repayment' } = given
  const { loanId = 7n, transactionId = null, bookedOn, valueDate = bookedOn, moved, amounts } = given
  const fixed = [organizationId, id, sequence, moved ? null : loanId, productId, currency, transactionId, kind]
  const values = [...fixed, valueDate, bookedOn, '2026-11-21T09:00:00Z', moved?.[0], moved?.[1]]
  const slots = SLOTS.map((slot) => amounts[slot] ?? null)
  await db.pool.query(
    `INSERT INTO posting (organization_id, id, sequence, loan_id, product_id, currency, transaction_id, kind,
      value_date, booked_on, posted_at, moved_from, moved_to, ${SLOTS.join(', ')})
    VALUES (${[...values, ...slots].map((_, index) => `$${index + 1}`).join(', ')})`,
    [...values, ...slots],
  )
  if (moved) return
  for (const [slot, amount] of Object.entries(amounts))
    await db.pool.query(
      `INSERT INTO posting_day AS d (organization_id, booked_on, value_date, currency, product_id, slot, debit, credit)
      VALUES ($1, $2, $3, $4, $5, $6, greatest($7::bigint, 0), greatest(-$7::bigint, 0))
      ON CONFLICT (organization_id, booked_on, value_date, currency, product_id, slot)
        DO UPDATE SET debit = d.debit + excluded.debit, credit = d.credit + excluded.credit`,
      [organizationId, bookedOn, valueDate, currency, productId, slot, amount],
    )
}

/**
 * Fills the journal of an organization with so many postings, and the sums of their days: some 1,000 of a day, from 2024
 * on, every 997th of them on the first day, every 10,000th a write-off, on 100,000 loans at most.
 */
export async function fillJournal(db: Pick<Db, 'pool'>, organizationId: number, postings: number): Promise<void> {
  await db.pool.query({
    text: `INSERT INTO posting (organization_id, id, sequence, change_id, loan_id, product_id, currency, kind, value_date,
        booked_on, posted_at, cash, loan_portfolio, interest_income, write_offs, method, contribution)
      SELECT $1, n, n, n, 1 + n % 100000, 1, 'KES', 'repayment', day, day, day,
        CASE WHEN n % 10000 = 0 THEN NULL ELSE 110 END, -100, CASE WHEN n % 10000 = 0 THEN NULL ELSE -10 END,
        CASE WHEN n % 10000 = 0 THEN 100 END, 'cash', '-110,100,,,,,10'
      FROM generate_series(1, $2::int) AS n,
        LATERAL (SELECT date '2024-01-01' + CASE WHEN n % 997 = 0 THEN 0 ELSE n / 1000 END AS day) AS d`,
    values: [organizationId, postings],
  })
  const slots = ['cash', 'loan_portfolio', 'interest_income', 'write_offs']
  for (const slot of slots)
    await db.pool.query(
      `INSERT INTO posting_day (organization_id, booked_on, value_date, currency, product_id, slot, debit, credit)
      SELECT organization_id, booked_on, value_date, currency, product_id, '${slot}',
        sum(greatest(${slot}, 0)), sum(greatest(-${slot}, 0))
      FROM posting WHERE organization_id = $1 AND ${slot} IS NOT NULL
      GROUP BY organization_id, booked_on, value_date, currency, product_id`,
      [organizationId],
    )
  await db.pool.query('ANALYZE posting, posting_day')
  await journalIsUpToDate(db, organizationId, postings)
}

/** Says that the journal of an organization has all changes and postings up to now, as of an event. */
export const journalIsUpToDate = (db: Pick<Db, 'pool'>, organizationId = 1, sequence = 0) =>
  db.pool.query(
    `INSERT INTO journal (organization_id, change_id, sequence, posting_id, open_from, chart_version)
    SELECT $1, (SELECT coalesce(max(id), 0) FROM audit_entry WHERE organization_id = $1), $2,
      (SELECT coalesce(max(id), 0) FROM posting WHERE organization_id = $1), NULL, 1
    ON CONFLICT (organization_id) DO UPDATE SET change_id = excluded.change_id, sequence = excluded.sequence,
      posting_id = excluded.posting_id, walked_to = NULL`,
    [organizationId, sequence],
  )

/** Puts a chart into the book that the journal has taken up. */
export async function giveChart(
  db: Pick<Db, 'pool'>,
  { organizationId = 1, version, chart, countsFrom = null }: GivenChart,
): Promise<void> {
  await db.pool.query(
    `INSERT INTO accounting_chart (organization_id, version, chart, created_at, taken_up, counts_from)
    VALUES ($1, $2, $3, now(), true, $4)`,
    [organizationId, version, JSON.stringify(toStoredChart(chart)), countsFrom],
  )
}

interface GivenChart {
  readonly organizationId?: number
  readonly version: number
  readonly chart: Chart
  readonly countsFrom?: LocalDate | null
}
