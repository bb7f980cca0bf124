import { LRUCache } from 'lru-cache'
import { createGate } from '../../toolbox/gate.ts'

/** Instalments and entries from which a read is heavy: it takes some 20 ms of the process. */
export const HEAVY = 5_000

/** The most heavy reads that may wait, of all organizations and of one, and the longest wait. */
const MOST_WAITING = { all: 16, ofGroup: 4 } as const
const WAIT_MS = 5_000
/** The rest after a heavy read: a multiple of its time, up to a maximum. */
const REST = { times: 2, mostMs: 1_000 } as const
const AGAIN_SECONDS = 2
const REFUSAL = 'too many answers of this size are being made; ask for fewer rows, or try again'
const MOST_KNOWN = 10_000

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
}

/** Creates the turns of heavy reads; a process has one set. @param options.waitMs the longest wait */
export function createHeavyReads({ waitMs = WAIT_MS }: { readonly waitMs?: number } = {}): HeavyReads {
  const places = createGate({
    atOnce: 1,
    waiting: MOST_WAITING,
    waitMs,
    restMs: (tookMs) => Math.min(REST.mostMs, tookMs * REST.times),
    refusal: REFUSAL,
    againSeconds: AGAIN_SECONDS,
  })
  const known = new LRUCache<string, number>({ max: MOST_KNOWN })
  return {
    run: (organizationId, weight, read) => (weight < HEAVY ? read() : places.run({ group: organizationId }, read)),
    weightOf: (name) => known.get(name) ?? 0,
    setWeight(name, weight) {
      if (weight >= HEAVY) known.set(name, weight)
    },
  }
}
