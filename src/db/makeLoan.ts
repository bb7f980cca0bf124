import { type Db, isUniqueViolation } from './client.ts'
import { reserveIds } from './ids.ts'
import type { NewLoan } from './insertLoans.ts'
import { trafficOf } from './traffic.ts'
import { rethrowTakenKey } from './trail.ts'

/** A client would have to take this many of the service's numbers in a row before a loan is refused one. */
const MOST_TRIES = 1_000

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
      // A record system may have taken the number: then the next one is drawn.
      if (!isUniqueViolation(error, 'loan_pkey') || attempt === MOST_TRIES) throw error
    }
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
