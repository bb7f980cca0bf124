import { LendingError } from '../../domain/errors.ts'
import type { Caller } from '../access/caller.ts'

/** The most requests that wait for an event at once: of an account, and in the process. */
const MOST_OF_ACCOUNT = 20
const MOST_OF_ALL = 200

/** The places of the requests that wait for an event. */
export interface LongPolls {
  /**
   * Runs a request that may wait, in a place of its own.
   * @throws LendingError `resource_exhausted` where too many wait
   */
  run<T>(caller: Caller, wait: () => Promise<T>): Promise<T>
}

/** Creates the places; none is taken. */
export function createLongPolls(): LongPolls {
  const taken = new Map<string, number>()
  let all = 0
  return {
    async run({ organizationId, accountId }, wait) {
      const account = `${organizationId} ${accountId}`
      const own = taken.get(account) ?? 0
      if (own >= MOST_OF_ACCOUNT || all >= MOST_OF_ALL)
        throw new LendingError('resource_exhausted', 'too many requests wait for an event; use one for all', [], 1)
      taken.set(account, own + 1)
      all++
      try {
        return await wait()
      } finally {
        all--
        const left = (taken.get(account) ?? 1) - 1
        if (left > 0) taken.set(account, left)
        else taken.delete(account)
      }
    },
  }
}
