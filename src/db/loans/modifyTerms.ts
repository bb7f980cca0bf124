import { hash } from 'node:crypto'
import type { CustomerStatus } from '../../domain/customer/customer.ts'
import { invariant } from '../../domain/errors.ts'
import { consequencesOf } from '../../domain/events/consequences.ts'
import { balancesToText } from '../../domain/events/keptBalances.ts'
import type { Balances } from '../../domain/loan/balances.ts'
import type { LoanTerms } from '../../domain/loan/terms.ts'
import { earlierTermsToText } from '../../domain/recordStyle/earlierTerms.ts'
import { summaryOf } from '../../domain/recordStyle/modifyTerms.ts'
import { type TrailValues, trail, trailValues } from '../audit/trail.ts'
import { findCustomer } from '../customers/customers.ts'
import type { Db } from '../postgres/client.ts'
import { columnValues, moment, tableOf } from '../queries/rows.ts'
import { statement } from '../queries/statement.ts'
import type { TestClock } from '../testClock/testClocks.ts'
import { PERIOD, periodRows } from './insertLoans.ts'
import { CACHED, cached, figures } from './loanColumns.ts'
import type { LoanChange } from './saveLoans.ts'
import type { StoredLoan } from './storedLoan.ts'

/** The parameters of a change of terms: those of the loan's row by the names of its columns, and the lines of its schedule. */
interface ModifiedValues extends TrailValues {
  readonly id: bigint
  readonly version: number
  readonly borrowerId: bigint
  readonly lends: boolean
  /** The text of the terms of before; null where they stay. */
  readonly earlierTerms: string | null
  /** Where the test clock stood when the change was decided; null: it ran, or the organization is live. */
  readonly standsAt: string | null
}

const CHANGED = [
  ...['principal', 'rate_per_period', 'disbursed_at', 'disbursed_on', 'due_on', 'due_at', 'record'],
  ...CACHED,
]
/** The lines of the schedule have names of their own, because the loan has a column `principal`, too. */
const LINES = 'line.'

/**
 * Saves where the version of the loan is the one that was read, and the test clock stands where it stood. The borrower's row is share-locked, so that a customer
 * who is lent more cannot be closed meanwhile. The schedule keeps its number of lines: an update cannot name another.
 */
const modify = statement<ModifiedValues & Record<string, unknown>>(
  'modify-terms',
  (p) => `
  WITH borrower AS (
    SELECT id FROM customer WHERE organization_id = ${p('organizationId')} AND id = ${p('borrowerId')}
      AND (status = 'Active' OR NOT ${p('lends')}) FOR SHARE
  ), locked AS (
    SELECT id FROM loan WHERE organization_id = ${p('organizationId')} AND id = ${p('id')} AND version = ${p('version')}
      AND NOT EXISTS (SELECT FROM test_clock t
        WHERE t.organization_id = ${p('organizationId')} AND t.stands_at IS DISTINCT FROM ${p('standsAt')}::timestamptz)
    FOR NO KEY UPDATE SKIP LOCKED
  ), saved AS (
    UPDATE loan SET version = version + 1, updated_at = ${p('changedAt')}, customer_id = borrower.id,
      ${CHANGED.map((column) => `${column} = ${p(column)}`).join(', ')}
    FROM borrower, locked WHERE loan.organization_id = ${p('organizationId')} AND loan.id = locked.id
    RETURNING loan.id
  ), lines AS (
    UPDATE loan_period SET from_date = s.from_date, due_date = s.due_date, principal = s.principal,
      interest = s.interest, fees = s.fees
    FROM ${tableOf('s', PERIOD, (column) => p(LINES + column))} JOIN saved ON saved.id = s.loan_id
    WHERE loan_period.organization_id = s.organization_id AND loan_period.loan_id = s.loan_id
      AND loan_period.period = s.period
  ), kept AS (
    INSERT INTO loan_earlier_terms (organization_id, loan_id, version, until, terms)
    SELECT ${p('organizationId')}, saved.id, ${p('version')}, ${p('changedAt')}, ${p('earlierTerms')}::text
    FROM saved WHERE ${p('earlierTerms')}::text IS NOT NULL
  ), ${trail(p, 'saved', 'loan')}
  SELECT id FROM saved`,
)

/**
 * Saves the modified terms of a loan, with its schedule and the terms of before, in one statement.
 * @param stored the balances that the columns of the loan say, which time may have changed since
 * @returns `stale` when another change was saved first or the test clock was moved, and the borrower's status when a borrower who is lent more is no
 *   longer Active; nothing was saved then
 */
export async function modifyStoredTerms(
  db: Db,
  { loan, testClock }: { readonly loan: StoredLoan; readonly testClock: TestClock | undefined },
  { author, decision, at }: LoanChange,
  stored: Balances,
): Promise<'saved' | 'stale' | { readonly borrowerIs: CustomerStatus }> {
  const { before, modifiedTerms, state } = decision
  invariant(modifiedTerms, 'modified terms')
  const { terms, borrowerId, record, lends } = modifiedTerms
  invariant(terms.numberOfRepayments === loan.terms.numberOfRepayments, 'a schedule keeps its number of lines')
  // Only other remarks: the schedule stays as it is.
  const schedule = terms === loan.terms ? [] : terms.schedule
  const earlierTerms = earlierText(loan, terms)
  const trace = {
    action: 'update',
    before: { ...figures(before), ...summaryOf(loan.terms), customerId: loan.customerId, record: loan.record },
    after: {
      ...{ ...figures(state), ...summaryOf(terms), customerId: borrowerId, record },
      // Null: the terms stay.
      earlierTerms: earlierTerms && { version: loan.version, sha256: hash('sha256', earlierTerms, 'hex') },
    },
    balances: balancesToText(state, {
      ...{ version: loan.version + 1, terms: { ...terms, customerId: borrowerId } },
      ...{ on: terms.disbursedOn, isImported: false },
    }),
    consequences: consequencesOf(stored, state),
  }
  const columns = {
    principal: terms.principal,
    rate_per_period: terms.ratePerPeriod,
    disbursed_at: moment(terms.disbursedAt),
    disbursed_on: terms.disbursedOn,
    due_on: terms.dueOn,
    due_at: moment(terms.dueAt),
    record: JSON.stringify(record),
  }
  const cachedColumns = Object.fromEntries(cached(state).map((value, index) => [CACHED[index], value]))
  const { rowCount } = await db.pool.query(
    modify({
      ...columns,
      ...cachedColumns,
      ...columnValues(PERIOD, periodRows(loan.organizationId, loan.id, schedule), LINES),
      ...{ id: loan.id, version: loan.version, borrowerId, lends, earlierTerms },
      standsAt: moment(testClock?.standsAt ?? null),
      ...trailValues(db.pool, author, at, { entity: 'loan', id: loan.id }, trace),
    }),
  )
  if (rowCount === 1) return 'saved'
  const borrower = lends ? await findCustomer(db, loan.organizationId, { id: borrowerId }) : undefined
  return borrower && borrower.status !== 'Active' ? { borrowerIs: borrower.status } : 'stale'
}

/** Returns the text of the terms that a loan has, for `loan_earlier_terms`; null where the new ones are the same. */
function earlierText({ terms: before }: StoredLoan, terms: LoanTerms): string | null {
  if (terms === before) return null
  const text = earlierTermsToText(before)
  return text === earlierTermsToText(terms) ? null : text
}
