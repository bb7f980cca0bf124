import type { Instant, LocalDate } from '../domain/dates.ts'
import type { Entry, EntryType } from '../domain/entry.ts'
import type { Loan } from '../domain/loan.ts'
import type { LoanRecord, RepaymentRecord } from '../domain/loanRecord.ts'
import { currencyOf } from '../domain/money.ts'
import type { Instalment } from '../domain/schedule.ts'
import type { Db } from './client.ts'
import { type ColumnTypes, statementOver } from './rows.ts'

/** How a loan is named: by the service's number or by the partner's own id. */
export type LoanRef = { readonly id: bigint } | { readonly externalId: string }

/** A loan as it is stored: its terms and entries, whose it is, and the version that a save has to name. */
export interface StoredLoan extends Loan {
  readonly organizationId: number
  readonly id: bigint
  readonly externalId: string | null
  readonly version: number
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

/** Which loans to list, and in which order. */
export interface LoanFilter {
  readonly customerId?: bigint | undefined
  readonly customerExternalId?: string | undefined
  readonly status?: string | undefined
  readonly orderBy: 'id' | 'principal' | 'disbursedAt'
  readonly descending: boolean
}

/** A page of a list: which, and how long. */
export interface Page {
  /** From 1. */
  readonly page: number
  readonly rows: number
}

/** What a page holds, and how many there are on all pages. */
export interface Listed<T> {
  readonly items: readonly T[]
  readonly total: number
}

/**
 * The schedule travels as `period,from,due,principal,interest,fees;…`, for which Postgres computes two thirds of what JSON
 * takes. In the JSON of the entries, bigints are text, because JSON has no integers of their size.
 */
export const LOAN_COLUMNS = `
  l.organization_id, l.id, l.external_id, l.version, l.next_change_at, l.customer_id, l.product_id, l.currency, l.principal,
  l.number_of_repayments, l.rate_per_period, l.penalty_amount, l.disbursed_at, l.disbursed_on, l.due_on, l.due_at, l.record,
  c.external_id AS customer_external_id, c.business_name AS customer_business_name, p.name AS product_name,
  (SELECT string_agg(concat_ws(',', s.period, s.from_date, s.due_date, s.principal, s.interest, s.fees), ';'
                     ORDER BY s.period)
     FROM loan_period s WHERE s.organization_id = l.organization_id AND s.loan_id = l.id) AS periods,
  (SELECT json_agg(json_build_array(e.id::text, e.type, e.value_date, e.posted_at, e.ordinal, e.place, e.amount::text,
                                    e.token, e.note, e.replaces::text, e.reversed_at, e.record)
                   ORDER BY e.ordinal)
     FROM loan_entry e WHERE e.organization_id = l.organization_id AND e.loan_id = l.id) AS entries`

export const LOAN_SOURCES = `
  JOIN customer c ON c.organization_id = l.organization_id AND c.id = l.customer_id
  LEFT JOIN loan_product p ON p.organization_id = l.organization_id AND p.id = l.product_id`

/** Loans by organization and number or external id, in no particular order. */
const byKey = (by: 'id' | 'externalId', column: string, type: string) => {
  const key: ColumnTypes = { organization_id: 'int', [column]: type }
  return statementOver(
    `find-loans-by-${by}`,
    [key],
    (keys) => `SELECT ${LOAN_COLUMNS} FROM ${keys('k')}
    JOIN loan l ON l.organization_id = k.organization_id AND l.${column} = k.${column} ${LOAN_SOURCES}`,
  )
}

/** Each takes rows of an organization's id and the key. */
export const LOANS_BY = { id: byKey('id', 'id', 'bigint'), externalId: byKey('externalId', 'external_id', 'text') }

/** All loans of some customers of an organization, in the order in which each borrowed. */
export const FIND_OF_CUSTOMERS = `
  SELECT ${LOAN_COLUMNS} FROM loan l ${LOAN_SOURCES}
  WHERE l.organization_id = $1 AND l.customer_id = ANY ($2::bigint[]) ORDER BY l.disbursed_at, l.id`

/** Which loan of whom, and the zone its days are counted in. */
export interface LoanKey {
  readonly organizationId: number
  readonly ref: LoanRef
  readonly zone: string
}

/** Loans with their schedules and entries, in one round trip; in the order of the keys, undefined where there is none. */
export async function readLoans(db: Db, keys: readonly LoanKey[]): Promise<(StoredLoan | undefined)[]> {
  const found = await Promise.all([findBy(db, 'id', keys), findBy(db, 'externalId', keys)])
  const rows = new Map(found.flat())
  return keys.map((key) => {
    const row = rows.get(nameOf(key.organizationId, key.ref))
    return row && toStoredLoan(row, key.zone)
  })
}

const nameOf = (organizationId: number, ref: LoanRef): string =>
  'id' in ref ? `${organizationId} #${ref.id}` : `${organizationId} ${ref.externalId}`

async function findBy(db: Db, by: keyof typeof LOANS_BY, keys: readonly LoanKey[]): Promise<[string, LoanRow][]> {
  const wanted = new Map(
    keys.filter(({ ref }) => by in ref).map((key) => [nameOf(key.organizationId, key.ref), key] as const),
  )
  if (wanted.size === 0) return []
  const { rows } = await db.pool.query<LoanRow>(
    LOANS_BY[by](
      [...wanted.values()].map(({ organizationId, ref }) => [organizationId, 'id' in ref ? ref.id : ref.externalId]),
    ),
  )
  return rows.map((row) => {
    const ref = by === 'id' ? { id: row.id } : { externalId: row.external_id ?? '' }
    return [nameOf(row.organization_id, ref), row]
  })
}

const ORDER: Readonly<Record<LoanFilter['orderBy'], string>> = {
  id: 'id',
  principal: 'principal',
  disbursedAt: 'disbursed_at',
}

/** A page of an organization's loans, each with its schedule and entries, and the true count of all that match. */
export async function listLoans(
  db: Db,
  zone: string,
  organizationId: number,
  filter: LoanFilter,
  { page, rows }: Page,
): Promise<Listed<StoredLoan>> {
  const conditions = ['f.organization_id = $1']
  const values: unknown[] = [organizationId]
  const where = (condition: string, value: unknown) => {
    values.push(value)
    conditions.push(condition.replace('?', `$${values.length}`))
  }
  if (filter.customerId !== undefined) where('f.customer_id = ?', filter.customerId)
  if (filter.customerExternalId !== undefined)
    where(
      'f.customer_id = (SELECT id FROM customer WHERE organization_id = $1 AND external_id = ?)',
      filter.customerExternalId,
    )
  if (filter.status !== undefined) where('f.status = ?', filter.status)
  const matching = `FROM loan f WHERE ${conditions.join(' AND ')}`
  const direction = filter.descending ? 'DESC' : 'ASC'
  const order = [...new Set([ORDER[filter.orderBy], 'id'])]
  const by = (alias: string) => order.map((column) => `${alias}.${column} ${direction}`).join(', ')
  const [counted, listed] = await Promise.all([
    db.pool.query<{ total: bigint }>(`SELECT count(*) AS total ${matching}`, values),
    db.pool.query<LoanRow>(
      `WITH page AS (SELECT f.id ${matching} ORDER BY ${by('f')} LIMIT ${rows} OFFSET ${(page - 1) * rows})
       SELECT ${LOAN_COLUMNS} FROM page JOIN loan l ON l.organization_id = $1 AND l.id = page.id ${LOAN_SOURCES}
       ORDER BY ${by('l')}`,
      values,
    ),
  ])
  return { items: listed.rows.map((row) => toStoredLoan(row, zone)), total: Number(counted.rows[0]!.total) }
}

/** What the statements that read loans answer, a row a loan. */
export interface LoanRow {
  organization_id: number
  id: bigint
  external_id: string | null
  version: number
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
  periods: string
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

/** A loan as the service knows it. */
export const toStoredLoan = (row: LoanRow, zone: string): StoredLoan => ({
  organizationId: row.organization_id,
  id: row.id,
  externalId: row.external_id,
  version: row.version,
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
    schedule: row.periods.split(';').map(toInstalment),
  },
  entries: (row.entries ?? []).map(toEntry),
})

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
