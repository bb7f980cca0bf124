import { isUnavailable } from '../../db/postgres/errors.ts'
import type { Snapshot } from '../../db/postgres/transaction.ts'

/** A difference between what is stored and what must be. */
export interface Difference {
  readonly organizationId: number
  /** `loan 4000000000000001`, `customer …` or `totals TZS`. */
  readonly of: string
  readonly message: string
}

/** Takes in a difference. */
export type Add = (difference: Difference) => void

/** Runs the parts of a check: what cannot be read is named as a difference, and the other parts are run all the same. */
export interface CheckParts {
  /**
   * Runs a part about one organization.
   * @returns undefined where it failed
   * @throws the error of a database that is not there
   */
  run<T>(
    part: { readonly organizationId: number; readonly of: string },
    work: (add: Add) => Promise<T>,
  ): Promise<T | undefined>
  /** Runs a part of which nothing is said where it fails; undefined is returned then. Settings that it makes are kept where a later part fails. */
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>
  /**
   * Runs a part about all organizations that are checked, by one statement. Where it fails, it is run for each of them, so that
   * the rows of one keep none of the others from being checked.
   * @param work takes an organization; undefined: all
   */
  runForAll(of: string, work: (organizationId: number | undefined, add: Add) => Promise<void>): Promise<void>
}

/**
 * Creates the parts of a check. A statement that fails must not end the snapshot: it goes back to a savepoint before all parts. They
 * only read, so nothing is lost by that but settings, which `attempt` keeps by a savepoint of its own.
 */
export function createCheckParts(
  snapshot: Snapshot,
  {
    organizationIds,
    organizationId,
    add,
  }: { organizationIds: readonly number[]; organizationId: number | undefined; add: Add },
): CheckParts {
  let isSaved = false
  async function outcomeOf<T>(work: () => Promise<T>): Promise<{ readonly made: T } | { readonly message: string }> {
    if (!isSaved) await snapshot.query('SAVEPOINT parts')
    isSaved = true
    try {
      return { made: await work() }
    } catch (error) {
      if (isUnavailable(error)) throw error
      await snapshot.query('ROLLBACK TO SAVEPOINT parts')
      return { message: error instanceof Error ? error.message : String(error) }
    }
  }

  const run: CheckParts['run'] = async (part, work) => {
    const result = await outcomeOf(() => work(add))
    if ('made' in result) return result.made
    add({ ...part, message: `cannot be checked: ${result.message}` })
    return undefined
  }

  return {
    run,
    async attempt(work) {
      const result = await outcomeOf(work)
      if (!('made' in result)) return undefined
      await snapshot.query('RELEASE SAVEPOINT parts; SAVEPOINT parts')
      return result.made
    },
    async runForAll(of, work) {
      // Kept back, because the differences are found again where it fails.
      const found: Difference[] = []
      const ofAll = await outcomeOf(() => work(organizationId, (difference) => found.push(difference)))
      if ('made' in ofAll) found.forEach(add)
      else for (const one of organizationIds) await run({ organizationId: one, of }, (more) => work(one, more))
    },
  }
}
