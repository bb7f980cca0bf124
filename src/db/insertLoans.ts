import type { LoanRecord } from '../domain/loanRecord.ts'
import { carriedForward, type LoanState } from '../domain/replay.ts'
import type { Instalment } from '../domain/schedule.ts'
import type { LoanTerms } from '../domain/terms.ts'
import { CACHED_COLUMNS, cached, figures } from './loanColumns.ts'
import type { Queries } from './queries.ts'
import { type ColumnTypes, moment, statementOver } from './rows.ts'
import { type Author, TRAIL_COLUMNS, trailRow, trailRows } from './trail.ts'

/** A loan about to be made, by whom, and what replay makes of it now. */
export interface NewLoan {
  readonly author: Author
  readonly id: bigint
  readonly customerId: bigint
  readonly productId: number | null
  readonly externalId: string | null
  readonly terms: LoanTerms
  readonly state: LoanState
  readonly record?: LoanRecord
  readonly at: number
}

const LOAN: ColumnTypes = {
  organization_id: 'int',
  id: 'bigint',
  customer_id: 'bigint',
  product_id: 'int',
  external_id: 'text',
  currency: 'text',
  principal: 'bigint',
  number_of_repayments: 'int',
  rate_per_period: 'bigint',
  penalty_amount: 'bigint',
  disbursed_at: 'timestamptz',
  disbursed_on: 'date',
  due_on: 'date',
  due_at: 'timestamptz',
  record: 'jsonb',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  carried_forward: 'text',
  ...CACHED_COLUMNS,
}

export const PERIOD: ColumnTypes = {
  organization_id: 'int',
  loan_id: 'bigint',
  period: 'int',
  from_date: 'date',
  due_date: 'date',
  principal: 'bigint',
  interest: 'bigint',
  fees: 'bigint',
}

/** The customers' rows are share-locked, so that none can be closed while a loan is being made for it. */
const insertWhere = (name: string, locked: 'FOR SHARE' | 'FOR SHARE SKIP LOCKED') =>
  statementOver(
    name,
    [LOAN, PERIOD, TRAIL_COLUMNS],
    (loans, periods, trail) => `
  WITH asked AS (
    SELECT * FROM ${loans('a')}
  ), borrower AS (
    SELECT c.organization_id, c.id FROM customer c
    WHERE (c.organization_id, c.id) IN (SELECT organization_id, customer_id FROM asked) AND c.status = 'Active'
    ${locked}
  ), made AS (
    INSERT INTO loan (${Object.keys(LOAN).join(', ')}, version, carried_version)
    SELECT asked.*, 1, 1 FROM asked
    JOIN borrower ON borrower.organization_id = asked.organization_id AND borrower.id = asked.customer_id
    RETURNING organization_id, id
  ), periods AS (
    INSERT INTO loan_period (${Object.keys(PERIOD).join(', ')})
    SELECT s.* FROM ${periods('s')}
    JOIN made ON made.organization_id = s.organization_id AND made.id = s.loan_id
  ), ${trailRows('made', 'loan', trail)}
  SELECT organization_id, id FROM made`,
  )

const insert = insertWhere('insert-loans', 'FOR SHARE SKIP LOCKED')
const insertPatiently = insertWhere('insert-loans-patiently', 'FOR SHARE')

/**
 * Inserts loans with their schedules, in one statement.
 * @param isPatient whether to wait for a customer whom somebody else has in hand; otherwise his loan is not made
 * @returns of each whether it was made; if not, its customer is no longer Active, or is not waited for
 * @throws a unique violation, after which none is made, when an external id (`loan_external_id`), an id or an
 * Idempotency-Key of one of them is taken
 */
export async function insertLoans(
  db: Queries,
  loans: readonly NewLoan[],
  { isPatient = true }: { readonly isPatient?: boolean } = {},
): Promise<boolean[]> {
  const { rows } = await db.pool.query<{ organization_id: number; id: bigint }>(
    (isPatient ? insertPatiently : insert)(
      loans.map(loanRow),
      loans.flatMap(({ author, id, terms }) => periodRows(author.organizationId, id, terms.schedule)),
      loans.map(trailOf),
    ),
  )
  const made = new Set(rows.map((row) => `${row.organization_id} ${row.id}`))
  return loans.map(({ author, id }) => made.has(`${author.organizationId} ${id}`))
}

const loanRow = ({ author, id, customerId, productId, externalId, terms, state, record, at }: NewLoan): unknown[] => [
  author.organizationId,
  id,
  customerId,
  productId,
  externalId,
  terms.currency.code,
  terms.principal,
  terms.numberOfRepayments,
  terms.ratePerPeriod,
  terms.penaltyAmount,
  moment(terms.disbursedAt),
  terms.disbursedOn,
  terms.dueOn,
  moment(terms.dueAt),
  record ? JSON.stringify(record) : null,
  moment(at),
  moment(at),
  carriedForward(state),
  ...cached(state),
]

/** The lines of a loan's schedule, as `PERIOD` has them. */
export const periodRows = (organizationId: number, loanId: bigint, schedule: readonly Instalment[]): unknown[][] =>
  schedule.map(({ period, fromDate, dueDate, principal, interest, fees }) => [
    organizationId,
    loanId,
    period,
    fromDate,
    dueDate,
    principal,
    interest,
    fees,
  ])

const trailOf = ({ author, id, customerId, productId, state, at }: NewLoan): unknown[] => {
  const after = { ...figures(state), customerId, productId }
  return trailRow(author, at, id, { action: 'create', before: null, after }, null)
}
