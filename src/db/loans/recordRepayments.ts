import type { Instant, LocalDate } from '../../domain/dates.ts'
import type { RepaymentRecord } from '../../domain/loan/entry.ts'
import { CUSTOMER_REPAYMENTS } from '../../domain/loan/entry.ts'
import { type Currency, currencyOf } from '../../domain/money.ts'
import { openTexts } from '../customers/words.ts'
import type { Db } from '../postgres/client.ts'
import type { Asked, Found } from '../queries/cursor.ts'
import type { ListedDb } from '../queries/lists.ts'
import { statement } from '../queries/statement.ts'
import { type EntryFilter, readEntryList } from './lists/entryList.ts'

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

/** The types of entries that a customer paid. */
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
  return (await openTexts(db, rows.map(toRepayment), () => organizationId))[0]
}

/** The repayments to list; reversed ones only where they are asked for. */
export type RepaymentFilter = Omit<EntryFilter, 'types'>

/** Reads the repayments of the organization or of one loan, oldest first, or those of a filter. */
export async function findRecordRepayments(
  listed: ListedDb,
  { filter, ...asked }: Asked<RepaymentFilter>,
): Promise<Found<RecordRepayment> | undefined> {
  const entries = { ...asked, filter: { ...filter, types: CUSTOMER_REPAYMENTS } }
  const found = await readEntryList<RepaymentRow>(listed, { columns: COLUMNS, joined: LOAN }, entries)
  if (!found) return undefined
  return { ...found, items: await openTexts(listed.db, found.items.map(toRepayment), () => asked.organizationId) }
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
