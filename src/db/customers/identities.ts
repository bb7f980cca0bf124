import { requireKey } from '../../domain/customer/customer.ts'
import { type Author, type TrailValues, trail, trailValues } from '../audit/trail.ts'
import type { Db } from '../postgres/client.ts'
import { inTransaction, type Transaction } from '../postgres/transaction.ts'
import { arrayOf } from '../queries/rows.ts'
import { type Parameter, statement } from '../queries/statement.ts'

/** A reference to a customer: the service's number or the partner's own id. */
export type CustomerRef = { readonly id: bigint } | { readonly externalId: string }

/** Who a customer is, encrypted by the key of the customer, and the hashes by which the customer is found. */
export interface SealedPerson {
  /** The key, encrypted; null: it was destroyed. */
  readonly personKey: string | null
  readonly identity: string | null
  readonly identityHashes: readonly bigint[]
}

/** The columns of who a customer is. */
export const PERSON_COLUMNS = ['person_key', 'identity', 'identity_hashes'] as const

/** The parameters of `PERSON_COLUMNS`. */
export interface PersonValues {
  readonly personKey: string | null
  readonly identity: string | null
  /** An array literal. */
  readonly identityHashes: string
}

/** Returns the parameters of `PERSON_COLUMNS`. */
export const personValues = (person: SealedPerson): PersonValues => ({
  ...person,
  identityHashes: arrayOf(person.identityHashes),
})

/** Writes the values of `PERSON_COLUMNS`. */
export const personParameters = (p: Parameter<PersonValues>): string =>
  `${p('personKey')}, ${p('identity')}, ${p('identityHashes')}::bigint[]`

/** Returns what the trail has of an identity: the text that nobody reads without the key. */
export const tracedPerson = ({ identity }: SealedPerson): { readonly identity?: string } =>
  identity === null ? {} : { identity }

/** A customer that is named by its number, or by its external id. */
interface NamedBy {
  readonly organizationId: number
  readonly name: bigint | string
}

/** Writes the two statements that read who a customer is: by the number, and by the external id. */
const reading = (name: string, locking: '' | 'FOR UPDATE') => {
  const by = (column: 'id' | 'external_id') =>
    statement<NamedBy>(
      `${name}-by-${column}`,
      (p) => `
  SELECT id, person_key AS "personKey", identity FROM customer
  WHERE organization_id = ${p('organizationId')} AND ${column} = ${p('name')} ${locking}`,
    )
  const [byId, byExternalId] = [by('id'), by('external_id')]
  return (organizationId: number, ref: CustomerRef) =>
    'id' in ref ? byId({ organizationId, name: ref.id }) : byExternalId({ organizationId, name: ref.externalId })
}

const find = reading('find-person', '')
const lock = reading('lock-person', 'FOR UPDATE')

/** A customer, and who it is, encrypted. */
export interface StoredPerson extends Pick<SealedPerson, 'personKey' | 'identity'> {
  readonly id: bigint
}

/** Locks a customer until the end of a transaction, and reads who it is; undefined when there is none. */
export async function lockPerson(
  transaction: Transaction,
  organizationId: number,
  ref: CustomerRef,
): Promise<StoredPerson | undefined> {
  return (await transaction.query<StoredPerson>(lock(organizationId, ref))).rows[0]
}

/** Finds who a customer is. */
export async function findPerson(
  { pool }: Pick<Db, 'pool'>,
  organizationId: number,
  ref: CustomerRef,
): Promise<StoredPerson | undefined> {
  return (await pool.query<StoredPerson>(find(organizationId, ref))).rows[0]
}

const update = statement<PersonValues & TrailValues & { id: bigint }>(
  'update-person',
  (p) => `
  WITH changed AS (
    UPDATE customer SET (${PERSON_COLUMNS.join(', ')}) = ROW (${personParameters(p as Parameter<PersonValues>)}),
      updated_at = ${p('changedAt')}
    WHERE organization_id = ${p('organizationId')} AND id = ${p('id')} RETURNING id
  ), ${trail(p as Parameter<TrailValues>, 'changed', 'customer')}
  SELECT id FROM changed`,
)

/** A change of who a customer is: undefined changes nothing. */
export interface PersonChange {
  readonly decide: (person: StoredPerson) => SealedPerson | undefined
  readonly now: number
}

/**
 * Changes who a customer is as `decide` says, with the row locked.
 * @returns the number of the customer; undefined when there is none
 */
export const changePerson = (
  db: Db,
  author: Author,
  ref: CustomerRef,
  { decide, now }: PersonChange,
): Promise<bigint | undefined> =>
  inTransaction(db, async (transaction) => {
    const { organizationId } = author
    const before = await lockPerson(transaction, organizationId, ref)
    if (!before) return undefined
    requireKey(before)
    const after = decide(before)
    if (!after) return before.id
    const { id } = before
    const trace = { action: 'identify', before: { identity: before.identity }, after: tracedPerson(after) }
    const traced = trailValues(transaction, author, now, { entity: 'customer', id }, trace)
    await transaction.query(update({ ...personValues(after), ...traced, id }))
    return id
  })
