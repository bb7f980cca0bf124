import type { Instant } from '../../domain/dates.ts'
import type { Author } from '../audit/trail.ts'
import type { LoanRef } from '../loans/loans.ts'
import { lockSecuredLoan } from '../loans/security/securedLoan.ts'
import type { Db } from '../postgres/client.ts'
import { inTransaction } from '../postgres/transaction.ts'
import { moment } from '../queries/rows.ts'
import { type Queries, statement } from '../queries/statement.ts'
import { changeIn, insertionInto, nextId, type Traced } from './traced.ts'

/** The officer of a loan for some time. */
export interface Assignment {
  readonly id: bigint
  readonly loanId: bigint
  readonly accountId: number
  readonly assignedAt: Instant
}

const TRACED: Traced = { table: 'loan_assignment', columns: ['loan_id', 'account_id', 'assigned_at'] }

const current = statement<{ organizationId: number; loanIds: readonly bigint[] }>(
  'current-assignments',
  (p) => `SELECT id, loan_id AS "loanId", account_id AS "accountId", assigned_at AS "assignedAt" FROM loan_assignment
    WHERE organization_id = ${p('organizationId')} AND loan_id = ANY (${p('loanIds')}::bigint[]) AND ended_at IS NULL`,
)

/** Reads the officers of some loans. */
export const readAssignments = async (
  { pool }: Queries,
  of: { readonly organizationId: number; readonly loanIds: readonly bigint[] },
): Promise<Assignment[]> => (await pool.query<Assignment>(current(of))).rows

const loanOf = statement<{ organizationId: number; id: bigint }>(
  'loan-of-assignment',
  (p) =>
    `SELECT loan_id AS "loanId" FROM loan_assignment WHERE organization_id = ${p('organizationId')} AND id = ${p('id')}`,
)

/** Finds the loan of an assignment. */
export const findAssignedLoan = async (
  { pool }: Queries,
  organizationId: number,
  id: bigint,
): Promise<bigint | undefined> => (await pool.query<{ loanId: bigint }>(loanOf({ organizationId, id }))).rows[0]?.loanId

const isOfficer = statement<{ organizationId: number; accountId: number }>(
  'is-officer',
  (p) =>
    `SELECT id FROM account WHERE organization_id = ${p('organizationId')} AND id = ${p('accountId')} AND disabled_at IS NULL`,
)

const insert = insertionInto(TRACED)
const end = changeIn(TRACED, ['ended_at'])

/**
 * Assigns a loan to an officer, or to nobody; its customer is locked meanwhile. The same officer again changes nothing.
 * @param accountId null: nobody
 * @returns the assignment, null for nobody; `no loan`, or `no account` where the organization has no such account that is enabled
 */
export const assign = (
  db: Db,
  author: Author,
  ref: LoanRef,
  { accountId, now }: { readonly accountId: number | null; readonly now: Instant },
): Promise<{ readonly loanId: bigint; readonly assignment: Assignment | null } | 'no loan' | 'no account'> =>
  inTransaction(db, async (transaction) => {
    const { organizationId } = author
    const loan = await lockSecuredLoan(transaction, organizationId, ref)
    if (!loan) return 'no loan' as const
    if (accountId !== null) {
      const found = await transaction.query(isOfficer({ organizationId, accountId }))
      if (found.rowCount === 0) return 'no account' as const
    }
    const loanId = loan.id
    const known = (await readAssignments({ pool: transaction }, { organizationId, loanIds: [loanId] }))[0]
    if ((known?.accountId ?? null) === accountId) return { loanId, assignment: known ?? null }
    const at = moment(now)
    if (known) {
      const told = { loanId: String(loanId), accountId: known.accountId }
      const trace = { action: 'end', before: { ...told, endedAt: null }, after: { ...told, endedAt: at } }
      // The Idempotency-Key goes with the row that is made; where none is, with this one.
      const { claim: _, ...again } = author
      const by = accountId === null ? author : again
      await end(transaction, { author: by, now, id: known.id, values: { ended_at: at }, trace })
    }
    if (accountId === null) return { loanId, assignment: null }
    const id = await nextId(transaction, TRACED)
    await insert(transaction, {
      author,
      now,
      id,
      values: { loan_id: loanId, account_id: accountId, assigned_at: at },
      trace: { action: 'create', before: null, after: { loanId: String(loanId), accountId, assignedAt: at } },
    })
    return { loanId, assignment: { id, loanId, accountId, assignedAt: now } }
  })
