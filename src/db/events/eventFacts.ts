import type { BorrowerDetails, CustomerStatus } from '../../domain/customer/customer.ts'
import type { Instant, PeriodUnit } from '../../domain/dates.ts'
import type { Entry } from '../../domain/loan/entry.ts'
import { READ_DETAILS } from '../customers/borrowers.ts'
import type { Customer } from '../customers/customers.ts'
import { openTexts } from '../customers/words.ts'
import { BARE_COLUMNS, type BareRow, bareOf, type StoredRow, termsOf } from '../loans/storedLoan.ts'
import type { Db } from '../postgres/client.ts'
import { statement } from '../queries/statement.ts'

/** A loan without its schedule and its entries, with the names of its customer and its product. */
export interface NamedLoan extends StoredRow {
  readonly customerExternalId: string | null
  readonly customerBusinessName: string | null
  readonly customerStatus: CustomerStatus
  /** Null of a loan that a record system made. */
  readonly product: { readonly name: string; readonly repayEvery: number; readonly repayUnit: PeriodUnit } | null
  readonly createdAt: Instant
}

interface NamedRow extends BareRow {
  readonly customer_external_id: string | null
  readonly customer_business_name: string | null
  readonly customer_status: CustomerStatus
  readonly product_name: string | null
  readonly repay_every: number
  readonly repay_unit: PeriodUnit
  readonly created_at: Instant
}

interface Ids {
  readonly organizationId: number
  readonly ids: readonly bigint[]
}

const loans = statement<Ids>(
  'loans-of-events',
  (p) => `
  SELECT ${BARE_COLUMNS}, l.created_at, c.external_id AS customer_external_id, c.business_name AS customer_business_name,
    c.status AS customer_status, p.name AS product_name, p.repay_every, p.repay_unit
  FROM loan l JOIN customer c ON c.organization_id = l.organization_id AND c.id = l.customer_id
  LEFT JOIN loan_product p ON p.organization_id = l.organization_id AND p.id = l.product_id
  WHERE l.organization_id = ${p('organizationId')} AND l.id = ANY (${p('ids')}::bigint[])`,
)

/** Reads loans of an organization without their schedules and entries, by id. */
export async function readNamedLoans({ pool }: Pick<Db, 'pool'>, ids: Ids, zone: string): Promise<NamedLoan[]> {
  const { rows } = await pool.query<NamedRow>(loans(ids))
  const opened = await openTexts({ pool }, rows, () => ids.organizationId)
  return opened.map((row) => ({
    ...bareOf(row),
    terms: termsOf(row, zone),
    customerExternalId: row.customer_external_id,
    customerBusinessName: row.customer_business_name,
    customerStatus: row.customer_status,
    product:
      row.product_name === null
        ? null
        : { name: row.product_name, repayEvery: row.repay_every, repayUnit: row.repay_unit },
    createdAt: row.created_at,
  }))
}

interface LoanBefore {
  readonly organizationId: number
  readonly entityId: string
  readonly changeId: bigint
}

const lastChange = statement<LoanBefore>(
  'last-change-of-loan-before',
  (p) => `SELECT at FROM audit_entry WHERE organization_id = ${p('organizationId')} AND entity = 'loan'
    AND entity_id = ${p('entityId')} AND id < ${p('changeId')} ORDER BY id DESC LIMIT 1`,
)

/** Returns when a loan was changed last before a row of the trail; undefined where the trail has no change of it. */
export async function lastChangeBefore({ pool }: Pick<Db, 'pool'>, before: LoanBefore): Promise<Instant | undefined> {
  const { rows } = await pool.query<{ at: Instant }>(lastChange(before))
  return rows[0]?.at
}

const entries = statement<Ids>(
  'entries-of-events',
  (p) => `
  SELECT id, type, value_date AS "valueDate", posted_at AS "postedAt", ordinal, place, amount, token, note, replaces,
    reversed_at AS "reversedAt", record, payment_method AS "paymentMethod"
  FROM loan_entry WHERE organization_id = ${p('organizationId')} AND id = ANY (${p('ids')}::bigint[])`,
)

/** Reads entries of loans of an organization, by id. */
export async function readEntries({ pool }: Pick<Db, 'pool'>, ids: Ids): Promise<readonly Entry[]> {
  const { rows } = await pool.query<Entry>(entries(ids))
  return openTexts({ pool }, rows, () => ids.organizationId)
}

/** A customer as both styles know it. */
export type NamedCustomer = Customer & BorrowerDetails

const customers = statement<Ids>(
  'customers-of-events',
  (p) => `
  SELECT a.id, a.external_id AS "externalId", a.account_no AS "accountNo", a.status,
    a.activation_date AS "activationDate", ${READ_DETAILS}, a.created_at AS "createdAt", a.updated_at AS "updatedAt"
  FROM customer a WHERE a.organization_id = ${p('organizationId')} AND a.id = ANY (${p('ids')}::bigint[])`,
)

/** Reads customers of an organization, by id. */
export async function readNamedCustomers({ pool }: Pick<Db, 'pool'>, ids: Ids): Promise<NamedCustomer[]> {
  const { rows } = await pool.query<NamedCustomer>(customers(ids))
  return rows
}
