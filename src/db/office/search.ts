import type { CustomerStatus } from '../../domain/customer/customer.ts'
import type { LocalDate } from '../../domain/dates.ts'
import type { EntryType } from '../../domain/loan/entry.ts'
import type { Db } from '../postgres/client.ts'
import { unprepared } from '../queries/statement.ts'

/** The texts and numbers that a search looks for. */
export interface SearchAsked {
  readonly organizationId: number
  /** An external id, a receipt or a reference, exactly as it was sent. */
  readonly text: string
  /** The beginning of a name, as a pattern of LIKE; null where the text is too short for one. */
  readonly prefix: string | null
  /** The ways in which a phone number may have been sent. */
  readonly phones: readonly string[]
  /** The text as a number of the service; null where it is none. */
  readonly number: bigint | null
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

/** Each part has an index of its own: one condition over all columns would read every customer. */
const customers = unprepared<SearchAsked>(
  (p) => `
  SELECT DISTINCT id, external_id AS "externalId", business_name AS "businessName", phone, status FROM (
    ${[
      `external_id = ${p('text')}`,
      `phone = ANY(${p('phones')}::text[])`,
      `id = ${p('number')}::bigint`,
      `account_no = ${p('number')}::bigint`,
      `lower(external_id || ' Customer') LIKE lower(${p('prefix')}::text)`,
      `lower(business_name) LIKE lower(${p('prefix')}::text)`,
    ]
      .map(
        (condition) =>
          `(SELECT * FROM customer WHERE organization_id = ${p('organizationId')} AND ${condition} LIMIT ${p('most')})`,
      )
      .join(' UNION ALL ')}
  ) AS found ORDER BY id LIMIT ${p('most')}`,
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

/** Finds customers, loans and transactions of an organization by what people have of them. */
export async function searchBook({ pool }: Pick<Db, 'pool'>, asked: SearchAsked) {
  const [foundCustomers, foundLoans, foundTransactions] = await Promise.all([
    pool.query<FoundCustomer>(customers(asked)),
    pool.query<FoundLoan>(loans(asked)),
    pool.query<FoundTransaction>(transactions(asked)),
  ])
  return { customers: foundCustomers.rows, loans: foundLoans.rows, transactions: foundTransactions.rows }
}
