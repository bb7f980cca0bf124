import type { BorrowerDetails } from '../../domain/customer/customer.ts'
import type { LocalDate } from '../../domain/dates.ts'
import { type Author, TRAIL_COLUMNS, trailRow, trailRows } from '../audit/trail.ts'
import { AFTER_TRANSACTION_ID } from '../queries/lists.ts'
import { arrayOf, type ColumnTypes, moment, statementOver } from '../queries/rows.ts'
import type { Queries } from '../queries/statement.ts'
import { DETAIL_COLUMNS, detailValues, READ_DETAILS } from './borrowers.ts'
import { type SealedPerson, tracedPerson } from './identities.ts'
import { NO_WORDS, sealedWords } from './words.ts'

/** A customer to be made, Active; what a record system would tell of it where it is known. */
export interface NewCustomer {
  readonly id: bigint
  readonly externalId: string
  readonly accountNo: bigint
  readonly activationDate: LocalDate
  readonly details: BorrowerDetails
  /** The key of the customer, and who it is, encrypted. */
  readonly person: SealedPerson & { readonly personKey: string }
}

const CUSTOMER: ColumnTypes = {
  organization_id: 'int',
  id: 'bigint',
  external_id: 'text',
  account_no: 'bigint',
  status: 'text',
  activation_date: 'date',
  ...Object.fromEntries(DETAIL_COLUMNS.map((column) => [column, 'text'])),
  words: 'text',
  person_key: 'text',
  identity: 'text',
  identity_hashes: 'text',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
}

/** The hashes of a row come as the text of an array: an array of arrays would be one of all. */
const VALUES = Object.keys(CUSTOMER).map((column) => (column === 'identity_hashes' ? `${column}::bigint[]` : column))

const insert = statementOver(
  'insert-customers',
  [CUSTOMER, TRAIL_COLUMNS],
  (customers, trail) => `
  WITH made AS (
    INSERT INTO customer (${Object.keys(CUSTOMER).join(', ')}) 
    SELECT ${VALUES.join(', ')} FROM ${customers('c')} ${AFTER_TRANSACTION_ID}
    RETURNING organization_id, id
  ), ${trailRows('made', 'customer', trail)}
  SELECT count(*) FROM made`,
)

/** @throws a unique violation, after which none is made, when an external id or an id of one is taken */
export async function insertCustomers(
  db: Queries,
  author: Author,
  customers: readonly NewCustomer[],
  now: number,
): Promise<void> {
  const at = moment(now)
  const { organizationId } = author
  const made = customers.map((customer) => {
    const { id, externalId, details, person } = customer
    const words = { ...NO_WORDS, ...details, externalId }
    return { ...customer, words: sealedWords(db.pool, { organizationId, id }, words, person.personKey) }
  })
  await db.pool.query(
    insert(
      made.map(({ id, externalId, accountNo, activationDate, details, words, person }) => [
        organizationId,
        id,
        externalId,
        accountNo,
        'Active',
        activationDate,
        ...detailValues(details),
        words,
        person.personKey,
        person.identity,
        arrayOf(person.identityHashes),
        at,
        at,
      ]),
      made.map(({ id, words, activationDate, person }) => {
        const after = { status: 'Active', activationDate, words, ...tracedPerson(person) }
        const trace = { action: 'create', before: null, after }
        return trailRow(db.pool, author, now, { entity: 'customer', id }, { trace, transactionId: null })
      }),
    ),
  )
}

/** The row that has an external id already, to tell a repeated line from a different one. */
export interface PresentCustomer extends Pick<SealedPerson, 'personKey' | 'identity'> {
  readonly id: bigint
  readonly externalId: string
  readonly activationDate: LocalDate | null
  readonly details: BorrowerDetails
}

/** Those of the external ids that are taken, and the customer each belongs to. */
export async function findPresentCustomers(
  db: Queries,
  organizationId: number,
  externalIds: readonly string[],
): Promise<Map<string, PresentCustomer>> {
  const { rows } = await db.pool.query<Omit<PresentCustomer, 'details'> & BorrowerDetails>({
    name: 'find-present-customers',
    text: `SELECT id, person_key AS "personKey", identity, external_id AS "externalId", activation_date AS "activationDate", ${READ_DETAILS}
      FROM customer a WHERE organization_id = $1 AND external_id = ANY($2::text[])`,
    values: [organizationId, externalIds],
  })
  return new Map(
    rows.map(({ id, personKey, identity, externalId, activationDate, ...details }) => [
      externalId,
      { id, personKey, identity, externalId, activationDate, details },
    ]),
  )
}
