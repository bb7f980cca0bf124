import type { CustomerStatus } from '../../domain/customer/customer.ts'
import type { LocalDate } from '../../domain/dates.ts'
import type { EntryType } from '../../domain/loan/entry.ts'
import type { Db } from '../postgres/client.ts'
import { inSnapshot } from '../postgres/transaction.ts'
import { unprepared } from '../queries/statement.ts'

/** The texts and numbers that a search looks for. */
export interface SearchAsked {
  readonly organizationId: number
  /** An external id, a receipt or a reference, exactly as it was sent. */
  readonly text: string
  /** The beginning of a name, as a pattern of LIKE; null where the text is too short for one. */
  readonly prefix: string | null
  /** The beginnings of words of a name, as patterns of LIKE, the longest first; empty where the longest is too short. */
  readonly words: readonly string[]
  /** The ways in which a phone number may have been sent. */
  readonly phones: readonly string[]
  /** The text as a number of the service; null where it is none. */
  readonly number: bigint | null
  /** The hashes of a person, as array literals: all of them, or any of them; null: persons are not looked for by these. */
  readonly allHashes: string | null
  readonly anyHashes: string | null
  /** Rows of each kind at most. */
  readonly most: number
}

/** A customer that was found. */
export interface FoundCustomer {
  readonly id: bigint
  readonly externalId: string | null
  readonly businessName: string | null
  readonly phone: string | null
  readonly status: CustomerStatus
}

/** A loan that was found. */
export interface FoundLoan {
  readonly id: bigint
  readonly externalId: string | null
  readonly status: string
  readonly currency: string
  readonly principal: bigint
  readonly disbursedOn: LocalDate
}

/** A transaction that was found, of any loan. */
export interface FoundTransaction {
  readonly id: bigint
  readonly loanId: bigint
  readonly type: EntryType
  readonly currency: string
  readonly amount: bigint
  readonly valueDate: LocalDate
  readonly token: string | null
  readonly isReversed: boolean
}

/** The words of a name, each after a space: the expression of the index. */
const WORDS = "(' ' || lower(business_name))"

/**
 * Each part has an index of its own: one condition over all columns would read every customer. What was found exactly
 * comes before names that have the words, and these before names with a slip.
 */
const customers = unprepared<SearchAsked>(
  (p) => `
  SELECT id, external_id AS "externalId", business_name AS "businessName", phone, status FROM (
    ${[
      `identity_hashes <> '{}' AND identity_hashes @> ${p('allHashes')}::bigint[]`,
      `identity_hashes <> '{}' AND identity_hashes && ${p('anyHashes')}::bigint[]`,
      `external_id = ${p('text')}`,
      `phone = ANY(${p('phones')}::text[])`,
      `id = ${p('number')}::bigint`,
      `account_no = ${p('number')}::bigint`,
      `lower(external_id || ' Customer') LIKE lower(${p('prefix')}::text)`,
      `lower(business_name) LIKE lower(${p('prefix')}::text)`,
      `business_name IS NOT NULL AND ${WORDS} LIKE (${p('words')}::text[])[1] AND ${WORDS} LIKE ALL(${p('words')}::text[])`,
      `business_name IS NOT NULL AND lower(${p('text')}) <% ${WORDS} AND cardinality(${p('words')}::text[]) > 0`,
    ]
      .map(
        (condition, place) =>
          `(SELECT *, ${place} AS place FROM customer
            WHERE organization_id = ${p('organizationId')} AND ${condition} LIMIT ${p('most')})`,
      )
      .join(' UNION ALL ')}
  ) AS found GROUP BY id, external_id, business_name, phone, status
  ORDER BY greatest(min(place), 7), id LIMIT ${p('most')}`,
)

const loans = unprepared<SearchAsked>(
  (p) => `
  SELECT DISTINCT id, external_id AS "externalId", status, currency, principal, disbursed_on AS "disbursedOn" FROM (
    ${[`external_id = ${p('text')}`, `id = ${p('number')}::bigint`, `account_no = ${p('number')}::bigint`]
      .map(
        (condition) =>
          `(SELECT * FROM loan WHERE organization_id = ${p('organizationId')} AND ${condition} LIMIT ${p('most')})`,
      )
      .join(' UNION ALL ')}
  ) AS found ORDER BY id LIMIT ${p('most')}`,
)

const transactions = unprepared<SearchAsked>(
  (p) => `
  SELECT DISTINCT e.id, e.loan_id AS "loanId", e.type, l.currency, e.amount, e.value_date AS "valueDate", e.token,
    e.reversed_at IS NOT NULL AS "isReversed" FROM (
    ${[`id = ${p('number')}::bigint`, `token = ${p('text')}`]
      .map(
        (condition) =>
          `(SELECT * FROM loan_entry WHERE organization_id = ${p('organizationId')} AND ${condition} LIMIT ${p('most')})`,
      )
      .join(' UNION ALL ')}
  ) AS e JOIN loan l ON l.organization_id = e.organization_id AND l.id = e.loan_id
  ORDER BY e.id LIMIT ${p('most')}`,
)

/** How alike a text and the words of a name have to be, from 0 to 1: a letter more, less or another one in a short name. */
const tolerant = {
  name: 'set-tolerance',
  text: "SELECT set_config('pg_trgm.word_similarity_threshold', '0.5', true)",
}

/** Finds customers, loans and transactions of an organization by what people have of them. */
export async function searchBook(db: Pick<Db, 'pool'>, asked: SearchAsked) {
  const { pool } = db
  const [foundCustomers, foundLoans, foundTransactions] = await Promise.all([
    inSnapshot(db, async (snapshot) => {
      await snapshot.query(tolerant)
      return snapshot.query<FoundCustomer>(customers(asked))
    }),
    pool.query<FoundLoan>(loans(asked)),
    pool.query<FoundTransaction>(transactions(asked)),
  ])
  return { customers: foundCustomers.rows, loans: foundLoans.rows, transactions: foundTransactions.rows }
}
