import { isUniqueViolation } from './faults.ts'

/** A client would have to take this many of the service's ids in a row before an insert fails. */
const MOST_DRAWS = 1_000

/**
 * Runs an insert for which the service draws an id. Its ids come from a band of their own, but a record system may have
 * taken one of them: then the next is drawn.
 * @param constraint the primary key that such an insert violates
 */
export async function drawingId<T>(constraint: string, insert: () => Promise<T>): Promise<T> {
  for (let draw = 1; ; draw++) {
    try {
      return await insert()
    } catch (error) {
      if (draw === MOST_DRAWS || !isUniqueViolation(error, constraint)) throw error
    }
  }
}
