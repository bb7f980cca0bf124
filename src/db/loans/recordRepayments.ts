import type { Instant, LocalDate } from '../../domain/dates.ts'
import { type Currency, currencyOf } from '../../domain/money.ts'
import type { RepaymentRecord } from '../../domain/recordStyle/loanRecord.ts'
import type { Db } from '../postgres/client.ts'
import { listByArrival, pageByArrival } from '../queries/pageByArrival.ts'
import type { Listed, Page } from '../queries/paging.ts'
import { statement } from '../queries/statement.ts'

/** A customer's repayment as a record system knows it, whichever style posted it. */
export interface RecordRepayment {
  readonly id: bigint
  readonly loanId: bigint
  readonly currency: Currency
  /** Minor units. */
  readonly amount: bigint
  readonly valueDate: LocalDate
  readonly note: string | null
  readonly record: RepaymentRecord | null
  readonly paymentMethod: string | null
  readonly postedAt: Instant
  readonly reversedAt: Instant | null
}

const COLUMNS = `
  a.id, a.loan_id, l.currency, a.amount, a.value_date, a.note, a.record, a.payment_method, a.posted_at, a.reversed_at`

const LOAN = 'JOIN loan l ON l.organization_id = a.organization_id AND l.id = a.loan_id'

/** The types of entries that a customer paid; the index of arrivals has the same condition. */
const PAID = "a.type IN ('Repayment', 'Recovery Repayment')"

const find = statement<{ organizationId: number; id: bigint }>(
  'find-record-repayment',
  (p) => `
  SELECT ${COLUMNS} FROM loan_entry a ${LOAN}
  WHERE a.organization_id = ${p('organizationId')} AND a.id = ${p('id')} AND ${PAID}`,
)

/** A repayment, reversed or not. */
export async function findRecordRepayment(
  db: Db,
  organizationId: number,
  id: bigint,
): Promise<RecordRepayment | undefined> {
  const { rows } = await db.pool.query<RepaymentRow>(find({ organizationId, id }))
  return rows[0] && toRepayment(rows[0])
}

const unreversed = (organizationId: string) =>
  `a.organization_id = ${organizationId} AND ${PAID} AND a.reversed_at IS NULL`

const list = pageByArrival('list-record-repayments', (p) => ({
  table: 'loan_entry',
  where: unreversed(p('organizationId')),
  columns: COLUMNS,
  joined: LOAN,
}))

const listOfLoan = pageByArrival<{ loanId: bigint }>('list-record-repayments-of-loan', (p) => ({
  table: 'loan_entry',
  where: `${unreversed(p('organizationId'))} AND a.loan_id = ${p('loanId')}`,
  by: 'ordinal',
  columns: COLUMNS,
  joined: LOAN,
}))

/** A page of the repayments that are not reversed, of the organization or of one loan, oldest first. */
export async function listRecordRepayments(
  db: Db,
  organizationId: number,
  loanId: bigint | undefined,
  page: Page,
): Promise<Listed<RecordRepayment>> {
  const { items, total } = await (loanId === undefined
    ? listByArrival<RepaymentRow>(db, list, page, { organizationId })
    : listByArrival<RepaymentRow, { loanId: bigint }>(db, listOfLoan, page, { organizationId, loanId }))
  return { items: items.map(toRepayment), total }
}

interface RepaymentRow {
  id: bigint
  loan_id: bigint
  currency: string
  amount: bigint
  value_date: LocalDate
  note: string | null
  record: RepaymentRecord | null
  payment_method: string | null
  posted_at: Instant
  reversed_at: Instant | null
}

const toRepayment = (row: RepaymentRow): RecordRepayment => ({
  id: row.id,
  loanId: row.loan_id,
  currency: currencyOf(row.currency),
  amount: row.amount,
  valueDate: row.value_date,
  note: row.note,
  record: row.record,
  paymentMethod: row.payment_method,
  postedAt: row.posted_at,
  reversedAt: row.reversed_at,
})
