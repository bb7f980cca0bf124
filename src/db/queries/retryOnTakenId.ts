/** A client would have to take this many of the service's ids in a row before an insert fails. */
const MOST_DRAWS = 1_000

/**
 * Runs an insert for which the service draws an id. Its ids come from a band of their own, but a record system may have
 * taken one of them: then the next is drawn.
 * @param insert answers undefined where the id that it drew is taken
 */
export async function retryOnTakenId<T>(insert: () => Promise<T | undefined>): Promise<T> {
  for (let draw = 1; draw <= MOST_DRAWS; draw++) {
    const result = await insert()
    if (result !== undefined) return result
  }
  throw new Error(`each of ${MOST_DRAWS} ids in a row was taken by a client`)
}
