import type { Instant, LocalDate, PeriodUnit } from '../../domain/dates.ts'
import { type Currency, currencyOf } from '../../domain/money.ts'
import type { LoanRecord } from '../../domain/recordStyle/loanRecord.ts'
import { openTexts } from '../customers/words.ts'
import type { Db } from '../postgres/client.ts'
import type { Asked, Found } from '../queries/cursor.ts'
import type { ListedDb } from '../queries/lists.ts'
import { statement } from '../queries/statement.ts'
import { type LoanFilter, readLoanList } from './lists/loanList.ts'

/** A loan as a record system knows it, whichever style made it: its terms, and nothing of what became of it. */
export interface RecordLoan {
  readonly id: bigint
  readonly borrowerId: bigint
  readonly currency: Currency
  /** Minor units. */
  readonly principal: bigint
  readonly disbursedOn: LocalDate
  readonly dueOn: LocalDate
  readonly numberOfRepayments: number
  /** Null unless its terms came from a product. */
  readonly product: { readonly name: string; readonly repayEvery: number; readonly repayUnit: PeriodUnit } | null
  readonly record: LoanRecord | null
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

const COLUMNS = `
  a.id, a.customer_id, a.currency, a.principal, a.disbursed_on, a.due_on, a.number_of_repayments, a.record,
  a.created_at, a.updated_at, p.name, p.repay_every, p.repay_unit`

const PRODUCT = 'LEFT JOIN loan_product p ON p.organization_id = a.organization_id AND p.id = a.product_id'

const find = statement<{ organizationId: number; id: bigint }>(
  'find-record-loan',
  (p) =>
    `SELECT ${COLUMNS} FROM loan a ${PRODUCT} WHERE a.organization_id = ${p('organizationId')} AND a.id = ${p('id')}`,
)

export async function findRecordLoan(db: Db, organizationId: number, id: bigint): Promise<RecordLoan | undefined> {
  const { rows } = await db.pool.query<RecordLoanRow>(find({ organizationId, id }))
  return (await openTexts(db, rows.map(toRecordLoan), () => organizationId))[0]
}

/** Reads the organization's loans, oldest first, or those of a filter. */
export async function findRecordLoans(
  listed: ListedDb,
  asked: Asked<LoanFilter>,
): Promise<Found<RecordLoan> | undefined> {
  const found = await readLoanList<RecordLoanRow>(listed, { columns: COLUMNS, joined: PRODUCT }, asked)
  if (!found) return undefined
  return { ...found, items: await openTexts(listed.db, found.items.map(toRecordLoan), () => asked.organizationId) }
}

interface RecordLoanRow {
  id: bigint
  customer_id: bigint
  currency: string
  principal: bigint
  disbursed_on: LocalDate
  due_on: LocalDate
  number_of_repayments: number
  record: LoanRecord | null
  created_at: Instant
  updated_at: Instant
  name: string | null
  repay_every: number | null
  repay_unit: PeriodUnit | null
}

const toRecordLoan = ({ name, repay_every: repayEvery, repay_unit: repayUnit, ...row }: RecordLoanRow): RecordLoan => ({
  id: row.id,
  borrowerId: row.customer_id,
  currency: currencyOf(row.currency),
  principal: row.principal,
  disbursedOn: row.disbursed_on,
  dueOn: row.due_on,
  numberOfRepayments: row.number_of_repayments,
  product: name === null || repayEvery === null || repayUnit === null ? null : { name, repayEvery, repayUnit },
  record: row.record,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})
