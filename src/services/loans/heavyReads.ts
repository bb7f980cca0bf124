import { LRUCache } from 'lru-cache'
import type { StoredLoan } from '../../db/loans/storedLoan.ts'
import { createGate, type GateBounds } from '../../toolbox/gate.ts'
import { createLru } from '../../toolbox/lru.ts'

/** Instalments and entries from which a read is heavy: it takes some 20 ms of the process. */
export const HEAVY = 5_000

/** The places of heavy reads: one at a time, and after each a rest of a multiple of its time. */
export const HEAVY_PLACES = {
  atOnce: 1,
  waiting: { all: 16, ofGroup: 4 },
  waitMs: 5_000,
  restMs: (tookMs: number) => Math.min(1_000, 2 * tookMs),
  refusal: 'too many answers of this size are being made; ask for fewer rows, or try again',
  againSeconds: 2,
} satisfies GateBounds
const MOST_KNOWN = 10_000
/** The weight of the loans that are held together, some 15 MB, and the time for which one is. */
const MOST_HELD = 25_000
const HELD_MS = 60_000

/** A heavy loan as it was read, with the stamp that it had before: while it has that stamp it need not be read again. */
interface Held {
  readonly stamp: string
  readonly loan: StoredLoan
}

/** Runs heavy reads, such as a page of loans of 2,000 instalments each, one at a time, with a rest after each. */
export interface HeavyReads {
  /**
   * Runs a read: at once where it is not heavy, else in its turn.
   * @param weight the number of instalments and entries that it reads
   * @throws LendingError `resource_exhausted` when too many reads wait, or this one has waited too long
   */
  run<T>(organizationId: number, weight: number, read: () => Promise<T>): Promise<T>
  /** Returns the weight of a resource when it was last read; 0 where it was not heavy. */
  weightOf(name: string): number
  /** Records the weight of a resource, for its next read. */
  setWeight(name: string, weight: number): void
  /** Returns the loan that is held under a name, where it was read with that stamp; undefined for any other. */
  heldLoan(name: string, stamp: string): StoredLoan | undefined
  /** Holds a loan for its next read, unless it is larger than all that is held. */
  hold(name: string, held: Held): void
}

/** Returns the weight of a loan: its instalments and entries. */
export const weightOf = ({ terms, entries }: StoredLoan): number => terms.schedule.length + entries.length

/** Creates the turns of heavy reads; a process has one set. @param options.waitMs the longest wait; `heavy`: the least heavy weight */
export function createHeavyReads({
  waitMs = HEAVY_PLACES.waitMs,
  heavy = HEAVY,
}: {
  readonly waitMs?: number
  readonly heavy?: number
} = {}): HeavyReads {
  const places = createGate({ ...HEAVY_PLACES, waitMs })
  const known = createLru<string, number>(MOST_KNOWN)
  const loans = new LRUCache<string, Held>({
    maxSize: MOST_HELD,
    sizeCalculation: ({ loan }) => weightOf(loan),
    ttl: HELD_MS,
    ttlAutopurge: true,
  })
  return {
    run: (organizationId, weight, read) => (weight < heavy ? read() : places.run({ group: organizationId }, read)),
    weightOf: (name) => known.get(name) ?? 0,
    setWeight(name, weight) {
      if (weight >= heavy) known.set(name, weight)
    },
    heldLoan(name, stamp) {
      const held = loans.get(name)
      return held?.stamp === stamp ? held.loan : undefined
    },
    hold: (name, held) => void loans.set(name, held),
  }
}
