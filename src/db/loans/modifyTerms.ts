import type { CustomerStatus } from '../../domain/customer/customer.ts'
import { invariant } from '../../domain/errors.ts'
import { summaryOf } from '../../domain/recordStyle/modifyTerms.ts'
import { trail, trailValues } from '../audit/trail.ts'
import { findCustomer } from '../customers/customers.ts'
import type { Db } from '../postgres/client.ts'
import { columnsOf, moment, rowsOf, widthOf } from '../queries/rows.ts'
import { PERIOD, periodRows } from './insertLoans.ts'
import { CACHED, cached, figures } from './loanColumns.ts'
import type { LoanChange } from './saveLoans.ts'
import type { StoredLoan } from './storedLoan.ts'

const CHANGED = [
  ...['principal', 'rate_per_period', 'disbursed_at', 'disbursed_on', 'due_on', 'due_at', 'record'],
  ...CACHED,
]
const AT_CHANGED = 7
const AT_PERIODS = AT_CHANGED + CHANGED.length
const AT_TRAIL = AT_PERIODS + widthOf(PERIOD)

/**
 * As every change of a loan this is made by whoever read its latest version. The borrower's row is share-locked, so that
 * who is lent more cannot be closed meanwhile. The schedule keeps its number of lines: an update cannot name another.
 */
const RESTATE = `
  WITH borrower AS (
    SELECT id FROM customer WHERE organization_id = $1 AND id = $5 AND (status = 'Active' OR NOT $6) FOR SHARE
  ), held AS (
    SELECT id FROM loan WHERE organization_id = $1 AND id = $2 AND version = $3 FOR NO KEY UPDATE SKIP LOCKED
  ), saved AS (
    UPDATE loan SET version = version + 1, updated_at = $4, customer_id = borrower.id,
      ${CHANGED.map((column, index) => `${column} = $${AT_CHANGED + index}`).join(', ')}
    FROM borrower, held WHERE loan.organization_id = $1 AND loan.id = held.id
    RETURNING loan.id
  ), lines AS (
    UPDATE loan_period SET from_date = s.from_date, due_date = s.due_date, principal = s.principal,
      interest = s.interest, fees = s.fees
    FROM ${rowsOf('s', PERIOD, AT_PERIODS)} JOIN saved ON saved.id = s.loan_id
    WHERE loan_period.organization_id = s.organization_id AND loan_period.loan_id = s.loan_id
      AND loan_period.period = s.period
  ), ${trail('saved', 'loan', AT_TRAIL)}
  SELECT id FROM saved`

/**
 * Saves a loan that was agreed anew, with its schedule, in one statement.
 * @returns `stale` when another change was saved first, and the borrower's status when a borrower who is lent more is no
 *   longer Active; nothing was saved then
 */
export async function modifyStoredTerms(
  db: Db,
  loan: StoredLoan,
  { author, decision, at }: LoanChange,
): Promise<'saved' | 'stale' | { readonly borrowerIs: CustomerStatus }> {
  const { before, restated, state } = decision
  invariant(restated, 'a loan agreed anew')
  const { terms, borrowerId, record, lends } = restated
  invariant(terms.numberOfRepayments === loan.terms.numberOfRepayments, 'a schedule keeps its number of lines')
  // Only other remarks: the schedule stays as it is.
  const schedule = terms === loan.terms ? [] : terms.schedule
  const trace = {
    action: 'update',
    before: { ...figures(before), ...summaryOf(loan.terms), customerId: loan.customerId, record: loan.record },
    after: { ...figures(state), ...summaryOf(terms), customerId: borrowerId, record },
  }
  const { rowCount } = await db.pool.query({
    name: 'restate-loan',
    text: RESTATE,
    values: [
      loan.organizationId,
      loan.id,
      loan.version,
      moment(at),
      borrowerId,
      lends,
      terms.principal,
      terms.ratePerPeriod,
      moment(terms.disbursedAt),
      terms.disbursedOn,
      terms.dueOn,
      moment(terms.dueAt),
      JSON.stringify(record),
      ...cached(state),
      ...columnsOf(PERIOD, periodRows(loan.organizationId, loan.id, schedule)),
      ...trailValues(author, at, trace),
    ],
  })
  if (rowCount === 1) return 'saved'
  const borrower = lends ? await findCustomer(db, loan.organizationId, { id: borrowerId }) : undefined
  return borrower && borrower.status !== 'Active' ? { borrowerIs: borrower.status } : 'stale'
}
