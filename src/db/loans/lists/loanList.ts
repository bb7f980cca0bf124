import type { Instant, LocalDate } from '../../../domain/dates.ts'
import { changesOf, readChanges } from '../../audit/changes.ts'
import type { Asked, Found, Page } from '../../queries/cursor.ts'
import { type List, type ListedDb, readList } from '../../queries/lists.ts'
import { moment } from '../../queries/rows.ts'
import { type Conditions, conditionsOf } from '../../queries/statement.ts'

/** The loans to list; a property that is left out sets no condition. */
export interface LoanFilter {
  readonly customerId?: bigint | undefined
  readonly customerExternalId?: string | undefined
  readonly externalId?: string | undefined
  readonly productId?: number | undefined
  readonly statuses?: readonly string[] | undefined
  /** Loans with an instalment that fell due before the day and is not paid, or those without. */
  readonly overdue?: { readonly is: boolean; readonly today: LocalDate } | undefined
  readonly chargedOff?: boolean | undefined
  /** Bounds of the last due date, both exclusive. */
  readonly dueBefore?: LocalDate | undefined
  readonly dueAfter?: LocalDate | undefined
  /** Bounds of the disbursement: from the first instant on, and before the second. */
  readonly disbursedFrom?: Instant | undefined
  readonly disbursedBefore?: Instant | undefined
  /** Lists the loans that were changed since then, in the order of their last change. */
  readonly updatedSince?: Instant | undefined
}

/** The orders of lists of loans: as they came, and as they were changed last. */
export const LOAN_ORDERS = { arrival: 'loans', change: 'changed-loans' } as const

const ARRIVAL: Omit<List, 'columns'> = {
  order: LOAN_ORDERS.arrival,
  from: 'loan a',
  place: 'a.arrival',
  highest: 'SELECT max(arrival) FROM loan WHERE organization_id = $1',
}

const CHANGES = changesOf('loan', LOAN_ORDERS.change)

const CONDITIONS = {
  customerId: 'a.customer_id = ?',
  customerExternalId: 'a.customer_id = (SELECT id FROM customer WHERE organization_id = $1 AND external_id = ?)',
  externalId: 'a.external_id = ?',
  productId: 'a.product_id = ?',
  statuses: 'a.status = ANY (?)',
  // The oldest due date with anything owed: time alone never moves it, so it needs no sweep.
  overdueOn: `a.status = 'Active' AND a.next_due_on < ?`,
  notOverdueOn: 'coalesce(a.next_due_on >= ?, true)',
  chargedOff: (is: unknown) => `a.charged_off_on IS ${is ? 'NOT NULL' : 'NULL'}`,
  dueBefore: 'a.due_on < ?',
  dueAfter: 'a.due_on > ?',
  disbursedFrom: 'a.disbursed_at >= ?',
  disbursedBefore: 'a.disbursed_at < ?',
}

const sentOf = ({ overdue, disbursedFrom, disbursedBefore, updatedSince: _, ...filter }: LoanFilter) => ({
  ...filter,
  overdueOn: overdue?.is === true ? overdue.today : undefined,
  notOverdueOn: overdue?.is === false ? overdue.today : undefined,
  disbursedFrom: instantOf(disbursedFrom),
  disbursedBefore: instantOf(disbursedBefore),
})

const instantOf = (instant: Instant | undefined) => (instant === undefined ? undefined : moment(instant))

/** Reads loans with the columns that a caller asks for, of `loan a` and of what is joined to it. */
export async function readLoanList<Row extends object>(
  listed: ListedDb,
  read: Pick<List, 'columns' | 'joined'>,
  { organizationId, filter, position }: Asked<LoanFilter>,
): Promise<Found<Row> | undefined> {
  const { updatedSince: since } = filter
  const where = (base: Conditions) => conditionsOf(CONDITIONS, sentOf(filter), base)
  if (since !== undefined) return readChanges(listed, CHANGES, read, { organizationId, position, since, where })
  const bounds = [filter.dueBefore, filter.dueAfter, filter.disbursedFrom, filter.disbursedBefore]
  const list = { ...ARRIVAL, ...read, isWindow: bounds.some((bound) => bound !== undefined) }
  return readList(listed, list, where({ texts: ['a.organization_id = $1'], values: [organizationId] }), position)
}

/** A loan of a list, before it is read. */
export interface FoundLoan {
  readonly id: bigint
  /** Null only of a loan that an earlier version of the program made, until it is numbered. */
  readonly accountNo: bigint
  /** Its instalments and entries: what it takes to read it. */
  readonly weight: number
}

const FOUND = `a.id, a.account_no AS "accountNo", a.number_of_repayments + a.entry_count AS weight`

/** Finds loans in the order in which they came, or in that of their last change. */
export const findLoans = (listed: ListedDb, asked: Asked<LoanFilter>): Promise<Found<FoundLoan> | undefined> =>
  readLoanList<FoundLoan>(listed, { columns: FOUND }, asked)

/** The order of a page of loans, where it is not that in which they came. */
export interface LoanOrder {
  readonly by: 'id' | 'principal' | 'disbursedAt'
  readonly descending: boolean
}

const COLUMN_OF = { id: 'id', principal: 'principal', disbursedAt: 'disbursed_at' } as const

/** Finds the loans of a page in an order of the caller's. */
export async function findLoansBy(
  { db }: Pick<ListedDb, 'db'>,
  { organizationId, filter, position: { page, rows } }: Asked<LoanFilter> & { readonly position: Page },
  { by, descending }: LoanOrder,
): Promise<Found<FoundLoan>> {
  const { texts, values } = conditionsOf(CONDITIONS, sentOf(filter), {
    texts: ['a.organization_id = $1'],
    values: [organizationId],
  })
  const matching = `FROM loan a WHERE ${texts.join(' AND ')}`
  const order = [...new Set([COLUMN_OF[by], 'id'])].map((column) => `a.${column} ${descending ? 'DESC' : 'ASC'}`)
  const [counted, listed] = await Promise.all([
    db.pool.query<{ total: bigint }>(`SELECT count(*) AS total ${matching}`, [...values]),
    db.pool.query<FoundLoan>(
      `SELECT ${FOUND} ${matching} ORDER BY ${order.join(', ')} LIMIT ${rows} OFFSET ${(page - 1) * rows}`,
      [...values],
    ),
  ])
  return { items: listed.rows, total: Number(counted.rows[0]!.total), next: undefined }
}
