import { type Db, isUniqueViolation } from './client.ts'
import { reserveIds } from './ids.ts'
import type { NewLoan } from './insertLoans.ts'
import { trafficOf } from './traffic.ts'
import { rethrowTakenKey } from './trail.ts'

/** A record system may have taken a number that the service was about to give; the next one is free. */
const MOST_TRIES = 5

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
  for (let attempt = 1; ; attempt++) {
    const id = (await reserveIds(db, 'loan', 1))()
    try {
      return (await insert({ ...loan, id })) ? id : undefined
    } catch (error) {
      rethrowTakenKey(error)
      if (!isUniqueViolation(error, 'loan_pkey') || attempt === MOST_TRIES) throw error
    }
  }
}
