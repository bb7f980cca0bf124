import type { Deps } from '../../app/deps.ts'
import { markStaleDays } from '../../db/portfolio/keptDays.ts'
import { findPortfolios } from '../../db/portfolio/toldBuckets.ts'
import { isUnavailable } from '../../db/postgres/errors.ts'
import { type Failed, type Job, type Round, startRounds, type Work } from '../rounds.ts'
import { whileItStands } from '../testClock/whileItStands.ts'
import { keepDays } from './keepDays.ts'
import type { WalkDeps } from './positions.ts'
import { type TellingPlace, tellBuckets } from './tellBuckets.ts'

/** The pause after a round that left nothing. */
const EVERY_MS = 30_000
/** The pause after the days of an organization could not be kept. */
const LEFT_ALONE_MS = 600_000

type KeeperDeps = Pick<Deps, 'db' | 'config' | 'now' | 'testClocks' | 'listener'> & Pick<WalkDeps, 'stopping'>

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
  const places = new Map<number, TellingPlace>()
  /** Organizations that failed, and until when they are left alone: to sum up a whole portfolio is not tried at once again. */
  const leftAlone = new Map<number, number>()

  async function keep(organizationId: number, failed: Failed[]): Promise<'more' | 'done' | 'left alone'> {
    await markStaleDays(deps.db, organizationId, deps.now(organizationId))
    const { next, damaged } = await tellBuckets(deps, organizationId, places.get(organizationId))
    if (next) places.set(organizationId, next)
    else places.delete(organizationId)
    // Those that are left out keep no other loan from being told, nor the days from being kept.
    for (const error of damaged) failed.push({ organizationId, error })
    if (next) return 'more'
    if ((leftAlone.get(organizationId) ?? 0) > performance.now()) return 'left alone'
    leftAlone.delete(organizationId)
    try {
      await keepDays(deps, organizationId)
    } catch (error) {
      leftAlone.set(organizationId, performance.now() + LEFT_ALONE_MS)
      throw error
    }
    return 'done'
  }

  return {
    async round() {
      const failed: Failed[] = []
      let isDone = true
      let count = 0
      await deps.testClocks.refreshAll()
      for (const organizationId of await findPortfolios({ pool: deps.db.pool })) {
        try {
          const work = () => keep(organizationId, failed)
          // One whose clock is being moved is kept by the request that moves the clock.
          const isTest = deps.testClocks.find(organizationId) !== undefined
          const kept = isTest ? ((await whileItStands(deps, organizationId, work)) ?? 'left alone') : await work()
          if (kept !== 'done') isDone = false
          if (kept === 'more') count++
        } catch (error) {
          if (deps.stopping?.aborted || isUnavailable(error)) throw error
          isDone = false
          failed.push({ organizationId, error })
        }
      }
      return { count, isDone, failed }
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
