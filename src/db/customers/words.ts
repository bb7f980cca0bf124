import { BORROWER_DETAILS, type BorrowerDetails, requireKey } from '../../domain/customer/customer.ts'
import { invariant } from '../../domain/errors.ts'
import { LARGEST_INT64 } from '../../toolbox/integers.ts'
import type { Snapshot } from '../postgres/transaction.ts'
import { statementOver } from '../queries/rows.ts'
import { type Prepared, type Queries, statement } from '../queries/statement.ts'
import type { KeyedEntity, PersonBox, Sealing, Whose } from './personBox.ts'

/** Returns the box of people of a connection that writes a person's words. */
function boxOf({ people }: Sealing): PersonBox {
  invariant(people, 'a connection that encrypts the words of people')
  return people
}

/** The words of a customer that are not its identity: all that a caller may have written of a person. */
export interface CustomerWords extends BorrowerDetails {
  readonly externalId: string | null
  readonly closeReason: string | null
}

/** The members of the words of a customer. */
export const WORD_MEMBERS = [
  'externalId',
  ...BORROWER_DETAILS,
  'closeReason',
] as const satisfies (keyof CustomerWords)[]

/** The words of a customer of whom nothing is known. */
export const NO_WORDS = Object.fromEntries(WORD_MEMBERS.map((member) => [member, null])) as unknown as CustomerWords

/** The key of a customer, and its words, both encrypted; null: the customer was erased. */
export interface Keyed {
  readonly personKey: string | null
  readonly sealed: string | null
}

/** Returns the members in which words differ. */
export const differingWords = (one: CustomerWords, other: CustomerWords): string[] =>
  WORD_MEMBERS.filter((member) => one[member] !== other[member])

/** The columns of the words of `customer a`, by the names of their members. */
export const READ_WORDS = WORD_MEMBERS.map((member) => `a.${columnOf(member)} AS "${member}"`).join(', ')

function columnOf(member: keyof CustomerWords): string {
  return member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Returns the words of a customer, encrypted; the trail has them so, and the row beside them in columns that can be searched. */
export function sealedWords(sealing: Sealing, whose: Whose, words: CustomerWords, personKey: string): string {
  const known = Object.fromEntries(
    WORD_MEMBERS.flatMap((member) => (words[member] === null ? [] : [[member, words[member]]])),
  )
  return sealedText(sealing, whose, JSON.stringify(known), personKey)
}

/** Returns the words of a customer from their encrypted text. @throws Error for a text of another customer */
export function openWords(people: PersonBox, whose: Whose, { personKey, sealed }: Keyed): CustomerWords {
  const read = sealed === null ? undefined : readSealed(whose.organizationId, sealed)
  if (!read || personKey === null) return NO_WORDS
  return { ...NO_WORDS, ...(JSON.parse(people.openText(whose, read.sealed, personKey)) as Partial<CustomerWords>) }
}

/** Returns a text about a person, encrypted under the key of the person; `openTexts` decrypts it. */
export const sealedText = (sealing: Sealing, whose: Whose, text: string, personKey: string): string =>
  `sealed:${whose.entity ?? 'customer'}.${whose.id}:${boxOf(sealing).sealText(whose, text, personKey)}`

/** Returns whether a text may be encrypted. */
export const isSealed = (text: string | null | undefined): boolean => text?.startsWith('sealed:') ?? false

const SEALED = /^sealed:(customer|payment|guarantor)\.(\d{1,19}):([\w.-]+)$/

/** Returns the owner of an encrypted text, and what is encrypted; undefined for another text, such as one of a caller that looks like it. */
function readSealed(organizationId: number, text: string) {
  const [, entity, id, sealed] = SEALED.exec(text) ?? []
  return entity && id && sealed && BigInt(id) <= LARGEST_INT64
    ? { whose: { entity: entity as KeyedEntity, organizationId, id: BigInt(id) }, sealed }
    : undefined
}

const nameOf = ({ entity = 'customer', organizationId, id }: Whose): string => `${entity} ${organizationId}/${id}`

const readKeysOf = (entity: KeyedEntity) =>
  statementOver(
    `read-keys-of-${entity}s`,
    [{ organization_id: 'int', id: 'bigint' }],
    (asked) => `SELECT r.organization_id AS "organizationId", r.id, r.person_key AS "personKey" FROM ${asked('k')}
    JOIN ${entity} r ON r.organization_id = k.organization_id AND r.id = k.id`,
  )

/** Payments have a key from their first note on. */
const keysOfPayments = statementOver(
  'make-keys-of-payments',
  [{ organization_id: 'int', id: 'bigint', person_key: 'text' }],
  (asked) => `UPDATE payment p SET person_key = coalesce(p.person_key, k.person_key) FROM ${asked('k')}
    WHERE p.organization_id = k.organization_id AND p.id = k.id
    RETURNING p.organization_id AS "organizationId", p.id, p.person_key AS "personKey"`,
)

const READ_KEYS: Readonly<Record<KeyedEntity, (rows: unknown[][]) => Prepared>> = {
  customer: readKeysOf('customer'),
  payment: readKeysOf('payment'),
  guarantor: readKeysOf('guarantor'),
}

/** Reads the keys of people, by their names; null for a person who was erased. */
async function readKeys(
  db: Queries,
  owners: readonly Whose[],
  reading: Readonly<Record<KeyedEntity, (rows: unknown[][]) => Prepared>> = READ_KEYS,
): Promise<ReadonlyMap<string, string | null>> {
  const kinds = [...Map.groupBy(owners, ({ entity = 'customer' }) => entity)]
  const read = kinds.map(async ([entity, some]) => {
    const keys = [...new Map(some.map((whose) => [nameOf(whose), whose])).values()]
    const { rows } = await db.pool.query<Whose & { personKey: string | null }>(
      reading[entity](keys.map(({ organizationId, id }) => [organizationId, id])),
    )
    return rows.map((row) => [nameOf({ ...row, entity }), row.personKey] as const)
  })
  return new Map((await Promise.all(read)).flat())
}

/** Encrypts texts about people, each under the key of its person. */
export interface Seal {
  /** @throws LendingError `failed_precondition` for a person who was erased */
  (whose: Whose, text: string): string
  /** Returns whether a person was erased. */
  isErased(whose: Whose): boolean
}

/** Reads the keys of people, and returns the function that encrypts texts about them. */
export async function sealFor(db: Queries, owners: readonly Whose[]): Promise<Seal> {
  const { pool } = db
  const make = (rows: unknown[][]) => keysOfPayments(rows.map((row) => [...row, boxOf(pool).newKey()]))
  const keys: ReadonlyMap<string, string | null> =
    owners.length === 0 ? new Map() : await readKeys(db, owners, { ...READ_KEYS, payment: make })
  const keyOf = (whose: Whose) => keys.get(nameOf(whose)) ?? null
  const seal = (whose: Whose, text: string) => sealedText(pool, whose, text, requireKey({ personKey: keyOf(whose) }))
  return Object.assign(seal, { isErased: (whose: Whose) => keyOf(whose) === null })
}

/**
 * Returns values with each encrypted text in them decrypted, however deep it is: null for that of a person who was erased. A text that
 * only looks encrypted, as a caller may write one, stays as it is.
 * @param organizationOf the lender of a value
 */
export async function openTexts<T>(
  db: Queries,
  values: readonly T[],
  organizationOf: (value: T) => number,
): Promise<readonly T[]> {
  const owners = values.flatMap((value) => {
    const organizationId = organizationOf(value)
    return textsIn(value).flatMap((text) => readSealed(organizationId, text)?.whose ?? [])
  })
  const { people } = db.pool
  if (owners.length === 0 || !people) return values
  const keys = await readKeys(db, owners)
  return values.map((value) => {
    const organizationId = organizationOf(value)
    return withTexts(value, (text) => {
      const read = readSealed(organizationId, text)
      const personKey = read && keys.get(nameOf(read.whose))
      if (!read || personKey === undefined) return text
      return personKey === null ? null : (people.readText(read.whose, read.sealed, personKey) ?? text)
    }) as T
  })
}

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && [Object.prototype, null].includes(Object.getPrototypeOf(value))

/** Returns the texts in a value that may be encrypted. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return isSealed(value) ? [value] : []
  if (Array.isArray(value)) return value.flatMap(textsIn)
  return isPlain(value) ? Object.values(value).flatMap(textsIn) : []
}

/** Returns a value with other texts; what has none of them is the same object. */
function withTexts(value: unknown, open: (text: string) => string | null): unknown {
  if (textsIn(value).length === 0) return value
  if (typeof value === 'string') return open(value)
  if (Array.isArray(value)) return value.map((item) => withTexts(item, open))
  return Object.fromEntries(Object.entries(value as object).map(([name, item]) => [name, withTexts(item, open)]))
}

/** A customer as the check of the book reads it. */
export interface CheckedWords extends CustomerWords, Keyed {
  readonly organizationId: number
  readonly id: bigint
  readonly identity: string | null
  readonly identityHashes: readonly bigint[]
}

interface Walk {
  readonly after: { readonly organizationId: number; readonly id: bigint }
  /** Undefined: all organizations. */
  readonly organizationId: number | undefined
  readonly most: number
}

const next = statement<{ of: number | null; afterOrganization: number; afterId: bigint; most: number }>(
  'next-words-of-customers',
  (p) => `
  SELECT a.organization_id AS "organizationId", a.id, a.person_key AS "personKey", a.words AS sealed, a.identity,
    a.identity_hashes AS "identityHashes", ${READ_WORDS}
  FROM customer a WHERE (a.organization_id, a.id) > (${p('afterOrganization')}, ${p('afterId')})
    AND (${p('of')}::int IS NULL OR a.organization_id = ${p('of')})
  ORDER BY a.organization_id, a.id LIMIT ${p('most')}`,
)

/** Reads the next customers in the order of their keys. */
export async function readCheckedWords(
  snapshot: Snapshot,
  { after, organizationId = undefined, most }: Walk,
): Promise<CheckedWords[]> {
  const values = { of: organizationId ?? null, afterOrganization: after.organizationId, afterId: after.id, most }
  return (await snapshot.query<CheckedWords>(next(values))).rows
}
