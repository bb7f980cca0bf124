import type { LoanRef } from '../../../db/loans/loans.ts'
import type { StoredLoan } from '../../../db/loans/storedLoan.ts'
import type { Instant } from '../../../domain/dates.ts'
import { type Decision, stateOf } from '../../../domain/loan/loan.ts'
import type { LoanState } from '../../../domain/loan/replay.ts'
import { type Caller, requireAdmin } from '../../access/caller.ts'
import { getLoan, type ReadDeps } from '../loans.ts'
import { withWaiver } from './settleEarly.ts'

/** A loan as it is, and as a change would leave it. */
export interface Preview {
  readonly loan: StoredLoan
  readonly before: LoanState
  readonly after: LoanState
  readonly decision: Decision
}

/** The id of an entry in a preview, which is never saved. */
const NO_ID = 0n

/**
 * Decides on a loan as a change would, and saves nothing: with the waiver that follows where the change settles the loan
 * early.
 * @throws LendingError `permission_denied`, `not_found`, and the refusals of `decide`
 */
export async function previewChange(
  deps: ReadDeps,
  caller: Caller,
  ref: LoanRef,
  decide: (loan: StoredLoan, now: Instant) => Decision,
): Promise<Preview> {
  requireAdmin(caller)
  const { loan, state: before, at } = await getLoan(deps, caller, ref)
  const decision = decide(loan, at)
  const posted = decision.posted && { ...decision.posted, id: NO_ID }
  const { after, decision: saved } = withWaiver(loan, { author: caller, decision, posted, at }, () => NO_ID)
  return { loan, before, after: stateOf(after, at), decision: saved }
}
