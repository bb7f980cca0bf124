import type { Db } from './client.ts'
import { drawingId } from './drawnId.ts'
import { reserveIds } from './ids.ts'
import type { Inserted } from './insertedLoans.ts'
import type { NewLoan } from './insertLoans.ts'
import { trafficOf } from './traffic.ts'
import { rethrowTakenKey } from './trail.ts'

/** What came of a loan under a number of the service's own. */
export type MadeLoan = { readonly id: bigint } | { readonly refused: Exclude<Inserted, 'made' | 'idTaken'> }

/**
 * Makes a loan with its schedule, under a number of the service's own: where a client has taken that, under the next.
 * @param insert how it is inserted: together with others unless told
 * @returns its number; or `leftOut` when the customer is no longer Active, `externalIdTaken` when another loan has it
 * @throws LendingError `aborted` when its Idempotency-Key was taken meanwhile
 */
export async function makeLoan(
  db: Db,
  loan: Omit<NewLoan, 'id'>,
  insert: (loan: NewLoan) => Promise<Inserted> = trafficOf(db).insertLoan,
): Promise<MadeLoan> {
  try {
    return await drawingId(async () => {
      const id = (await reserveIds(db, 'loan', 1))()
      const inserted = await insert({ ...loan, id })
      if (inserted === 'idTaken') return undefined
      return inserted === 'made' ? { id } : { refused: inserted }
    })
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
export async function makeLoanAs(db: Db, loan: NewLoan): Promise<Inserted> {
  try {
    return await trafficOf(db).insertLoan(loan)
  } catch (error) {
    rethrowTakenKey(error)
    throw error
  }
}
