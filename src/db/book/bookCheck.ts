import type { LoanTrail } from '../../domain/bookCheck/trailRules.ts'
import type { LocalDate } from '../../domain/dates.ts'
import { type Currency, currencyOf } from '../../domain/money.ts'
import type { Product } from '../../domain/product/product.ts'
import { CACHED } from '../loans/loanColumns.ts'
import { LOAN_COLUMNS, LOAN_SOURCES, type LoanRow, type StoredLoan, toStoredLoan } from '../loans/storedLoan.ts'
import { toProduct } from '../organizations/products.ts'
import type { Snapshot } from '../postgres/transaction.ts'
import { statement } from '../queries/statement.ts'

/** A loan with what its row says of it besides. */
export interface CheckedLoan extends Place {
  /** Throws where its rows are damaged. */
  readonly loan: () => StoredLoan
  readonly entryCount: number
  /** The stored head, on which the next entry would be posted; null: none. */
  readonly carriedForward: string | null
  /** The columns that cache what replay made of it, by name: instants in milliseconds. */
  readonly cached: Readonly<Record<string, unknown>>
}

/** A place in a walk through the loans. */
export interface Place {
  readonly organizationId: number
  readonly id: bigint
}

/** Before every loan. */
export const START: Place = { organizationId: 0, id: -(2n ** 63n) }

interface ReadValues {
  readonly afterOrganization: number
  readonly afterId: bigint
  readonly organizationId: number | null
  readonly most: number
}

const read = statement<ReadValues>(
  'read-checked',
  (p) => `
  SELECT ${LOAN_COLUMNS}, l.entry_count, CASE WHEN l.carried_version = l.version THEN l.carried_forward END AS carried_forward,
     ${CACHED.map((column) => `l.${column}`).join(', ')}
  FROM loan l ${LOAN_SOURCES}
  WHERE (l.organization_id, l.id) > (${p('afterOrganization')}, ${p('afterId')})
    AND (${p('organizationId')}::int IS NULL OR l.organization_id = ${p('organizationId')})
  ORDER BY l.organization_id, l.id LIMIT ${p('most')}`,
)

interface CheckedRow extends LoanRow, Record<string, unknown> {
  entry_count: number
  carried_forward: string | null
}

/** The next loans of the book, or of an organization, in the order of their keys. */
export async function readChecked(
  snapshot: Snapshot,
  zone: string,
  after: Place,
  organizationId: number | undefined,
  most: number,
): Promise<CheckedLoan[]> {
  const { rows } = await snapshot.query<CheckedRow>(
    read({
      afterOrganization: after.organizationId,
      afterId: after.id,
      organizationId: organizationId ?? null,
      most,
    }),
  )
  return rows.map((row) => ({
    organizationId: row.organization_id,
    id: row.id,
    loan: () => toStoredLoan(row, zone),
    entryCount: row.entry_count,
    carriedForward: row.carried_forward,
    cached: Object.fromEntries(CACHED.map((column) => [column, row[column]])),
  }))
}

/** An organization's loans in one currency, in sums over the cached columns and over the rows of entries. */
export interface StoredTotals {
  readonly organizationId: number
  readonly currency: string
  readonly loans: bigint
  readonly entries: bigint
  readonly principal: bigint
  readonly outstanding: bigint
  readonly paid: bigint
  readonly overpaid: bigint
}

const TOTALS = `
  SELECT l.organization_id AS "organizationId", l.currency, count(*) AS loans, coalesce(sum(e.entries), 0)::bigint AS entries,
    sum(l.principal)::bigint AS principal,
    sum(l.principal_outstanding + l.interest_outstanding + l.fees_outstanding + l.penalty_outstanding)::bigint AS outstanding,
    sum(l.total_paid)::bigint AS paid, sum(l.total_overpaid)::bigint AS overpaid
  FROM loan l LEFT JOIN (
    SELECT organization_id, loan_id, count(*) AS entries FROM loan_entry GROUP BY organization_id, loan_id
  ) e ON e.organization_id = l.organization_id AND e.loan_id = l.id
  WHERE $1::int IS NULL OR l.organization_id = $1
  GROUP BY l.organization_id, l.currency ORDER BY l.organization_id, l.currency`

/** Sums as the database makes them, to hold against those of the replay. */
export async function readTotals(snapshot: Snapshot, organizationId: number | undefined): Promise<StoredTotals[]> {
  return (await snapshot.query<StoredTotals>(TOTALS, [organizationId ?? null])).rows
}

/** The products that terms of loans follow from, of all organizations. */
export interface StoredGrounds {
  readonly products: ReadonlyMap<string, Product>
  readonly currencies: ReadonlyMap<number, Currency>
}

/** Products by `organization id`, and currencies by organization, as they are in the snapshot; without damaged ones. */
export async function readGrounds(snapshot: Snapshot): Promise<StoredGrounds> {
  const products = await snapshot.query<{ organization_id: number; id: number } & Record<string, unknown>>(
    'SELECT * FROM loan_product',
  )
  const organizations = await snapshot.query<{ id: number; currency: string }>('SELECT id, currency FROM organization')
  return {
    products: readable(products.rows, (row) => [`${row.organization_id} ${row.id}`, productOf(row)]),
    currencies: readable(organizations.rows, ({ id, currency }) => [id, currencyOf(currency)]),
  }
}

/** Returns what rows say, by their keys, without the rows that are damaged: a check must not stop at one of them. */
function readable<Row, Key, Value>(rows: readonly Row[], read: (row: Row) => readonly [Key, Value]): Map<Key, Value> {
  return new Map(
    rows.flatMap((row) => {
      try {
        return [read(row)]
      } catch {
        return []
      }
    }),
  )
}

/** The columns under the names that the schema has for them. */
const productOf = (row: Record<string, unknown>): Product =>
  toProduct(
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [name.replace(/_(.)/g, (_, letter) => letter.toUpperCase()), value]),
    ) as unknown as Parameters<typeof toProduct>[0],
  )

/** Lists the organizations that are checked, or one; 0 is the service itself. */
export async function listChecked(snapshot: Snapshot, organizationId: number | undefined): Promise<number[]> {
  const { rows } = await snapshot.query<{ id: number }>(
    `SELECT id FROM (SELECT id FROM organization UNION SELECT organization_id FROM event_chain UNION SELECT 0) AS o
     WHERE $1::int IS NULL OR id = $1 ORDER BY id`,
    [organizationId ?? null],
  )
  return rows.map(({ id }) => id)
}

/** The number of loans to read. */
export async function countLoans(snapshot: Snapshot, organizationId: number | undefined): Promise<number> {
  const { rows } = await snapshot.query<{ loans: bigint }>(
    'SELECT count(*) AS loans FROM loan WHERE $1::int IS NULL OR organization_id = $1',
    [organizationId ?? null],
  )
  return Number(rows[0]!.loans)
}

/** A Closed customer who was lent money all the same. */
export interface LentAfterClosing {
  readonly organizationId: number
  readonly customerId: bigint
  readonly closedOn: LocalDate
  readonly loans: bigint
}

/**
 * Customers with loans that were disbursed after the day they were closed: none, if all is well. An earlier loan may be
 * open again, by money that came late or a repayment that was reversed.
 */
export async function findLentAfterClosing(
  snapshot: Snapshot,
  organizationId: number | undefined,
): Promise<LentAfterClosing[]> {
  const { rows } = await snapshot.query<LentAfterClosing>(
    `SELECT c.organization_id AS "organizationId", c.id AS "customerId", c.closed_on AS "closedOn", count(*) AS loans
     FROM customer c JOIN loan l ON l.organization_id = c.organization_id AND l.customer_id = c.id
     WHERE c.status = 'Closed' AND l.disbursed_on > c.closed_on AND ($1::int IS NULL OR c.organization_id = $1)
     GROUP BY 1, 2, 3 LIMIT 1000`,
    [organizationId ?? null],
  )
  return rows
}

/** A loan, by its organization and its id. */
interface LoanKey {
  readonly organizationId: number
  readonly id: bigint
}

/** Ids and amounts go as text: as numbers of JSON they would be rounded here. */
const READ = `
  SELECT a.organization_id, a.entity_id, a.action, a.at,
    a.after ->> 'customerId' AS "customerId", a.after ->> 'productId' AS "productId",
    a.after ->> 'totalOutstanding' AS outstanding, a.after ->> 'principal' AS principal,
    a.after ->> 'disbursedOn' AS "disbursedOn", a.after ->> 'dueOn' AS "dueOn",
    a.change #>> '{posted,id}' AS "postedId", a.change #>> '{posted,type}' AS "postedType",
    coalesce(a.change #>> '{posted,amount}', '0') AS "postedAmount", a.change ->> 'on' AS "postedOn",
    a.change #>> '{posted,note}' AS "postedNote", a.change #>> '{posted,dueOn}' AS "postedDueOn",
    a.change #>> '{posted,restructure}' AS "postedRestructure",
    a.change #>> '{balances,restructuredDueOn}' AS "restructuredDueOn", a.change #>> '{reversed,id}' AS "reversedId"
  FROM unnest($1::int[], $2::text[]) AS k (organization_id, id)
  CROSS JOIN LATERAL (
    SELECT * FROM audit_entry a WHERE a.organization_id = k.organization_id AND a.entity = 'loan' AND a.entity_id = k.id
    ORDER BY a.id
  ) a`

/** The rows of the audit trail about each of the loans, oldest first, by `organization id`. */
export async function readLoanTrails(snapshot: Snapshot, loans: readonly LoanKey[]): Promise<Map<string, LoanTrail[]>> {
  const { rows } = await snapshot.query<LoanTrail & { organization_id: number; entity_id: string }>({
    name: 'read-loan-trails',
    text: READ,
    values: [loans.map(({ organizationId }) => organizationId), loans.map(({ id }) => String(id))],
  })
  return Map.groupBy(rows, ({ organization_id, entity_id }) => `${organization_id} ${entity_id}`)
}
