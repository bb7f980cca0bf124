import type { Instant, LocalDate } from '../domain/dates.ts'
import type { Entry, EntryType } from '../domain/entry.ts'
import { invariant } from '../domain/errors.ts'
import { type Loan, rememberAs } from '../domain/loan.ts'
import type { LoanRecord, RepaymentRecord } from '../domain/loanRecord.ts'
import { currencyOf } from '../domain/money.ts'
import type { Instalment } from '../domain/schedule.ts'
import type { Known } from './histories.ts'

/** A loan as it is stored: its terms and entries, whose it is, and the version that a save has to name. */
export interface StoredLoan extends Loan {
  readonly organizationId: number
  readonly id: bigint
  readonly externalId: string | null
  readonly version: number
  /** When it was last saved. */
  readonly updatedAt: Instant
  /** When time alone changes its cached figures next; null: never. */
  readonly nextChangeAt: Instant | null
  readonly customerId: bigint
  readonly customerExternalId: string | null
  readonly customerBusinessName: string | null
  readonly productId: number | null
  readonly productName: string | null
  /** What a record system told of it besides; null: nothing. */
  readonly record: LoanRecord | null
}

/**
 * The schedule travels as `period,from,due,principal,interest,fees;…`, for which Postgres computes two thirds of what JSON
 * takes. In the JSON of the entries, bigints are text, because JSON has no integers of their size.
 * @param wanted condition under which the history, the schedule and the entries, is asked for
 */
export const columnsWhere = (wanted: string): string => `
  l.organization_id, l.id, l.external_id, l.version, l.updated_at, l.next_change_at, l.customer_id, l.product_id, l.currency, l.principal,
  l.number_of_repayments, l.rate_per_period, l.penalty_amount, l.disbursed_at, l.disbursed_on, l.due_on, l.due_at, l.record,
  c.external_id AS customer_external_id, c.business_name AS customer_business_name, p.name AS product_name,
  CASE WHEN ${wanted} THEN
    (SELECT string_agg(concat_ws(',', s.period, s.from_date, s.due_date, s.principal, s.interest, s.fees), ';'
                       ORDER BY s.period)
       FROM loan_period s WHERE s.organization_id = l.organization_id AND s.loan_id = l.id) END AS periods,
  CASE WHEN ${wanted} THEN
    (SELECT json_agg(json_build_array(e.id::text, e.type, e.value_date, e.posted_at, e.ordinal, e.place, e.amount::text,
                                      e.token, e.note, e.replaces::text, e.reversed_at, e.record)
                     ORDER BY e.ordinal)
       FROM loan_entry e WHERE e.organization_id = l.organization_id AND e.loan_id = l.id) END AS entries`

/** What `toStoredLoan` takes. */
export const LOAN_COLUMNS = columnsWhere('true')

export const LOAN_SOURCES = `
  JOIN customer c ON c.organization_id = l.organization_id AND c.id = l.customer_id
  LEFT JOIN loan_product p ON p.organization_id = l.organization_id AND p.id = l.product_id`

/** What the statements that read loans answer, a row a loan. */
export interface LoanRow {
  organization_id: number
  id: bigint
  external_id: string | null
  version: number
  updated_at: Instant
  next_change_at: Instant | null
  customer_id: bigint
  customer_external_id: string | null
  customer_business_name: string | null
  product_id: number | null
  product_name: string | null
  currency: string
  principal: bigint
  number_of_repayments: number
  rate_per_period: bigint
  penalty_amount: bigint | null
  disbursed_at: Instant
  disbursed_on: LocalDate
  due_on: LocalDate
  due_at: Instant
  record: LoanRecord | null
  /** Null, where the history was known. */
  periods: string | null
  entries: EntryTuple[] | null
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
]

/**
 * A loan as the service knows it.
 * @param known where it may have been sent without its history
 */
export function toStoredLoan(row: LoanRow, zone: string, known?: Known): StoredLoan {
  const { schedule, entries, from } = historyOf(row, known)
  const loan: StoredLoan = {
    organizationId: row.organization_id,
    id: row.id,
    externalId: row.external_id,
    version: row.version,
    updatedAt: row.updated_at,
    nextChangeAt: row.next_change_at,
    customerId: row.customer_id,
    customerExternalId: row.customer_external_id,
    customerBusinessName: row.customer_business_name,
    productId: row.product_id,
    productName: row.product_name,
    record: row.record,
    terms: {
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
      schedule,
    },
    entries,
  }
  return from ? rememberAs(loan, from) : loan
}

/** The history that was sent, or else what is known of it, and from where. */
function historyOf({ periods, entries, version, updated_at }: LoanRow, known: Known | undefined) {
  if (periods !== null) return { schedule: periods.split(';').map(toInstalment), entries: (entries ?? []).map(toEntry) }
  const isKnown = known?.loan.version === version && known.loan.updatedAt === updated_at
  invariant(known && isKnown, 'a loan has a schedule')
  const { loan } = known
  return { schedule: loan.terms.schedule, entries: loan.entries.slice(0, known.entries), from: loan }
}

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
  const [id, type, valueDate, postedAt, ordinal, place, amount, token, note, replaces, reversedAt, record] = tuple
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
  }
}
