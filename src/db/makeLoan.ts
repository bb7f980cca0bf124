import type { Db } from './client.ts'
import { drawingId } from './drawnId.ts'
import { reserveIds } from './ids.ts'
import type { NewLoan } from './insertLoans.ts'
import { trafficOf } from './traffic.ts'
import { rethrowTakenKey } from './trail.ts'

/**
 * Makes a loan with its schedule, under a number of the service's own.
 * @param insert how it is inserted: together with others unless told
 * @returns its number; undefined when the customer is no longer Active
 * @throws a unique violation (`loan_external_id`) when the external id is taken
 */
export async function makeLoan(
  db: Db,
  loan: Omit<NewLoan, 'id'>,
  insert: (loan: NewLoan) => Promise<boolean> = trafficOf(db).insertLoan,
): Promise<bigint | undefined> {
  try {
    return await drawingId('loan_pkey', async () => {
      const id = (await reserveIds(db, 'loan', 1))()
      return (await insert({ ...loan, id })) ? id : undefined
    })
  } catch (error) {
    rethrowTakenKey(error)
    throw error
  }
}

/**
 * Makes a loan with its schedule, under a number of a client's own.
 * @returns false when the customer is no longer Active
 * @throws a unique violation (`loan_pkey`) when the number is taken
 */
export async function makeLoanAs(db: Db, loan: NewLoan): Promise<boolean> {
  try {
    return await trafficOf(db).insertLoan(loan)
  } catch (error) {
    rethrowTakenKey(error)
    throw error
  }
}
