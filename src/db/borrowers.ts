import type { BorrowerDetails } from '../domain/borrower.ts'
import type { Instant, LocalDate } from '../domain/dates.ts'
import { arrivalsSql, listArrivals } from './arrivals.ts'
import type { Db } from './client.ts'
import type { Listed, Page } from './paging.ts'
import { moment } from './rows.ts'
import { type Author, rethrowTakenKey, type Trace, trail, trailValues } from './trail.ts'
import { inTransaction } from './transaction.ts'

/** A customer as a record system knows it, whichever style made it. */
export interface Borrower extends BorrowerDetails {
  readonly id: bigint
  /** Null unless a partner made it. */
  readonly externalId: string | null
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

/** What a record system tells of a borrower, in the order of `detailValues`. */
const DETAILS = ['business_name', 'phone', 'email', 'address', 'type', 'region', 'country']
const COLUMNS = ['id', 'external_id', ...DETAILS, 'created_at', 'updated_at']

const detailValues = ({ businessName, phone, email, address, type, region, country }: BorrowerDetails) => [
  businessName,
  phone,
  email,
  address,
  type,
  region,
  country,
]

const FIND = `SELECT ${COLUMNS.join(', ')} FROM customer WHERE organization_id = $1 AND id = $2`

export async function findBorrower(db: Db, organizationId: number, id: bigint): Promise<Borrower | undefined> {
  const { rows } = await db.pool.query<BorrowerRow>({
    name: 'find-borrower',
    text: FIND,
    values: [organizationId, id],
  })
  return rows[0] && toBorrower(rows[0])
}

const LIST = arrivalsSql({
  table: 'customer',
  where: 'a.organization_id = $1',
  columns: COLUMNS.map((column) => `a.${column}`).join(', '),
})

/** A page of the organization's customers, oldest first. */
export async function listBorrowers(db: Db, organizationId: number, page: Page): Promise<Listed<Borrower>> {
  const { items, total } = await listArrivals<BorrowerRow>(db, 'list-borrowers', LIST, organizationId, page)
  return { items: items.map(toBorrower), total }
}

const INSERT = `
  WITH made AS (
    INSERT INTO customer (organization_id, id, status, activation_date, created_at, updated_at, ${DETAILS.join(', ')})
    VALUES ($1, $2, 'Active', $3, $4, $4, $5, $6, $7, $8, $9, $10, $11)
    ON CONFLICT (organization_id, id) DO NOTHING
    RETURNING id
  ), ${trail('made', 'customer', 12)}
  SELECT id FROM made`

/**
 * A new customer under an id of the client's own, Active.
 * @returns undefined when the id is taken
 */
export async function insertBorrower(
  db: Db,
  author: Author,
  id: bigint,
  details: BorrowerDetails,
  activationDate: LocalDate,
  now: number,
): Promise<Borrower | undefined> {
  const trace: Trace = { action: 'create', before: null, after: { status: 'Active', activationDate, ...details } }
  try {
    const { rows } = await db.pool.query({
      name: 'insert-borrower',
      text: INSERT,
      values: [
        author.organizationId,
        id,
        activationDate,
        moment(now),
        ...detailValues(details),
        ...trailValues(author, now, trace),
      ],
    })
    return rows[0] && { id, externalId: null, createdAt: now, updatedAt: now, ...details }
  } catch (error) {
    rethrowTakenKey(error)
    throw error
  }
}

const UPDATE = `
  WITH changed AS (
    UPDATE customer SET ${DETAILS.map((column, index) => `${column} = $${4 + index}`).join(', ')}, updated_at = $3
    WHERE organization_id = $1 AND id = $2 RETURNING id
  ), ${trail('changed', 'customer', 11)}
  SELECT id FROM changed`

/**
 * Changes what is known of a borrower as `decide` says; undefined changes nothing. The row is locked meanwhile, so that
 * two who change different details do not undo each other.
 * @returns undefined when there is no such borrower
 */
export async function changeBorrower(
  db: Db,
  author: Author,
  id: bigint,
  decide: (borrower: Borrower) => BorrowerDetails | undefined,
  now: number,
): Promise<Borrower | undefined> {
  try {
    return await inTransaction(db, async (transaction) => {
      const { rows } = await transaction.query<BorrowerRow>(`${FIND} FOR UPDATE`, [author.organizationId, id])
      const borrower = rows[0] && toBorrower(rows[0])
      const details = borrower && decide(borrower)
      if (!details) return borrower
      const { id: _, externalId, createdAt, updatedAt, ...before } = borrower
      const trace = trailValues(author, now, { action: 'update', before, after: details })
      await transaction.query(UPDATE, [author.organizationId, id, moment(now), ...detailValues(details), ...trace])
      return { id, externalId, createdAt, updatedAt: now, ...details }
    })
  } catch (error) {
    rethrowTakenKey(error)
    throw error
  }
}

interface BorrowerRow {
  id: bigint
  external_id: string | null
  business_name: string | null
  phone: string | null
  email: string | null
  address: string | null
  type: string | null
  region: string | null
  country: string | null
  created_at: Instant
  updated_at: Instant
}

const toBorrower = (row: BorrowerRow): Borrower => ({
  id: row.id,
  externalId: row.external_id,
  businessName: row.business_name,
  phone: row.phone,
  email: row.email,
  address: row.address,
  type: row.type,
  region: row.region,
  country: row.country,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})
