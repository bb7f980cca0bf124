import { type Assignment, assign, findAssignedLoan, readAssignments } from '../../db/collections/assignments.ts'
import type { LoanRef } from '../../db/loans/loans.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import type { Instant } from '../../domain/dates.ts'
import { invalidArgument } from '../../domain/errors.ts'
import type { Caller } from '../access/caller.ts'
import { abortedWhereKeyTaken } from '../access/idempotency.ts'
import type { Core } from '../deps.ts'
import { noSuchLoan } from '../loans/loans.ts'
import { requireSecuredLoan } from '../loans/security/secured.ts'

/** The officer of a loan. */
export interface LoanOfficer {
  readonly loanId: bigint
  /** The account of the officer; null: nobody has the loan. */
  readonly accountId: number | null
  /** Null: nobody has the loan. */
  readonly assignedAt: Instant | null
}

const officerOf = (loanId: bigint, assignment: Assignment | null): LoanOfficer => ({
  loanId,
  accountId: assignment?.accountId ?? null,
  assignedAt: assignment?.assignedAt ?? null,
})

/**
 * Gives a loan to an officer, or takes it from the one who has it. The same officer again changes nothing.
 * @param accountId null: nobody
 * @throws LendingError `permission_denied`, `not_found`, `invalid_argument` for an account that is none, or disabled; `aborted`
 */
export async function assignLoan(
  deps: Core,
  caller: Caller,
  ref: LoanRef,
  accountId: number | null,
): Promise<LoanOfficer> {
  requirePermission(caller, 'collections.work')
  const now = deps.now(caller.organizationId)
  const assigned = await abortedWhereKeyTaken(assign(deps.db, caller, ref, { accountId, now }))
  if (assigned === 'no loan') throw noSuchLoan(ref)
  if (assigned === 'no account')
    throw invalidArgument('assignedTo', 'must be an account of the organization that is enabled')
  return officerOf(assigned.loanId, assigned.assignment)
}

/** Returns the officer of a loan. @throws LendingError `not_found` */
export async function getAssignment(deps: Core, caller: Caller, ref: LoanRef): Promise<LoanOfficer> {
  const { id } = await requireSecuredLoan(deps, caller, ref)
  const [assignment] = await readAssignments(deps.db, { organizationId: caller.organizationId, loanIds: [id] })
  return officerOf(id, assignment ?? null)
}

/** Returns the officer of the loan of an assignment, as it is now. @throws LendingError `not_found` */
export async function getAssignmentOf(deps: Core, caller: Caller, id: bigint): Promise<LoanOfficer> {
  const loanId = await findAssignedLoan(deps.db, caller.organizationId, id)
  return getAssignment(deps, caller, { id: loanId ?? 0n })
}
