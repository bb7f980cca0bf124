import type { Moment } from './cursor.ts'

/**
 * The places of lists up to which every row is settled: committed, or never to come. A place is drawn when a row is
 * inserted and seen when it is committed, so a lower one may appear after a higher one; up to a settled place, none does.
 */
export interface SettledPlaces {
  /**
   * Takes note of the moment of a statement, and returns the place up to which a list is settled in that moment.
   * @param list the numbers that its places are drawn from
   * @param highest a place that is seen in the moment
   */
  note(list: string, moment: Moment, highest: bigint): bigint
}

/** A place that is settled in every moment in which all transactions below `before` have ended. */
interface Settling {
  readonly place: bigint
  readonly before: bigint
}

const NONE: Settling = { place: 0n, before: 0n }

/** Creates the settled places of a process; at its start none is known. */
export function createSettledPlaces(): SettledPlaces {
  const lists = new Map<string, { settled: Settling; next: Settling | undefined }>()
  return {
    note(list, moment, highest) {
      const known = lists.get(list) ?? { settled: NONE, next: undefined }
      lists.set(list, known)
      // A place up to the highest that is seen was drawn before the moment, by a transaction that had begun by then.
      const fresh = { place: highest, before: moment.nextId }
      known.next ??= fresh
      for (const one of [known.next, fresh])
        if (one.before <= moment.endedBelow && one.place > known.settled.place) known.settled = one
      if (known.next.before <= moment.endedBelow) known.next = undefined
      // A statement that began earlier and answered later does not see all that a later one has settled.
      return known.settled.before <= moment.endedBelow ? known.settled.place : 0n
    },
  }
}
