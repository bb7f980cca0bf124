import { createGate, type GateBounds, holderOf } from '../../toolbox/gate.ts'
import type { Caller } from '../access/caller.ts'

/** The most that wait in a process, and the part of all its requests that may. */
const MOST_OF_ALL = 200
const SHARE = 4

const REFUSALS = {
  member: 'too many requests of this account wait for an event: one can wait for all',
  group: 'too many requests of this organization wait for an event; try again',
  all: 'too many requests wait for an event; try again',
} as const

/** Returns the places of requests that wait for an event, in a process that serves so many requests at once. */
export const longPollPlaces = ({ maxInFlight }: { readonly maxInFlight: number }): GateBounds => ({
  atOnce: Math.min(MOST_OF_ALL, Math.max(1, Math.floor(maxInFlight / SHARE))),
  ofGroup: 50,
  ofMember: 20,
  refusal: (full) => REFUSALS[full],
  againSeconds: 1,
})

/** The places of the requests that wait for an event. */
export interface LongPolls {
  /**
   * Runs a request that may wait, in a place of its own.
   * @throws LendingError `resource_exhausted` where too many wait
   */
  run<T>(caller: Caller, wait: () => Promise<T>): Promise<T>
}

/** Creates the places; none is taken. */
export function createLongPolls(settings: { readonly maxInFlight: number }): LongPolls {
  const places = createGate(longPollPlaces(settings))
  return { run: (caller, wait) => places.run(holderOf(caller), wait) }
}
