import { isKeyTaken } from '../../../db/audit/trail.ts'
import { type ChangeBatch, saveLoans } from '../../../db/loans/saveLoans.ts'
import { isUniqueViolation } from '../../../db/postgres/errors.ts'
import { inTransaction, type Transaction } from '../../../db/postgres/transaction.ts'
import { alreadyExists, LendingError } from '../../../domain/errors.ts'
import { keyTaken } from '../../access/idempotency.ts'
import type { Core, Writing } from '../../deps.ts'

/**
 * Saves something together with a change of a loan, in one transaction: both are saved, or none.
 * @returns `done`; `stale` where the loan is not as it was read; or the refusal of the change
 */
export type Alongside = (transaction: Transaction, batch: ChangeBatch) => Promise<'done' | 'stale' | LendingError>

/** The refusal for an entry whose id, chosen by a client, another entry has. */
export const entryIdTaken = () =>
  alreadyExists('entryId', 'a repayment with that id exists already, with other content')

/** How changes that were decided together are saved. */
export interface Saving {
  /** Whether the changes follow from one request: then the service knows whose token, id or key is taken. */
  readonly isSingle: boolean
  /** Saved together with the changes; empty: the changes share a statement with those of other loans. */
  readonly alongside: readonly Alongside[]
}

/**
 * Saves the changes of a loan that were decided together.
 * @returns `stale` where another change was saved first or the test clock was moved, `taken` where a token, an id or a key of one of them is taken
 * @throws LendingError `already_exists` or `aborted` for a single change whose id or key is taken, and the refusal of what is
 *   saved alongside
 */
export async function saveChanges(
  { db, loanBatches }: Pick<Core & Writing, 'db' | 'loanBatches'>,
  batch: ChangeBatch,
  { isSingle, alongside }: Saving,
): Promise<'saved' | 'stale' | 'taken'> {
  try {
    const isSaved = alongside.length > 0 ? await saveTogether(db, batch, alongside) : await loanBatches.saveLoan(batch)
    return isSaved ? 'saved' : 'stale'
  } catch (error) {
    // Of several changes, each is tried again alone.
    if (isSingle) {
      if (isKeyTaken(error)) throw keyTaken()
      // An entry of this loan with the id would have been found: the entry is on another loan.
      const isChosen = batch.changes.some(({ decision }) => decision.posted?.id !== undefined)
      if (isChosen && isUniqueViolation(error, 'loan_entry_pkey')) throw entryIdTaken()
    }
    if (isUniqueViolation(error)) return 'taken'
    throw error
  }
}

/** Saves a batch together with what is alongside it. @returns false where the batch is stale. @throws the refusal of what is alongside */
async function saveTogether(db: Core['db'], batch: ChangeBatch, alongside: readonly Alongside[]): Promise<boolean> {
  const saved = await inTransaction(db, async (transaction) => {
    for (const save of alongside) {
      const result = await save(transaction, batch)
      if (result instanceof LendingError) throw result
      if (result === 'stale') return undefined
    }
    const [isSaved] = await saveLoans({ pool: transaction }, [batch])
    return isSaved ? true : undefined
  })
  return saved === true
}
