import { rethrowTakenKey } from '../audit/trail.ts'
import { reserveAccountNumbers, returnAccountNumber } from '../lenders/accountNumbers.ts'
import type { Db } from '../postgres/client.ts'
import { reserveIds } from '../queries/idBlocks.ts'
import { drawingId } from '../queries/retryOnTakenId.ts'
import type { Inserted } from './insertedLoans.ts'
import type { NewLoan } from './insertLoans.ts'
import { trafficOf } from './loanBatches.ts'

/** What came of a loan under a number of the service's own. */
export type MadeLoan =
  | { readonly id: bigint; readonly accountNo: bigint }
  | { readonly refused: Exclude<Inserted, 'made' | 'idTaken'> }

/**
 * Makes a loan with its schedule, under a number of the service's own: where a client has taken that, under the next.
 * @param insert how it is inserted: together with others unless told
 * @returns its number; or `leftOut` when the customer is no longer Active, `externalIdTaken` when another loan has it
 * @throws LendingError `aborted` when its Idempotency-Key was taken meanwhile
 */
export async function makeLoan(
  db: Db,
  loan: Omit<NewLoan, 'id' | 'accountNo'>,
  insert: (loan: NewLoan) => Promise<Inserted> = trafficOf(db).insertLoan,
): Promise<MadeLoan> {
  try {
    const make = (accountNo: bigint) =>
      drawingId<MadeLoan>(async () => {
        const id = (await reserveIds(db, 'loan', 1))()
        const inserted = await insert({ ...loan, id, accountNo })
        if (inserted === 'idTaken') return undefined
        return inserted === 'made' ? { id, accountNo } : { refused: inserted }
      })
    return await withAccountNumber(db, loan, make, (made) => 'refused' in made)
  } catch (error) {
    rethrowTakenKey(error)
    throw error
  }
}

/**
 * Makes a loan with its schedule, under a number of a client's own.
 * @returns the outcome; `leftOut` when the customer is no longer Active
 * @throws LendingError `aborted` when its Idempotency-Key was taken meanwhile
 */
export async function makeLoanAs(db: Db, loan: Omit<NewLoan, 'accountNo'>): Promise<Inserted> {
  try {
    const make = (accountNo: bigint) => trafficOf(db).insertLoan({ ...loan, accountNo })
    return await withAccountNumber(db, loan, make, (inserted) => inserted !== 'made')
  } catch (error) {
    rethrowTakenKey(error)
    throw error
  }
}

/**
 * Makes a loan under the next account number of its organization.
 * @param isRefused whether what came of it is no loan, so that its number is left to the next
 */
async function withAccountNumber<Made>(
  db: Db,
  { author: { organizationId } }: Pick<NewLoan, 'author'>,
  make: (accountNo: bigint) => Promise<Made>,
  isRefused: (made: Made) => boolean,
): Promise<Made> {
  const accountNo = (await reserveAccountNumbers(db, organizationId, 'loan', 1))()
  const made = await make(accountNo)
  if (isRefused(made)) returnAccountNumber(db, organizationId, 'loan', accountNo)
  return made
}
