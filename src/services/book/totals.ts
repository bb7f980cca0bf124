import type { Deps } from '../../app/deps.ts'
import { type BookTotals, computeBookTotals, readBookTotals } from '../../db/book/totals.ts'
import { type Head, readHeads } from '../events/chainHeads.ts'

export type { BucketTotals } from '../../db/book/bucketTotals.ts'
export {
  type BookTotals,
  DAYS_SHOWN,
  type DayTotals,
  type ProductTotals,
} from '../../db/book/totals.ts'

/** The pause between two looks of an instance for newer totals, or for a computation that is due. */
const LOOK_EVERY_MS = 5_000
/** One part in so many of the time may go into computing: a book that is slow to sum up is summed up more rarely. */
const SHARE = 50

/** The totals of every organization's book, as of the last computation of any instance. */
export interface Totals {
  /** Returns the totals that were read last, without a round trip. */
  latest(): readonly BookTotals[]
  /** Returns the heads of the chains that were read last, without a round trip. */
  heads(): readonly Head[]
  /** Reads the totals now, and computes them before where that is due. */
  look(): Promise<void>
  stop(): Promise<void>
}

/**
 * Keeps the totals of the book in memory. At most once every `FIGURES_EVERY_S` one instance computes them for all and
 * stores them in the database; the other instances read the rows.
 */
export function keepTotals(deps: Deps, log: { warn(context: object, message: string): void }): Totals {
  const every = deps.config.figuresEverySeconds * 1000
  let latest: readonly BookTotals[] = []
  let heads: readonly Head[] = []
  let looking: Promise<void> | undefined

  async function lookNow(): Promise<void> {
    try {
      await computeBookTotals(deps.db, deps.config.zone, deps.machineNow, (last) => {
        const wait = Math.max(every, (last?.tookMs ?? 0) * SHARE)
        // Computed in the future: a clock that was set back must not stop the computation.
        return last === undefined || deps.machineNow() - last.computedAt >= wait || deps.machineNow() < last.computedAt
      })
      latest = await readBookTotals(deps.db)
      heads = await readHeads(deps)
    } catch (error) {
      log.warn({ err: error }, 'the totals of the book could not be computed; it will be tried again')
    }
  }

  const look = () => {
    looking ??= lookNow().finally(() => {
      looking = undefined
    })
    return looking
  }

  const timer = setInterval(look, Math.min(LOOK_EVERY_MS, every)).unref()
  void look()
  return {
    latest: () => latest,
    heads: () => heads,
    look,
    async stop() {
      clearInterval(timer)
      await looking
    },
  }
}
