import type { Deps } from '../../../app/deps.ts'
import { type Approval, saveApproved } from '../../../db/approvals/pendingActions.ts'
import { isKeyTaken } from '../../../db/audit/trail.ts'
import { modifyStoredTerms } from '../../../db/loans/modifyTerms.ts'
import type { ChangeBatch, LoanChange } from '../../../db/loans/saveLoans.ts'
import { isUniqueViolation } from '../../../db/postgres/errors.ts'
import { alreadyExists, failedPrecondition, invariant } from '../../../domain/errors.ts'
import { isHead } from '../../../domain/loan/carriedForward/loanHead.ts'
import { lentNoMore } from '../../../domain/recordStyle/modifyTerms.ts'
import { keyTaken } from '../../access/idempotency.ts'
import { balancesAsStored } from './timePassed.ts'

/** The refusal for an entry whose id, chosen by a client, another entry has. */
export const entryIdTaken = () =>
  alreadyExists('entryId', 'a repayment with that id exists already, with other content')

/**
 * Saves the changes of a loan that were decided together.
 * @param jobs the changes that were asked for: of a single one the service knows whose key is taken, and whether it is approved
 * @returns `stale` where another change was saved first or the test clock was moved, `taken` where a token, an id or a key of one of them is taken
 * @throws LendingError `already_exists` or `aborted` for a single change whose id or key is taken; `failed_precondition` for one
 *   whose pending action is decided already
 */
export async function saveChanges(
  { db, loanBatches }: Pick<Deps, 'db' | 'loanBatches'>,
  { loan, changes, testClock }: ChangeBatch,
  jobs: readonly { readonly approval?: Approval }[],
): Promise<'saved' | 'stale' | 'taken'> {
  // What time has changed comes first, and a settlement waiver last: a change that modifies terms has neither.
  const last = changes.at(-1)
  const isSingle = jobs.length === 1
  const approval = jobs[0]?.approval
  try {
    if (approval) return requireUndecided(await saveApproved(db, { loan, changes, testClock }, approval))
    if (last?.decision.modifiedTerms) return await saveTerms(db, { loan, testClock }, last)
    return (await loanBatches.saveLoan({ loan, changes, testClock })) ? 'saved' : 'stale'
  } catch (error) {
    // Of several changes, each is tried again alone.
    if (isSingle) {
      if (isKeyTaken(error)) throw keyTaken()
      // An entry of this loan with the id would have been found: the entry is on another loan.
      const isChosen = changes.some(({ decision }) => decision.posted?.id !== undefined)
      if (isChosen && isUniqueViolation(error, 'loan_entry_pkey')) throw entryIdTaken()
    }
    if (isUniqueViolation(error)) return 'taken'
    throw error
  }
}

function requireUndecided<T>(saved: T | 'decided'): T {
  if (saved === 'decided') throw failedPrecondition('the action is decided already')
  return saved as T
}

async function saveTerms(
  db: Deps['db'],
  { loan, testClock }: Omit<ChangeBatch, 'changes'>,
  change: LoanChange,
): Promise<'saved' | 'stale'> {
  invariant(!isHead(loan), 'terms are modified on the whole loan')
  const stored = balancesAsStored(loan, change.at) ?? change.decision.before
  const saved = await modifyStoredTerms(db, { loan, testClock }, change, stored)
  if (typeof saved === 'object') throw lentNoMore(saved.borrowerIs)
  return saved
}
