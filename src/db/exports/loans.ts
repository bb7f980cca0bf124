import type { Instant, LocalDate, PeriodUnit } from '../../domain/dates.ts'
import { fromStoredTerms } from '../../domain/product/storedTerms.ts'
import type { ProductTerms } from '../../domain/product/terms.ts'
import { columnsOf, type PortfolioLoan, type PortfolioRow, toPortfolioLoan } from '../portfolio/positions.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { moment } from '../queries/rows.ts'
import { statement } from '../queries/statement.ts'

/** A loan of a file with what is known of its borrower, who is encrypted still. */
export interface LoanOfFile extends PortfolioLoan {
  readonly accountNo: bigint
  readonly externalId: string | null
  readonly customerId: bigint
  readonly customerAccountNo: bigint
  readonly personKey: string | null
  readonly identity: string | null
  /** Null: of a record system. */
  readonly product: {
    readonly id: number
    readonly name: string
    readonly repayEvery: number
    readonly repayUnit: PeriodUnit
    readonly terms: ProductTerms | null
  } | null
  /** The day of the first notice; null: none was sent by the day. */
  readonly noticeSentOn: LocalDate | null
  /** The day on which the dispute was opened that is open; null: none is. */
  readonly disputedOn: LocalDate | null
  /** Whether a hold of its listing counts on the day. */
  readonly isHeld: boolean
}

interface Row extends PortfolioRow {
  readonly account_no: bigint
  readonly external_id: string | null
  readonly customer_account_no: bigint
  readonly person_key: string | null
  readonly identity: string | null
  readonly product_name: string | null
  readonly repay_every: number
  readonly repay_unit: PeriodUnit
  readonly product_terms: unknown
  readonly notice_sent_on: LocalDate | null
  readonly disputed_on: LocalDate | null
  readonly is_held: boolean
}

interface Values {
  readonly organizationId: number
  readonly asOf: LocalDate
  readonly knownAt: string | null
  readonly above: bigint
  readonly most: number
}

/** SQL for the loans that were known at an instant and may have been lent by a day: a record system can change the day. */
const ofDay = (p: (name: 'organizationId' | 'asOf' | 'knownAt') => string): string =>
  `l.organization_id = ${p('organizationId')} AND (l.disbursed_on <= ${p('asOf')}::date OR l.product_id IS NULL)
    AND l.created_at <= ${p('knownAt')}::timestamptz`

const read = statement<Values>(
  'read-loans-of-export',
  (p) => `
  SELECT ${columnsOf('then')}, l.account_no, l.external_id, c.account_no AS customer_account_no, c.person_key, c.identity,
    t.name AS product_name, t.repay_every, t.repay_unit, t.terms AS product_terms,
    (SELECT min(n.sent_on) FROM listing_notice n WHERE n.organization_id = l.organization_id AND n.loan_id = l.id
      AND n.sent_on <= ${p('asOf')}::date AND n.created_at <= ${p('knownAt')}::timestamptz) AS notice_sent_on,
    (SELECT min(d.opened_on) FROM dispute d WHERE d.organization_id = l.organization_id AND d.loan_id = l.id
      AND d.opened_on <= ${p('asOf')}::date AND d.created_at <= ${p('knownAt')}::timestamptz
      AND (d.resolved_on IS NULL OR d.resolved_on > ${p('asOf')}::date OR d.resolved_at > ${p('knownAt')}::timestamptz)) AS disputed_on,
    EXISTS (SELECT FROM loan_hold h WHERE h.organization_id = l.organization_id AND h.loan_id = l.id AND h.what = 'listing'
      AND ${p('asOf')}::date BETWEEN h.from_date AND h.until_date AND h.created_at <= ${p('knownAt')}::timestamptz
      AND (h.released_on IS NULL OR h.released_on > ${p('asOf')}::date OR h.updated_at > ${p('knownAt')}::timestamptz)) AS is_held
  FROM loan l
  CROSS JOIN LATERAL (SELECT account_no, person_key, identity FROM customer
    WHERE organization_id = l.organization_id AND id = l.customer_id OFFSET 0) AS c
  LEFT JOIN loan_product t ON t.organization_id = l.organization_id AND t.id = l.product_id
  WHERE ${ofDay(p)} AND l.id > ${p('above')} ORDER BY l.id LIMIT ${p('most')}`,
)

/** What a walk through the loans of a day asks for. */
export interface LoansOfDay {
  readonly organizationId: number
  readonly asOf: LocalDate
  readonly knownAt: Instant
}

/** Reads the loans of a day after one of them, in the order of their numbers. */
export async function readLoansOfFile(
  transaction: Transaction,
  { organizationId, asOf, knownAt }: LoansOfDay,
  { above, most, zone }: { readonly above: bigint; readonly most: number; readonly zone: string },
): Promise<LoanOfFile[]> {
  const { rows } = await transaction.query<Row>(read({ organizationId, asOf, knownAt: moment(knownAt), above, most }))
  return rows.map((row) => ({
    ...toPortfolioLoan(row, zone),
    accountNo: row.account_no,
    externalId: row.external_id,
    customerId: row.customer_id,
    customerAccountNo: row.customer_account_no,
    personKey: row.person_key,
    identity: row.identity,
    product: toProduct(row),
    noticeSentOn: row.notice_sent_on,
    disputedOn: row.disputed_on,
    isHeld: row.is_held,
  }))
}

function toProduct({ product_id: id, product_name: name, repay_every, repay_unit, product_terms }: Row) {
  if (id === null || name === null) return null
  return { id, name, repayEvery: repay_every, repayUnit: repay_unit, terms: fromStoredTerms(product_terms) }
}

const count = statement<Omit<Values, 'above' | 'most'>>(
  'count-loans-of-export',
  (p) => `SELECT count(*)::int AS total FROM loan l WHERE ${ofDay(p)}`,
)

/** Counts the loans of a day. */
export async function countLoansOfFile(
  transaction: Transaction,
  { organizationId, asOf, knownAt }: LoansOfDay,
): Promise<number> {
  const { rows } = await transaction.query<{ total: number }>(count({ organizationId, asOf, knownAt: moment(knownAt) }))
  return rows[0]!.total
}
