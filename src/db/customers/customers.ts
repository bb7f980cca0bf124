import {
  type BorrowerDetails,
  type CustomerLifecycle,
  type CustomerStatus,
  detailsOf,
  requireKey,
} from '../../domain/customer/customer.ts'
import type { Instant, LocalDate } from '../../domain/dates.ts'
import { changesOf, readChanges } from '../audit/changes.ts'
import { type Author, type Trace, type TrailValues, trail, trailValues } from '../audit/trail.ts'
import type { Customer as CustomerRow } from '../generated/client.ts'
import { reserveAccountNumbers, returnAccountNumber } from '../organizations/accountNumbers.ts'
import type { Db } from '../postgres/client.ts'
import { isUniqueViolation } from '../postgres/errors.ts'
import { inTransaction, type Transaction } from '../postgres/transaction.ts'
import type { Asked, Found } from '../queries/cursor.ts'
import { type NumberedDb, reserveIds, retryOnTakenId } from '../queries/idBlocks.ts'
import { AFTER_TRANSACTION_ID, type List, type ListedDb, readList } from '../queries/lists.ts'
import { type Conditions, conditionsOf, type Parameter, statement } from '../queries/statement.ts'
import {
  type CustomerRef,
  PERSON_COLUMNS,
  type PersonValues,
  personParameters,
  personValues,
  type SealedPerson,
  tracedPerson,
} from './identities.ts'
import { type CustomerWords, type Keyed, NO_WORDS, READ_WORDS, sealedWords } from './words.ts'

export type { CustomerRef } from './identities.ts'

/** A customer as stored; a record system's borrower is one too. */
export interface Customer {
  readonly id: bigint
  readonly externalId: string | null
  /** Null only of a customer that an earlier version of the program made, until it is numbered. */
  readonly accountNo: bigint
  readonly status: CustomerStatus
  readonly activationDate: LocalDate | null
  readonly businessName: string | null
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

const by = (organizationId: number, ref: CustomerRef) =>
  'id' in ref
    ? { organizationId_id: { organizationId, id: ref.id } }
    : { organizationId_externalId: { organizationId, externalId: ref.externalId } }

export async function findCustomer(db: Db, organizationId: number, ref: CustomerRef): Promise<Customer | undefined> {
  const row = await db.prisma.customer.findUnique({ where: by(organizationId, ref) })
  return row ? toCustomer(row) : undefined
}

/** All that the row of a customer says of a person, besides the identity. */
export interface KnownCustomer extends Customer, BorrowerDetails {
  readonly closedOn: LocalDate | null
  readonly closeReason: string | null
  readonly isErased: boolean
}

/** Finds a customer with all that is known of it. */
export async function findKnownCustomer(
  db: Db,
  organizationId: number,
  id: bigint,
): Promise<KnownCustomer | undefined> {
  const row = await db.prisma.customer.findUnique({ where: by(organizationId, { id }) })
  if (!row) return undefined
  const { closedOn, closeReason, erasedAt } = row
  const details = detailsOf((detail) => row[detail])
  const closure = { closedOn: closedOn && toLocalDate(closedOn), closeReason, isErased: erasedAt !== null }
  return { ...toCustomer(row), ...details, ...closure }
}

/** Returns whether an organization has a customer. */
export const hasCustomers = async (db: Db, organizationId: number): Promise<boolean> =>
  (await db.prisma.customer.findFirst({ where: { organizationId }, select: { id: true } })) !== null

const COLUMNS = `a.id, a.external_id AS "externalId", a.account_no AS "accountNo", a.status,
    a.activation_date AS "activationDate", a.business_name AS "businessName", a.created_at AS "createdAt",
    a.updated_at AS "updatedAt"`

/** The customers to list; a property that is left out sets no condition. */
export interface CustomerFilter {
  readonly externalId?: string | undefined
  readonly status?: CustomerStatus | undefined
  readonly phone?: string | undefined
  /** The beginning of a name of the customer, in any case. */
  readonly name?: string | undefined
  /** Lists the customers that were changed since then, in the order of their last change. */
  readonly updatedSince?: Instant | undefined
  /** The hashes that a customer has to have: all of them, or any of them; array literals. */
  readonly allHashes?: string | undefined
  readonly anyHashes?: string | undefined
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

/** Found by the index of the hashes: in the order of the list, a rare person would be looked for among all. */
function identified(operator: '@>' | '&&'): string {
  return `a.id = ANY (ARRAY(SELECT id FROM customer WHERE organization_id = $1 AND identity_hashes <> '{}' AND identity_hashes ${operator} ?::bigint[]))`
}

const CONDITIONS = {
  rareName: `a.id = ANY (ARRAY(${NAMED.join(' UNION ALL ')}))`,
  externalId: 'a.external_id = ?',
  status: 'a.status = ?',
  phone: 'a.phone = ?',
  allHashes: identified('@>'),
  anyHashes: identified('&&'),
  name: `(lower(a.external_id || ' Customer') LIKE lower(?) OR lower(a.business_name) LIKE lower(?))`,
}

/** Customers of a name from which on they are found in the order of the list, and not by their names. */
const MANY = 1_000

/** Reads a page of customers in the order in which they came, or a step of a walk. */
export const findCustomers = (listed: ListedDb, asked: Asked<CustomerFilter>): Promise<Found<Customer> | undefined> =>
  readCustomers<Customer>(listed, COLUMNS, asked)

interface NewCustomerValues extends TrailValues, PersonValues {
  readonly words: string
  readonly id: bigint
  readonly externalId: string
  readonly activationDate: LocalDate
  readonly accountNo: bigint
}

const insert = statement<NewCustomerValues>(
  'insert-customer',
  (p) => `
  WITH made AS (
    INSERT INTO customer (organization_id, id, external_id, status, activation_date, created_at, updated_at, account_no,
      words, ${PERSON_COLUMNS.join(', ')})
    SELECT ${p('organizationId')}, ${p('id')}, ${p('externalId')}, 'Active', ${p('activationDate')}::date, ${p('changedAt')}::timestamptz,
      ${p('changedAt')}, ${p('accountNo')}, ${p('words')}, ${personParameters(p as Parameter<PersonValues>)} ${AFTER_TRANSACTION_ID}
    ON CONFLICT DO NOTHING RETURNING id
  ), ${trail(p as Parameter<TrailValues>, 'made', 'customer')}
  SELECT id FROM made`,
)

const findTaken = statement<{ organizationId: number; externalId: string }>(
  'find-taken-external-id',
  (p) => `SELECT FROM customer WHERE organization_id = ${p('organizationId')} AND external_id = ${p('externalId')}`,
)

/** A customer to be made. */
export interface NewCustomer {
  readonly externalId: string
  readonly activationDate: LocalDate
  /** Makes the key of the customer of a number, and encrypts who it is. */
  readonly personOf: (id: bigint) => SealedPerson & { readonly personKey: string }
}

/**
 * A new customer, Active.
 * @returns undefined when the external id is taken
 */
export async function insertCustomer(
  numbered: NumberedDb,
  author: Author,
  { externalId, activationDate, personOf }: NewCustomer,
  now: number,
): Promise<Customer | undefined> {
  const { organizationId } = author
  const { db } = numbered
  const accountNo = (await reserveAccountNumbers(numbered, organizationId, 'customer', 1))()
  const columns = { externalId, activationDate, accountNo }
  const tryInsert = async () => {
    const id = (await reserveIds(numbered, 'customer', 1))()
    const person = personOf(id)
    const whose = { organizationId, id }
    const words = sealedWords(db.pool, whose, { ...NO_WORDS, externalId }, person.personKey)
    const after = { status: 'Active', activationDate, words, ...tracedPerson(person) }
    const trace: Trace = { action: 'create', before: null, after }
    const trail = trailValues(db.pool, author, now, { entity: 'customer', id }, trace)
    const { rows } = await db.pool.query<{ id: bigint }>(
      insert({ ...columns, id, words, ...trail, ...personValues(person) }),
    )
    if (rows[0]) return rows[0]
    // Read afterwards: the insert may not see the other customer, which was committed while it ran.
    const { rowCount } = await db.pool.query(findTaken({ organizationId, externalId }))
    return rowCount === 0 ? undefined : 'taken'
  }
  const made = await retryOnTakenId(tryInsert)
  if (made === 'taken') {
    returnAccountNumber(numbered, organizationId, 'customer', accountNo)
    return undefined
  }
  return {
    id: made.id,
    externalId,
    accountNo,
    status: 'Active',
    activationDate,
    businessName: null,
    createdAt: now,
    updatedAt: now,
  }
}

/** The columns that a change of a customer's state sets. */
export interface CustomerChange {
  readonly status: CustomerStatus
  readonly activationDate: LocalDate | null
  readonly closedOn: LocalDate | null
  readonly closeReason: string | null
}

const lock = statement<{ organizationId: number; id: bigint | null; externalId: string | null }>(
  'lock-customer',
  (p) => `
  SELECT a.id, a.account_no, a.status, a.activation_date, a.created_at, a.person_key AS "personKey", a.words AS sealed, ${READ_WORDS}
  FROM customer a WHERE organization_id = ${p('organizationId')}
    AND CASE WHEN ${p('id')}::bigint IS NULL THEN external_id = ${p('externalId')} ELSE id = ${p('id')} END FOR UPDATE`,
)

const countOpenLoans = statement<{ organizationId: number; id: bigint }>(
  'count-open-loans',
  (p) => `
  SELECT count(*) FILTER (WHERE status IN ('Active', 'Overpaid')) AS open_loans, max(closed_on) AS last_closed_on
  FROM loan WHERE organization_id = ${p('organizationId')} AND customer_id = ${p('id')}`,
)

const update = statement<CustomerChange & TrailValues & { id: bigint; words: string }>(
  'update-customer',
  (p) => `
  WITH changed AS (
    UPDATE customer SET status = ${p('status')}, activation_date = ${p('activationDate')}, closed_on = ${p('closedOn')},
      close_reason = ${p('closeReason')}, words = ${p('words')}, updated_at = ${p('changedAt')}
    WHERE organization_id = ${p('organizationId')} AND id = ${p('id')} RETURNING id
  ), ${trail(p, 'changed', 'customer')}
  SELECT id FROM changed`,
)

/**
 * Changes a customer's state as `decide` says. The row is locked first and its loans counted afterwards: a new loan
 * locks the row too, so none can be made in between.
 * @returns undefined when there is no such customer
 * @throws LendingError `failed_precondition` for one who was erased
 */
export async function changeCustomer(
  db: Db,
  author: Author,
  ref: CustomerRef,
  action: string,
  decide: (customer: CustomerLifecycle) => CustomerChange,
  now: number,
): Promise<Customer | undefined> {
  const { organizationId } = author
  const trailOf = (transaction: Transaction, id: bigint, trace: Trace) =>
    trailValues(transaction, author, now, { entity: 'customer', id }, trace)
  return await inTransaction(db, async (transaction) => {
    const names = 'id' in ref ? { id: ref.id, externalId: null } : { id: null, externalId: ref.externalId }
    const locked = await transaction.query<LockedRow>(lock({ organizationId, ...names }))
    const row = locked.rows[0]
    if (!row) return undefined
    const loans = await transaction.query<StandingRow>(countOpenLoans({ organizationId, id: row.id }))
    const { open_loans, last_closed_on } = loans.rows[0]!
    const state = { status: row.status, activationDate: row.activation_date }
    const change = decide({ ...state, openLoans: Number(open_loans), lastLoanClosedOn: last_closed_on })
    const { status, activationDate, closedOn, closeReason } = change
    const { id, externalId, account_no: accountNo, businessName, created_at, sealed } = row
    const whose = { organizationId, id }
    const words = sealedWords(transaction, whose, { ...row, closeReason }, requireKey(row))
    const trace = { action, before: { ...state, words: sealed }, after: { status, activationDate, closedOn, words } }
    await transaction.query(update({ ...change, words, id, ...trailOf(transaction, id, trace) }))
    const times = { createdAt: created_at, updatedAt: now }
    return { id, externalId, accountNo, status, activationDate, businessName, ...times }
  })
}

interface LockedRow extends CustomerWords, Keyed {
  id: bigint
  account_no: bigint
  status: CustomerStatus
  activation_date: LocalDate | null
  created_at: Instant
}

interface StandingRow {
  open_loans: bigint
  last_closed_on: LocalDate | null
}

const toCustomer = (row: CustomerRow): Customer => ({
  id: row.id,
  externalId: row.externalId,
  accountNo: row.accountNo,
  status: row.status as CustomerStatus,
  activationDate: row.activationDate ? toLocalDate(row.activationDate) : null,
  businessName: row.businessName,
  createdAt: row.createdAt.getTime(),
  updatedAt: row.updatedAt.getTime(),
})

/** Prisma gives a date as midnight UTC of that day. */
const toLocalDate = (date: Date): LocalDate => date.toISOString().slice(0, 10)

const setOnce = statement<TrailValues & { id: bigint; externalId: string; words: string }>(
  'set-external-id',
  (p) => `
  WITH changed AS (
    UPDATE customer SET external_id = ${p('externalId')}, words = ${p('words')}, updated_at = ${p('changedAt')}
    WHERE organization_id = ${p('organizationId')} AND id = ${p('id')} AND external_id IS NULL RETURNING id
  ), ${trail(p, 'changed', 'customer')}
  SELECT id FROM changed`,
)

/**
 * Sets the external id of a customer that has none.
 * @returns the external id that the customer has afterwards; undefined where there is no such customer, and `taken` where
 *   another customer has the external id
 */
export async function setExternalId(
  db: Db,
  author: Author,
  { id, externalId }: { readonly id: bigint; readonly externalId: string },
  now: number,
): Promise<{ readonly externalId: string | null } | 'taken' | undefined> {
  const { organizationId } = author
  try {
    return await inTransaction(db, async (transaction) => {
      const { rows } = await transaction.query<LockedRow>(lock({ organizationId, id, externalId: null }))
      const row = rows[0]
      if (!row || row.externalId !== null) return row && { externalId: row.externalId }
      const words = sealedWords(transaction, { organizationId, id }, { ...row, externalId }, requireKey(row))
      const trace: Trace = { action: 'update', before: { words: row.sealed }, after: { words } }
      const trail = trailValues(transaction, author, now, { entity: 'customer', id }, trace)
      await transaction.query(setOnce({ id, externalId, words, ...trail }))
      return { externalId }
    })
  } catch (error) {
    if (isUniqueViolation(error, 'customer_external_id')) return 'taken'
    throw error
  }
}

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
