import type { CustomerStatus } from '../../domain/customer/customer.ts'
import type { Instant } from '../../domain/dates.ts'
import type { ModifiedTerms } from '../../domain/loan/terms/versions.ts'
import { sealFor } from '../customers/words.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { columnValues, moment, tableOf } from '../queries/rows.ts'
import { statement } from '../queries/statement.ts'
import { PERIOD, periodRows } from './insertLoans.ts'
import type { StoredLoan } from './storedLoan.ts'

/** The parameters of modified terms, besides those of the loan's row by the names of its columns and the lines of its schedule. */
interface ModifiedValues {
  readonly organizationId: number
  readonly id: bigint
  readonly version: number
  readonly at: string | null
  readonly customerId: bigint
  readonly lends: boolean
  /** The JSON of the record; null where it stays. */
  readonly record: string | null
  /** The number of lines of the schedule; null where the schedule stays. */
  readonly lines: number | null
  /** The text of the terms of before; null where they stay. */
  readonly earlierTerms: string | null
}

const TERMS = [
  'principal',
  'number_of_repayments',
  'rate_per_period',
  'disbursed_at',
  'disbursed_on',
  'due_on',
  'due_at',
]
/** The lines of the schedule have names of their own, because the loan has a column `principal`, too. */
const LINES = 'line.'

/**
 * Saves where the version of the loan is the one that was read. The customer's row is share-locked, so that a customer
 * who is lent more cannot be closed meanwhile. Lines of the schedule are changed, added and removed by their numbers.
 */
const modify = statement<ModifiedValues & Record<string, unknown>>(
  'modify-terms',
  (p) => `
  WITH customer_locked AS (
    SELECT id FROM customer WHERE organization_id = ${p('organizationId')} AND id = ${p('customerId')}
      AND (status = 'Active' OR NOT ${p('lends')}) FOR SHARE
  ), locked AS (
    SELECT id FROM loan WHERE organization_id = ${p('organizationId')} AND id = ${p('id')} AND version = ${p('version')}
    FOR NO KEY UPDATE SKIP LOCKED
  ), saved AS (
    UPDATE loan SET customer_id = customer_locked.id, record = coalesce(${p('record')}::jsonb, loan.record),
      ${TERMS.map((column) => `${column} = ${p(column)}`).join(', ')}
    FROM customer_locked, locked WHERE loan.organization_id = ${p('organizationId')} AND loan.id = locked.id
    RETURNING loan.id
  ), lines AS (
    INSERT INTO loan_period (${Object.keys(PERIOD).join(', ')})
    SELECT s.* FROM ${tableOf('s', PERIOD, (column) => p(LINES + column))} JOIN saved ON saved.id = s.loan_id
    ON CONFLICT (organization_id, loan_id, period) DO UPDATE SET from_date = excluded.from_date,
      due_date = excluded.due_date, principal = excluded.principal, interest = excluded.interest, fees = excluded.fees
  ), removed AS (
    DELETE FROM loan_period USING saved
    WHERE organization_id = ${p('organizationId')} AND loan_id = saved.id AND period > ${p('lines')}::int
  ), kept AS (
    INSERT INTO loan_earlier_terms (organization_id, loan_id, version, until, terms)
    SELECT ${p('organizationId')}, saved.id, ${p('version')}, ${p('at')}, ${p('earlierTerms')}::text
    FROM saved WHERE ${p('earlierTerms')}::text IS NOT NULL
  )
  SELECT id FROM saved`,
)

const readStatus = statement<{ organizationId: number; id: bigint }>(
  'status-of-customer',
  (p) => `SELECT status FROM customer WHERE organization_id = ${p('organizationId')} AND id = ${p('id')}`,
)

/**
 * Saves the modified terms of a loan, its schedule and the terms of before, in the transaction that saves the change.
 * @returns `stale` where the loan has another version by now, or another transaction has locked it, and the customer's status
 *   where a customer who is lent more is no longer Active; nothing was saved then
 */
export async function modifyStoredTerms(
  transaction: Transaction,
  loan: StoredLoan,
  modified: ModifiedTerms & { readonly earlierTerms: string | null; readonly at: Instant },
): Promise<'done' | 'stale' | { readonly customerIs: CustomerStatus }> {
  const { terms, customerId, record, lends, earlierTerms, at } = modified
  const { organizationId, id, version } = loan
  // Only other remarks: the schedule stays as it is.
  const schedule = terms === loan.terms ? undefined : terms.schedule
  const whose = { organizationId, id: customerId }
  const text = record?.description
  const seal = await sealFor({ pool: transaction }, text ? [whose] : [])
  const described = text ? { description: seal(whose, text) } : {}
  const { rowCount } = await transaction.query(
    modify({
      principal: terms.principal,
      number_of_repayments: terms.numberOfRepayments,
      rate_per_period: terms.ratePerPeriod,
      disbursed_at: moment(terms.disbursedAt),
      disbursed_on: terms.disbursedOn,
      due_on: terms.dueOn,
      due_at: moment(terms.dueAt),
      ...columnValues(PERIOD, periodRows(organizationId, id, schedule ?? []), LINES),
      organizationId,
      id,
      version,
      at: moment(at),
      customerId,
      lends,
      lines: schedule?.length ?? null,
      record: record === undefined ? null : JSON.stringify({ ...record, ...described }),
      earlierTerms,
    }),
  )
  if (rowCount === 1) return 'done'
  if (!lends) return 'stale'
  const { rows } = await transaction.query<{ status: CustomerStatus }>(readStatus({ organizationId, id: customerId }))
  const status = rows[0]?.status
  return status && status !== 'Active' ? { customerIs: status } : 'stale'
}
