import type { CustomerStatus } from '../../domain/customer/customer.ts'
import type { Instant } from '../../domain/dates.ts'
import { changesOf, readChanges } from '../audit/changes.ts'
import type { Db } from '../postgres/client.ts'
import type { Asked, Found } from '../queries/cursor.ts'
import { type List, type ListedDb, readList } from '../queries/lists.ts'
import { type Conditions, conditionsOf } from '../queries/statement.ts'

/** The customers to list; a property that is left out sets no condition. */
export interface CustomerFilter {
  readonly externalId?: string | undefined
  readonly status?: CustomerStatus | undefined
  readonly phone?: string | undefined
  /** The beginning of a name of the customer, in any case. */
  readonly name?: string | undefined
  /** Lists the customers that were changed since then, in the order of their last change. */
  readonly updatedSince?: Instant | undefined
}

/** The orders of lists of customers: as they came, and as they were changed last. */
export const CUSTOMER_ORDERS = { arrival: 'customers', change: 'changed-customers' } as const

const ARRIVAL: Omit<List, 'columns'> = {
  order: CUSTOMER_ORDERS.arrival,
  from: 'customer a',
  place: 'a.arrival',
  highest: 'SELECT max(arrival) FROM customer WHERE organization_id = $1',
}

/** The ids of the customers of a name, each found by an index. */
const NAMED = ["lower(external_id || ' Customer')", 'lower(business_name)'].map(
  (name) => `SELECT id FROM customer WHERE organization_id = $1 AND ${name} LIKE lower(?)`,
)

const CHANGES = changesOf('customer', CUSTOMER_ORDERS.change)

const CONDITIONS = {
  rareName: `a.id = ANY (ARRAY(${NAMED.join(' UNION ALL ')}))`,
  externalId: 'a.external_id = ?',
  status: 'a.status = ?',
  phone: 'a.phone = ?',
  name: `(lower(a.external_id || ' Customer') LIKE lower(?) OR lower(a.business_name) LIKE lower(?))`,
}

/** Customers of a name from which on they are found in the order of the list, and not by their names. */
const MANY = 1_000

/**
 * Returns whether few customers have a name: walking through all customers for them would take long, as sorting would where
 * they are many, and the planner cannot tell.
 */
async function areFew(db: Db, organizationId: number, name: string): Promise<boolean> {
  const some = NAMED.map((select) => `(${select.replace('?', '$2')} LIMIT ${MANY})`)
  const { rows } = await db.pool.query(some.join(' UNION ALL '), [organizationId, name])
  return rows.length < MANY
}

/** Reads customers with the columns that a caller asks for, of `customer a`. */
export async function readCustomers<Row extends object>(
  listed: ListedDb,
  columns: string,
  { organizationId, filter: { name, updatedSince, ...filter }, position }: Asked<CustomerFilter>,
): Promise<Found<Row> | undefined> {
  const prefix = name === undefined ? undefined : `${name.replaceAll(/[\\%_]/g, '\\$&')}%`
  const isRare = prefix !== undefined && (await areFew(listed.db, organizationId, prefix))
  const sent = { ...filter, ...(isRare ? { rareName: prefix } : { name: prefix }) }
  const where = (base: Conditions) => conditionsOf(CONDITIONS, sent, base)
  if (updatedSince !== undefined)
    return readChanges(listed, CHANGES, { columns }, { organizationId, position, since: updatedSince, where })
  const all = { texts: ['a.organization_id = $1'], values: [organizationId] }
  return readList(listed, { ...ARRIVAL, columns }, where(all), position)
}
