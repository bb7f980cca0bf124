import type { LoanRef } from '../../../db/loans/loans.ts'
import type { StoredLoan } from '../../../db/loans/storedLoan.ts'
import type { Instant } from '../../../domain/dates.ts'
import { type Decision, type Saving, stateOf } from '../../../domain/loan/loan.ts'
import type { LoanState } from '../../../domain/loan/replay.ts'
import type { Caller } from '../../access/caller.ts'
import { getLoan, type ReadDeps } from '../loans.ts'
import { savedFirst, withWaiver } from './settleEarly.ts'

/** A loan as it is, and as a change would leave it. */
export interface Preview {
  readonly loan: StoredLoan
  /** The loan with what would be posted and reversed. */
  readonly changed: StoredLoan
  readonly at: Instant
  readonly before: LoanState
  readonly after: LoanState
  readonly decision: Decision
}

/** The id of an entry in a preview, which is never saved. */
const NO_ID = 0n

/**
 * Decides on a loan as a change would, and saves nothing: with the waiver that follows where the change settles the loan
 * early. The operation or the page that shows the preview has asked for the permission of the change.
 * @throws LendingError `not_found`, and the refusals of `decide`
 */
export async function previewDecision(
  deps: ReadDeps,
  caller: Caller,
  ref: LoanRef,
  decide: (loan: StoredLoan, now: Instant) => Saving,
): Promise<Preview> {
  const { loan, state: before, at } = await getLoan(deps, caller, ref)
  const { save: decision, first = [] } = decide(loan, at)
  const earlier = savedFirst(loan, { author: caller, first, at }, () => NO_ID)
  const posted = decision.posted && { ...decision.posted, id: NO_ID }
  const { after, decision: saved } = withWaiver(earlier.after, { author: caller, decision, posted, at }, () => NO_ID)
  return { loan, changed: after, at, before, after: stateOf(after, at), decision: saved }
}
