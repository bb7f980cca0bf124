import { BORROWER_DETAILS, type BorrowerDetails, detailsOf, requireKey } from '../../domain/customer/customer.ts'
import type { Instant, LocalDate } from '../../domain/dates.ts'
import { type Author, type Trace, type TrailValues, trail, trailValues } from '../audit/trail.ts'
import { reserveAccountNumbers, returnAccountNumber } from '../organizations/accountNumbers.ts'
import type { Db } from '../postgres/client.ts'
import { inTransaction } from '../postgres/transaction.ts'
import type { Asked, Found } from '../queries/cursor.ts'
import type { NumberedDb } from '../queries/idBlocks.ts'
import { AFTER_TRANSACTION_ID, type ListedDb } from '../queries/lists.ts'
import { type Parameter, statement } from '../queries/statement.ts'
import { type CustomerFilter, readCustomers } from './customers.ts'
import {
  PERSON_COLUMNS,
  type PersonValues,
  personParameters,
  personValues,
  type SealedPerson,
  tracedPerson,
} from './identities.ts'
import { type CustomerWords, type Keyed, NO_WORDS, READ_WORDS, sealedWords } from './words.ts'

/** A customer as a record system knows it, whichever style made it. */
export interface Borrower extends BorrowerDetails {
  readonly id: bigint
  /** Null of a customer that a record system made, until it is given one. */
  readonly externalId: string | null
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

/** The columns of what a record system tells of a borrower, in the order of `detailValues`. */
export const DETAIL_COLUMNS = BORROWER_DETAILS.map((detail) => (detail === 'businessName' ? 'business_name' : detail))

export const detailValues = (details: BorrowerDetails) => BORROWER_DETAILS.map((detail) => details[detail])

/** Reads them from `customer a`. */
export const READ_DETAILS = BORROWER_DETAILS.map((detail, at) => `a.${DETAIL_COLUMNS[at]} AS "${detail}"`).join(', ')

const COLUMNS = `
  a.id, a.external_id AS "externalId", ${READ_DETAILS}, a.created_at AS "createdAt", a.updated_at AS "updatedAt"`
/** A customer as a record system knows it; undefined when there is none of that id. */
export async function findBorrower(db: Db, organizationId: number, id: bigint): Promise<Borrower | undefined> {
  const row = await db.prisma.customer.findUnique({ where: { organizationId_id: { organizationId, id } } })
  if (!row) return undefined
  const { externalId, createdAt, updatedAt } = row
  const details = detailsOf((detail) => row[detail])
  return { id, externalId, createdAt: createdAt.getTime(), updatedAt: updatedAt.getTime(), ...details }
}

/** Reads a page of the organization's customers, oldest first, or a step of a walk. */
export const findBorrowers = (listed: ListedDb, asked: Asked<CustomerFilter>): Promise<Found<Borrower> | undefined> =>
  readCustomers<Borrower>(listed, COLUMNS, asked)

interface BorrowerValues extends BorrowerDetails, TrailValues {
  readonly id: bigint
  readonly words: string
}

const insert = statement<BorrowerValues & PersonValues & { activationDate: LocalDate; accountNo: bigint }>(
  'insert-borrower',
  (p) => `
  WITH made AS (
    INSERT INTO customer (organization_id, id, status, activation_date, created_at, updated_at, account_no, ${DETAIL_COLUMNS.join(', ')},
      words, ${PERSON_COLUMNS.join(', ')})
    SELECT ${p('organizationId')}, ${p('id')}, 'Active', ${p('activationDate')}::date, ${p('changedAt')}::timestamptz,
      ${p('changedAt')}, ${p('accountNo')}, ${BORROWER_DETAILS.map(p).join(', ')},
      ${p('words')}, ${personParameters(p as Parameter<PersonValues>)} ${AFTER_TRANSACTION_ID}
    ON CONFLICT (organization_id, id) DO NOTHING
    RETURNING id
  ), ${trail(p as Parameter<TrailValues>, 'made', 'customer')}
  SELECT id FROM made`,
)

/** A customer to be made under an id of the client's own. */
export interface NewBorrower {
  readonly id: bigint
  readonly details: BorrowerDetails
  readonly activationDate: LocalDate
  /** The key of the customer, and who it is, encrypted. */
  readonly person: SealedPerson & { readonly personKey: string }
}

/**
 * A new customer under an id of the client's own, Active.
 * @returns undefined when the id is taken
 */
export async function insertBorrower(
  numbered: NumberedDb,
  author: Author,
  { id, details, activationDate, person }: NewBorrower,
  now: number,
): Promise<Borrower | undefined> {
  const { organizationId } = author
  const { db } = numbered
  const words = sealedWords(db.pool, { organizationId, id }, { ...NO_WORDS, ...details }, person.personKey)
  const after = { status: 'Active', activationDate, words, ...tracedPerson(person) }
  const trace: Trace = { action: 'create', before: null, after }
  const accountNo = (await reserveAccountNumbers(numbered, organizationId, 'customer', 1))()
  const { rows } = await db.pool.query(
    insert({
      ...details,
      id,
      activationDate,
      accountNo,
      words,
      ...personValues(person),
      ...trailValues(db.pool, author, now, { entity: 'customer', id }, trace),
    }),
  )
  if (!rows[0]) returnAccountNumber(numbered, organizationId, 'customer', accountNo)
  return rows[0] && { id, externalId: null, createdAt: now, updatedAt: now, ...details }
}

const findLocked = statement<{ organizationId: number; id: bigint }>(
  'find-borrower-locked',
  (p) => `
  SELECT a.id, a.created_at AS "createdAt", a.updated_at AS "updatedAt", a.person_key AS "personKey", a.words AS sealed, ${READ_WORDS}
  FROM customer a WHERE organization_id = ${p('organizationId')} AND id = ${p('id')} FOR UPDATE`,
)

const update = statement<BorrowerValues>(
  'update-borrower',
  (p) => `
  WITH changed AS (
    UPDATE customer SET ${BORROWER_DETAILS.map((detail, at) => `${DETAIL_COLUMNS[at]} = ${p(detail)}`).join(', ')},
      words = ${p('words')}, updated_at = ${p('changedAt')}
    WHERE organization_id = ${p('organizationId')} AND id = ${p('id')} RETURNING id
  ), ${trail(p, 'changed', 'customer')}
  SELECT id FROM changed`,
)

interface LockedBorrower extends CustomerWords, Keyed, Pick<Borrower, 'id' | 'createdAt' | 'updatedAt'> {}

/**
 * Changes what is known of a borrower as `decide` says; undefined changes nothing. The row is locked meanwhile, so that
 * two who change different details do not undo each other.
 * @returns undefined when there is no such borrower
 * @throws LendingError `failed_precondition` for one who was erased
 */
export async function changeBorrower(
  db: Db,
  author: Author,
  id: bigint,
  decide: (borrower: Borrower) => BorrowerDetails | undefined,
  now: number,
): Promise<Borrower | undefined> {
  return await inTransaction(db, async (transaction) => {
    const { organizationId } = author
    const { rows } = await transaction.query<LockedBorrower>(findLocked({ organizationId, id }))
    const row = rows[0]
    if (!row) return undefined
    const { personKey: _, sealed, closeReason: __, ...borrower } = row
    const details = decide(borrower)
    if (!details) return borrower
    const words = sealedWords(transaction, { organizationId, id }, { ...row, ...details }, requireKey(row))
    const trace = { action: 'update', before: { words: sealed }, after: { words } }
    const trail = trailValues(transaction, author, now, { entity: 'customer', id }, trace)
    await transaction.query(update({ ...details, words, id, ...trail }))
    return { ...borrower, updatedAt: now, ...details }
  })
}
