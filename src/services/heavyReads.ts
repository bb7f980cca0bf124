import { LRUCache } from 'lru-cache'
import { LendingError } from '../domain/errors.ts'

/** Instalments and entries from which a read is heavy: it takes some 20 ms of the process. */
export const HEAVY = 5_000

/** Heavy reads at once, of all organizations and of one; those that may wait; and for how long. */
const MOST = { running: 2, runningOfOne: 1, waiting: 16, waitingOfOne: 4 } as const
const WAIT_MS = 5_000
const AGAIN_SECONDS = 2
const MOST_KNOWN = 10_000

/** Holds reads of much, such as a page of loans of 2,000 instalments each, to a few at a time. */
export interface HeavyReads {
  /**
   * Runs a read: at once where it is not heavy, in its turn where it is.
   * @param weight instalments and entries that it reads
   * @throws LendingError `resource_exhausted` when too many wait, or it has waited too long
   */
  run<T>(organizationId: number, weight: number, read: () => Promise<T>): Promise<T>
  /** How much a thing had when it was last read; 0 where it was not heavy. */
  weightOf(name: string): number
  /** Keeps how much a thing has, for the next who reads it. */
  remember(name: string, weight: number): void
}

/** A read that waits for its turn. */
interface Waiting {
  readonly organizationId: number
  readonly start: () => void
}

export function createHeavyReads(waitMs = WAIT_MS): HeavyReads {
  const running = new Set<number>()
  const waiting: Waiting[] = []
  const known = new LRUCache<string, number>({ max: MOST_KNOWN })

  const hasRoom = (organizationId: number) => running.size < MOST.running && !running.has(organizationId)

  function leave(organizationId: number): void {
    running.delete(organizationId)
    const next = waiting.findIndex((one) => hasRoom(one.organizationId))
    if (next === -1) return
    const [one] = waiting.splice(next, 1)
    running.add(one!.organizationId)
    one!.start()
  }

  function enter(organizationId: number): Promise<void> {
    if (hasRoom(organizationId)) {
      running.add(organizationId)
      return Promise.resolve()
    }
    const ofOne = waiting.filter((one) => one.organizationId === organizationId).length
    if (waiting.length >= MOST.waiting || ofOne >= MOST.waitingOfOne) throw tooMany()
    return new Promise((resolve, reject) => {
      const one = { organizationId, start: () => [clearTimeout(timer), resolve()] }
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(one), 1)
        reject(tooMany())
      }, waitMs)
      waiting.push(one)
    })
  }

  return {
    async run(organizationId, weight, read) {
      if (weight < HEAVY) return read()
      await enter(organizationId)
      try {
        return await read()
      } finally {
        leave(organizationId)
      }
    },
    weightOf: (name) => known.get(name) ?? 0,
    remember(name, weight) {
      if (weight >= HEAVY) known.set(name, weight)
    },
  }
}

const tooMany = () =>
  new LendingError(
    'resource_exhausted',
    'too many answers of this size are being made; ask for fewer rows, or try again',
    [],
    AGAIN_SECONDS,
  )
