import { LendingError } from '../../domain/errors.ts'
import type { Caller } from '../access/caller.ts'

/** The most requests of an account, and of an organization, that wait for an event at once in a process. */
const MOST_OF_ACCOUNT = 20
const MOST_OF_ORGANIZATION = 50
/** The most that wait in a process, and the part of all its requests that may. */
const MOST_OF_ALL = 200
const SHARE = 4

/** The places of the requests that wait for an event. */
export interface LongPolls {
  /**
   * Runs a request that may wait, in a place of its own.
   * @throws LendingError `resource_exhausted` where too many wait
   */
  run<T>(caller: Caller, wait: () => Promise<T>): Promise<T>
}

/** Creates the places; none is taken. */
export function createLongPolls({ maxInFlight }: { readonly maxInFlight: number }): LongPolls {
  const mostOfAll = Math.min(MOST_OF_ALL, Math.max(1, Math.floor(maxInFlight / SHARE)))
  const taken = new Map<string, number>()
  const add = (name: string, count: number) => {
    const left = (taken.get(name) ?? 0) + count
    if (left > 0) taken.set(name, left)
    else taken.delete(name)
  }
  return {
    async run({ organizationId, accountId }, wait) {
      const bounds: [name: string, most: number, refusal: string][] = [
        [
          `account ${organizationId} ${accountId}`,
          MOST_OF_ACCOUNT,
          'too many requests of this account wait for an event: one can wait for all',
        ],
        [
          `organization ${organizationId}`,
          MOST_OF_ORGANIZATION,
          'too many requests of this organization wait for an event; try again',
        ],
        ['all', mostOfAll, 'too many requests wait for an event; try again'],
      ]
      const full = bounds.find(([name, most]) => (taken.get(name) ?? 0) >= most)
      if (full) throw new LendingError('resource_exhausted', full[2], [], 1)
      for (const [name] of bounds) add(name, 1)
      try {
        return await wait()
      } finally {
        for (const [name] of bounds) add(name, -1)
      }
    },
  }
}
