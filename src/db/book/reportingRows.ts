import { invariant } from '../../domain/errors.ts'
import type { Snapshot } from '../postgres/transaction.ts'

/** Rows fetched at once. */
const BATCH = 20_000

/** The reporting views, with the columns by which their rows are in order. */
const ORDER = {
  customers: 'customer_id',
  products: 'product_id',
  loans: 'loan_id',
  loan_transactions: 'transaction_id',
  instalments: 'loan_id, instalment',
  postings: 'posting_id, slot',
  trial_balance: 'booked_on, currency, slot',
  portfolio_days: 'day, policy_version, currency, product_id, disbursed_month, is_restructured, bucket_index',
} as const

export type ReportingView = keyof typeof ORDER
export const REPORTING_VIEWS = Object.keys(ORDER) as readonly ReportingView[]

/** The types of their columns, by the number of the type in Postgres. */
const TYPES = {
  16: 'bool',
  20: 'int8',
  23: 'int4',
  25: 'text',
  1082: 'date',
  1184: 'timestamptz',
  1700: 'numeric',
} as const

/** A column of a reporting view. */
export interface ReportingColumn {
  readonly name: string
  readonly type: (typeof TYPES)[keyof typeof TYPES]
}

/** A value as it is read: a bigint of `int8`, exact decimal text of `numeric`, epoch milliseconds of `timestamptz`. */
export type ReportingValue = bigint | number | string | boolean | null

/** Some rows of a view: the values of each in the order of the columns. */
export interface ReportingRows {
  readonly columns: readonly ReportingColumn[]
  readonly rows: readonly (readonly ReportingValue[])[]
}

/** Yields the rows of a reporting view of an organization, a bounded number at a time; at least once, so that its columns are known. */
export async function* readReporting(
  snapshot: Snapshot,
  view: ReportingView,
  organizationId: number,
): AsyncGenerator<ReportingRows> {
  const cursor = `reporting_${view}`
  const text = `SELECT * FROM reporting_rows.${view} WHERE organization_id = $1 ORDER BY ${ORDER[view]}`
  await snapshot.query(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${text}`, [organizationId])
  for (let isFirst = true; ; isFirst = false) {
    const found = await snapshot.query<ReportingValue[]>({ text: `FETCH ${BATCH} FROM ${cursor}`, rowMode: 'array' })
    // The first column is the organization.
    const columns = found.fields.slice(1).map(({ name, dataTypeID }): ReportingColumn => {
      const type = TYPES[dataTypeID as keyof typeof TYPES]
      invariant(type, `a known type of the column ${view}.${name}`)
      return { name, type }
    })
    if (isFirst || found.rows.length > 0) yield { columns, rows: found.rows.map((row) => row.slice(1)) }
    if (found.rows.length < BATCH) break
  }
  await snapshot.query(`CLOSE ${cursor}`)
}
