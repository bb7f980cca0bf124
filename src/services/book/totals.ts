import { type BookTotals, computeBookTotals, readBookTotals } from '../../db/book/totals.ts'
import type { Core } from '../deps.ts'
import { type Head, readHeads } from '../events/chainHeads.ts'
import { type Job, SERVICE } from '../jobs/job.ts'

export type { BucketTotals } from '../../db/book/totals.ts'
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
  /** Reads the totals, and computes them before where that is due. */
  readonly job: Job
}

/**
 * Creates the totals of the book, which are in memory. At most once every `FIGURES_EVERY_S` one instance computes them for
 * all and stores them in the database; the other instances read the rows.
 */
export function createTotals(deps: Core): Totals {
  const every = deps.config.figuresEverySeconds * 1000
  let latest: readonly BookTotals[] = []
  let heads: readonly Head[] = []
  return {
    latest: () => latest,
    heads: () => heads,
    job: {
      name: 'totals',
      failure: 'the totals of the book could not be computed',
      everyMs: Math.min(LOOK_EVERY_MS, every),
      organizations: async () => [SERVICE],
      async work() {
        await computeBookTotals(deps.db, deps.config.zone, deps.machineNow, (last) => {
          const wait = Math.max(every, (last?.tookMs ?? 0) * SHARE)
          // Computed in the future: a clock that was set back must not stop the computation.
          return (
            last === undefined || deps.machineNow() - last.computedAt >= wait || deps.machineNow() < last.computedAt
          )
        })
        latest = await readBookTotals(deps.db)
        heads = await readHeads(deps)
        return 'done'
      },
    },
  }
}
