import { isSealed, openTexts } from '../customers/words.ts'
import { arrayOf, statementOver } from '../queries/rows.ts'
import type { Queries } from '../queries/statement.ts'
import { type Prepared, statement } from '../queries/statement.ts'
import {
  CARRIED_COLUMNS,
  type CarriedRow,
  LOAN_COLUMNS,
  LOAN_SOURCES,
  type LoanRow,
  type StoredHead,
  type StoredLoan,
  toStoredHead,
  toStoredLoan,
} from './storedLoan.ts'

/** A reference to a loan: the service's number or the partner's own id. */
export type LoanRef = { readonly id: bigint } | { readonly externalId: string }

const KEYS = { id: { column: 'id', type: 'bigint' }, externalId: { column: 'external_id', type: 'text' } } as const

type By = keyof typeof KEYS

/** Loans by organization and number or external id, in no particular order. */
const byKey = (by: By) => {
  const { column, type } = KEYS[by]
  return statementOver(
    `find-loans-by-${by}`,
    [{ organization_id: 'int', [column]: type }],
    (keys) => `SELECT ${LOAN_COLUMNS} FROM ${keys('k')}
    JOIN loan l ON l.organization_id = k.organization_id AND l.${column} = k.${column} ${LOAN_SOURCES}`,
  )
}

/** Each takes rows of an organization's id and the key. */
export const LOANS_BY = { id: byKey('id'), externalId: byKey('externalId') }

/**
 * Loans to post to, where what is carried forward is of this version of the loan, and where no entry has one of the keys
 * by which what is to be posted would be known from before. Token by token: of a list of them the planner would look
 * through all entries of the loan, of which it expects a few.
 */
const headBy = (by: By) => {
  const { column, type } = KEYS[by]
  return statementOver(
    `find-heads-by-${by}`,
    [{ organization_id: 'int', [column]: type, tokens: 'text', ids: 'text' }],
    (keys) => `SELECT ${CARRIED_COLUMNS} FROM ${keys('k')}
    JOIN loan l ON l.organization_id = k.organization_id AND l.${column} = k.${column}
    WHERE l.carried_version = l.version AND l.carried_forward IS NOT NULL
      AND NOT EXISTS (SELECT FROM unnest(k.tokens::text[]) t (token) WHERE (
        SELECT e.ordinal FROM loan_entry e
        WHERE e.organization_id = l.organization_id AND e.loan_id = l.id AND e.token = t.token) IS NOT NULL)
      AND NOT EXISTS (SELECT FROM unnest(k.ids::bigint[]) i (id) WHERE (
        SELECT e.ordinal FROM loan_entry e WHERE e.organization_id = l.organization_id AND e.id = i.id) IS NOT NULL)`,
  )
}

const HEADS_BY = { id: headBy('id'), externalId: headBy('externalId') }

/** All loans of some customers of an organization, in the order in which each borrowed. */
export const findLoansOfCustomers = statement<{ organizationId: number; customerIds: readonly bigint[] }>(
  'find-loans-of-customers',
  (p) => `
  SELECT ${LOAN_COLUMNS} FROM loan l ${LOAN_SOURCES}
  WHERE l.organization_id = ${p('organizationId')} AND l.customer_id = ANY (${p('customerIds')}::bigint[])
  ORDER BY l.disbursed_at, l.id`,
)

/** A loan of an organization, and the zone in which its days are counted. */
export interface LoanKey {
  readonly organizationId: number
  readonly ref: LoanRef
  readonly zone: string
}

/**
 * Reads loans with their schedules and entries, in one round trip. Equal keys get the same object: many callers who read one long loan at
 * once share what is computed from it.
 * @returns in the order of the keys; undefined where there is none
 */
export async function readLoans(db: Queries, keys: readonly LoanKey[]): Promise<(StoredLoan | undefined)[]> {
  const ask = (by: By, some: readonly LoanKey[]) =>
    LOANS_BY[by](some.map(({ organizationId, ref }) => [organizationId, nameIn(ref)]))
  const rows = await findRows<LoanRow, LoanKey>(db, keys, ask)
  const read = (some: readonly LoanKey[]) =>
    openLoans(
      db,
      some.map((key) => {
        const row = rows.get(nameOf(key))
        return row && toStoredLoan(row, key.zone)
      }),
    )
  // Each key has a row of its own: none is equal to another.
  if (rows.size === keys.length) return read(keys)
  const wholeName = (key: LoanKey) => `${key.zone} ${nameOf(key)}`
  const distinct = new Map(keys.map((key) => [wholeName(key), key]))
  const loans = await read([...distinct.values()])
  const byName = new Map([...distinct.keys()].map((name, index) => [name, loans[index]]))
  return keys.map((key) => byName.get(wholeName(key)))
}

/** Returns loans with the notes of their entries, and what a record system told of them, decrypted. */
async function openLoans<Loan extends StoredLoan | undefined>(db: Queries, loans: readonly Loan[]): Promise<Loan[]> {
  // Looked for where they can be: a loan may have thousands of entries.
  const parts = loans.map((loan) => (loan && hasWords(loan) ? { entries: loan.entries, record: loan.record } : null))
  if (parts.every((part) => part === null)) return [...loans]
  const asked = parts.map((part, at) => ({ of: loans[at]?.organizationId ?? 0, part }))
  const opened = await openTexts(db, asked, ({ of }) => of)
  return loans.map((loan, at) => loan && { ...loan, ...opened[at]!.part })
}

const hasWords = ({ entries, record }: StoredLoan): boolean =>
  isSealed(record?.description) || entries.some(({ note }) => isSealed(note))

/**
 * The transactions that wrote the rows of a loan, its customer and its product last. A change of the schedule or the entries
 * of a loan changes the row of the loan as well.
 */
const stampBy = (by: By) => {
  const { column, type } = KEYS[by]
  return statement<{ organizationId: number; key: bigint | string }>(
    `stamp-of-loan-by-${by}`,
    (p) => `
    SELECT concat_ws(' ', l.version, l.xmin,
      (SELECT xmin FROM customer WHERE organization_id = l.organization_id AND id = l.customer_id),
      (SELECT xmin FROM loan_product WHERE organization_id = l.organization_id AND id = l.product_id)) AS stamp
    FROM loan l WHERE l.organization_id = ${p('organizationId')} AND l.${column} = ${p('key')}::${type}`,
  )
}

const STAMPS_BY = { id: stampBy('id'), externalId: stampBy('externalId') }

/** Reads a text that is another one whenever `readLoans` would read something else; undefined where there is no such loan. */
export async function readStamp({ pool }: Queries, { organizationId, ref }: LoanKey): Promise<string | undefined> {
  const ask = STAMPS_BY['id' in ref ? 'id' : 'externalId']
  const { rows } = await pool.query<{ stamp: string }>(ask({ organizationId, key: nameIn(ref) }))
  return rows[0]?.stamp
}

/** The keys by which an entry that is about to be posted would be known from before. */
export interface DedupeKeys {
  readonly token: readonly string[]
  readonly id: readonly bigint[]
}

/** A loan to post to, and the dedupe keys of the postings. */
export interface HeadKey extends LoanKey {
  readonly wanted: DedupeKeys
}

/**
 * Heads of loans to post to, no two keys for one loan. Undefined where there is no such loan, where it has an entry with
 * one of the dedupe keys, and where the loan stores no head of its present version.
 */
export async function readHeads(db: Queries, keys: readonly HeadKey[]): Promise<(StoredHead | undefined)[]> {
  const ask = (by: By, some: readonly HeadKey[]) =>
    HEADS_BY[by](
      some.map(({ organizationId, ref, wanted }) => [
        organizationId,
        nameIn(ref),
        arrayOf(wanted.token),
        arrayOf(wanted.id),
      ]),
    )
  const rows = await findRows<CarriedRow, HeadKey>(db, keys, ask)
  return keys.map((key) => {
    const row = rows.get(nameOf(key))
    return row && toStoredHead(row, key.zone)
  })
}

const nameIn = (ref: LoanRef) => ('id' in ref ? ref.id : ref.externalId)

/** A name for a loan, as it was asked for: no number is also an external id, whatever that looks like. */
export const nameOf = ({ organizationId, ref }: Pick<LoanKey, 'organizationId' | 'ref'>): string =>
  'id' in ref ? `${organizationId} id ${ref.id}` : `${organizationId} externalId ${ref.externalId}`

/** The rows of the loans that are asked for, by their names: each once, however often it is asked for. */
async function findRows<Row extends Pick<LoanRow, 'organization_id' | 'id' | 'external_id'>, Key extends LoanKey>(
  db: Queries,
  keys: readonly Key[],
  ask: (by: By, keys: readonly Key[]) => Prepared,
): Promise<Map<string, Row>> {
  const asked = [...new Map(keys.map((key) => [nameOf(key), key])).values()]
  const find = async (by: By): Promise<[string, Row][]> => {
    const wanted = asked.filter(({ ref }) => by in ref)
    if (wanted.length === 0) return []
    const { rows } = await db.pool.query<Row>(ask(by, wanted))
    return rows.map((row) => {
      const ref = by === 'id' ? { id: row.id } : { externalId: row.external_id ?? '' }
      return [nameOf({ organizationId: row.organization_id, ref }), row]
    })
  }
  return new Map((await Promise.all([find('id'), find('externalId')])).flat())
}
