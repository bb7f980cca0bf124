import type { CustomerStatus } from '../../domain/customer/customer.ts'
import type { Instant, LocalDate } from '../../domain/dates.ts'
import { invariant } from '../../domain/errors.ts'
import { isHead, type LoanHead } from '../../domain/loan/carriedForward/loanHead.ts'
import type { Entry, EntryType, RepaymentRecord } from '../../domain/loan/entry.ts'
import type { Loan } from '../../domain/loan/loan.ts'
import { endFrom } from '../../domain/loan/replay.ts'
import { roleFromText } from '../../domain/loan/restructure/planText.ts'
import { heldFromText } from '../../domain/loan/rules/heldDaysText.ts'
import { fromStoredRules } from '../../domain/loan/rules/storedRules.ts'
import type { HeadTerms } from '../../domain/loan/terms/terms.ts'
import { currencyOf } from '../../domain/money.ts'
import type { LoanRecord } from '../../domain/recordStyle/loanRecord.ts'
import type { Instalment } from '../../domain/schedule/schedule.ts'

/** The part of a stored loan that is in its own row: whose it is, its terms, and the version that a save has to name. */
export interface StoredRow {
  readonly organizationId: number
  readonly id: bigint
  readonly externalId: string | null
  readonly accountNo: bigint
  readonly version: number
  /** When it was last saved. */
  readonly updatedAt: Instant
  /** No later than when time alone changes its cached figures next; null: never. */
  readonly nextChangeAt: Instant | null
  readonly customerId: bigint
  readonly productId: number | null
  /** The details that a record system sent besides; null: none. */
  readonly record: LoanRecord | null
  readonly terms: HeadTerms
}

/** A stored loan with its schedule and its entries, and with the names of its customer and its product. */
export interface StoredLoan extends Loan, Omit<StoredRow, 'terms'> {
  readonly customerExternalId: string | null
  readonly customerBusinessName: string | null
  readonly customerStatus: CustomerStatus
  readonly productName: string | null
  readonly createdAt: Instant
}

/** The head of a stored loan: its own row, without its schedule and its entries. */
export interface StoredHead extends LoanHead, StoredRow {
  readonly terms: HeadTerms
}

/** The schedule, as `period,from,due,principal,interest,fees;…`, for which Postgres computes two thirds of what JSON takes. */
export const PERIODS = `
  (SELECT string_agg(concat_ws(',', s.period, s.from_date, s.due_date, s.principal, s.interest, s.fees), ';'
                       ORDER BY s.period)
       FROM loan_period s WHERE s.organization_id = l.organization_id AND s.loan_id = l.id)`

/** The entries; bigints are text, because JSON has no integers of their size. */
const ENTRIES = `
  (SELECT json_agg(json_build_array(e.id::text, e.type, e.value_date, e.posted_at, e.ordinal, e.place, e.amount::text,
                                      e.token, e.note, e.replaces::text, e.reversed_at, e.record, e.payment_method, e.due_on, e.restructure, e.payment_id::text)
                     ORDER BY e.ordinal)
       FROM loan_entry e WHERE e.organization_id = l.organization_id AND e.loan_id = l.id)`

/** The columns of a loan's own row that `bareOf` and `termsOf` take. */
export const BARE_COLUMNS = `
  l.organization_id, l.id, l.external_id, l.account_no, l.version, l.updated_at, l.next_change_at, l.customer_id, l.product_id, l.currency, l.principal,
  l.number_of_repayments, l.rate_per_period, l.penalty_amount, l.disbursed_at, l.disbursed_on, l.due_on, l.due_at, l.rules, l.penalty_holds, l.record`

/** The columns that `toStoredLoan` takes. */
export const LOAN_COLUMNS = `${BARE_COLUMNS},
  c.external_id AS customer_external_id, c.business_name AS customer_business_name,
  c.status AS customer_status, p.name AS product_name, l.created_at,
  ${PERIODS} AS periods, ${ENTRIES} AS entries`

/** The columns that `toStoredHead` takes: the loan's own row. */
export const CARRIED_COLUMNS = `${BARE_COLUMNS}, l.entry_count, l.carried_forward`

/**
 * The customer is read for each loan: joined freely, it comes before the loans in a plan that was made while the book was
 * small, and each customer of the organization is then paired with each loan.
 */
export const LOAN_SOURCES = `
  CROSS JOIN LATERAL (SELECT external_id, business_name, status FROM customer
    WHERE organization_id = l.organization_id AND id = l.customer_id OFFSET 0) AS c
  LEFT JOIN loan_product p ON p.organization_id = l.organization_id AND p.id = l.product_id`

/** The columns of a loan's own row that `termsOf` takes. */
export interface TermsRow {
  currency: string
  principal: bigint
  number_of_repayments: number
  rate_per_period: bigint
  penalty_amount: bigint | null
  disbursed_at: Instant
  disbursed_on: LocalDate
  due_on: LocalDate
  due_at: Instant
  rules: unknown
  penalty_holds: string | null
}

/** A loan's own row. */
export interface BareRow extends TermsRow {
  organization_id: number
  id: bigint
  external_id: string | null
  account_no: bigint
  version: number
  updated_at: Instant
  next_change_at: Instant | null
  customer_id: bigint
  product_id: number | null
  record: LoanRecord | null
}

/** A row of the statements that read loans: one for each loan. */
export interface LoanRow extends BareRow {
  customer_external_id: string | null
  customer_business_name: string | null
  customer_status: CustomerStatus
  product_name: string | null
  created_at: Instant
  /** Null where rows are damaged: each loan has a schedule. */
  periods: string | null
  entries: EntryTuple[] | null
}

/** The row of a head. */
export interface CarriedRow extends BareRow {
  entry_count: number
  carried_forward: string
}

type PeriodTuple = [
  number: string,
  fromDate: LocalDate,
  dueDate: LocalDate,
  principal: string,
  interest: string,
  fees: string,
]

type EntryTuple = [
  id: string,
  type: EntryType,
  valueDate: LocalDate,
  postedAt: string,
  ordinal: number,
  place: number,
  amount: string,
  token: string | null,
  note: string | null,
  replaces: string | null,
  reversedAt: string | null,
  record: RepaymentRecord | null,
  paymentMethod: string | null,
  dueOn: LocalDate | null,
  restructure: string | null,
  paymentId: string | null,
]

/** The entries that may be missing before the last one, in a damaged book that is still replayed. */
const MOST_MISSING = 100_000

/** A loan as the service knows it. */
export function toStoredLoan(row: LoanRow, zone: string): StoredLoan {
  invariant(row.periods !== null, 'a loan has a schedule')
  const entries = (row.entries ?? []).map(toEntry)
  // A replay takes memory and time by the largest ordinal, so a damaged one must not be a very large one.
  invariant((entries.at(-1)?.ordinal ?? 0) <= entries.length + MOST_MISSING, 'the ordinals of a loan count its entries')
  return {
    ...bareOf(row),
    customerExternalId: row.customer_external_id,
    customerBusinessName: row.customer_business_name,
    customerStatus: row.customer_status,
    productName: row.product_name,
    createdAt: row.created_at,
    terms: { ...termsOf(row, zone), schedule: toSchedule(row.periods) },
    entries,
  }
}

/** The head of a loan; undefined where the text of its totals and open instalments cannot be read. */
export function toStoredHead(row: CarriedRow, zone: string): StoredHead | undefined {
  const { carried_forward: carried, entry_count: count } = row
  const terms = termsOf(row, zone)
  const end = endFrom(terms, carried, count, row.updated_at)
  return end && { ...bareOf(row), terms, end, count, since: [] }
}

/** The number of entries of a loan. */
export const entryCountOf = (loan: StoredLoan | StoredHead): number => (isHead(loan) ? loan.count : loan.entries.length)

/** The loan's own row, without its terms. */
export const bareOf = (row: BareRow) => ({
  organizationId: row.organization_id,
  id: row.id,
  externalId: row.external_id,
  accountNo: row.account_no,
  version: row.version,
  updatedAt: row.updated_at,
  nextChangeAt: row.next_change_at,
  customerId: row.customer_id,
  productId: row.product_id,
  record: row.record,
})

/** The terms in a loan's own row. */
export const termsOf = (row: TermsRow, zone: string): HeadTerms => ({
  currency: currencyOf(row.currency),
  zone,
  principal: row.principal,
  numberOfRepayments: row.number_of_repayments,
  ratePerPeriod: row.rate_per_period,
  penaltyAmount: row.penalty_amount,
  disbursedAt: row.disbursed_at,
  disbursedOn: row.disbursed_on,
  dueOn: row.due_on,
  dueAt: row.due_at,
  rules: fromStoredRules(row.rules),
  penaltyHolds: heldFromText(row.penalty_holds),
})

/** Reads a schedule from the text of `PERIODS`. */
export const toSchedule = (text: string): Instalment[] => text.split(';').map(toInstalment)

function toInstalment(period: string): Instalment {
  const [number, fromDate, dueDate, principal, interest, fees] = period.split(',') as PeriodTuple
  return {
    period: Number(number),
    fromDate,
    dueDate,
    principal: BigInt(principal),
    interest: BigInt(interest),
    fees: BigInt(fees),
  }
}

const toEntry = (tuple: EntryTuple): Entry => {
  const [
    id,
    type,
    valueDate,
    postedAt,
    ordinal,
    place,
    amount,
    token,
    note,
    replaces,
    reversedAt,
    record,
    paymentMethod,
    dueOn,
    restructure,
    paymentId,
  ] = tuple
  return {
    id: BigInt(id),
    type,
    valueDate,
    postedAt: Date.parse(postedAt),
    ordinal,
    place,
    amount: BigInt(amount),
    token,
    note,
    replaces: replaces === null ? null : BigInt(replaces),
    reversedAt: reversedAt === null ? null : Date.parse(reversedAt),
    record,
    paymentMethod,
    dueOn,
    restructure: restructure === null ? null : roleFromText(restructure),
    paymentId: paymentId === null ? null : BigInt(paymentId),
  }
}
