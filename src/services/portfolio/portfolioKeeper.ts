import type { Deps } from '../../app/deps.ts'
import { markStaleDays } from '../../db/portfolio/keptDays.ts'
import { findPortfolios } from '../../db/portfolio/toldBuckets.ts'
import { isUnavailable } from '../../db/postgres/errors.ts'
import { type Failed, type Job, type Round, startRounds, type Work } from '../rounds.ts'
import { keepDays } from './keepDays.ts'
import type { WalkDeps } from './positions.ts'
import { tellBuckets } from './tellBuckets.ts'

/** The pause after a round that left nothing. */
const EVERY_MS = 30_000

type KeeperDeps = Pick<Deps, 'db' | 'config' | 'now' | 'listener'> & Pick<WalkDeps, 'stopping'>

/** Keeps the portfolios, round by round. */
export interface PortfolioKeeper {
  /**
   * Marks the kept days that changes made stale. When a day begins, tells of the loans that are in another bucket, and
   * keeps the days before.
   */
  round(): Promise<Round>
}

/** Creates a keeper. Any number of them may work on one book: a portfolio is claimed by its row. */
export function createPortfolioKeeper(deps: KeeperDeps): PortfolioKeeper {
  /** The loans after which telling goes on, by organization. */
  const places = new Map<number, bigint>()

  async function keep(organizationId: number): Promise<boolean> {
    await markStaleDays(deps.db, organizationId, deps.now())
    const next = await tellBuckets(deps, organizationId, places.get(organizationId) ?? 0n)
    if (next !== undefined) {
      places.set(organizationId, next)
      return false
    }
    places.delete(organizationId)
    await keepDays(deps, organizationId)
    return true
  }

  return {
    async round() {
      const failed: Failed[] = []
      let isDone = true
      let count = 0
      for (const organizationId of await findPortfolios({ pool: deps.db.pool })) {
        try {
          if (!(await keep(organizationId))) {
            isDone = false
            count++
          }
        } catch (error) {
          if (deps.stopping?.aborted || isUnavailable(error)) throw error
          failed.push({ organizationId, error })
        }
      }
      return { count, isDone: isDone && failed.length === 0, failed }
    },
  }
}

/** Starts to keep the portfolios, until it is stopped. */
export function startPortfolioKeeper(deps: KeeperDeps, log: { error(context: object, message: string): void }): Job {
  const ending = new AbortController()
  const keeper = createPortfolioKeeper({ ...deps, stopping: ending.signal })
  const work: Work = {
    everyMs: EVERY_MS,
    // A stop ends a walk in the middle: it is made again later.
    round: () =>
      keeper.round().catch((error: unknown) => {
        if (ending.signal.aborted) return { count: 0, isDone: true, failed: [] }
        throw error
      }),
    done: () => deps.listener.portfolioKept(),
    failed: () => deps.listener.portfolioKeepFailed(),
    says: (organizationId) => {
      const whose = organizationId === undefined ? 'portfolios' : `portfolio of organization ${organizationId}`
      return `the ${whose} could not be kept; it will be tried again`
    },
  }
  const job = startRounds(work, log)
  return {
    async stop() {
      ending.abort()
      await job.stop()
    },
  }
}
