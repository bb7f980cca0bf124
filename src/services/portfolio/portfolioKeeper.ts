import type { Deps } from '../../app/deps.ts'
import { markStaleDays } from '../../db/portfolio/keptDays.ts'
import { findPortfolios } from '../../db/portfolio/toldBuckets.ts'
import type { Job, Left } from '../jobs/job.ts'
import { whileItStands } from '../testClock/whileItStands.ts'
import { keepDays } from './keepDays.ts'
import { type TellingPlace, tellBuckets } from './tellBuckets.ts'

/** The pause after a round that left nothing. */
const EVERY_MS = 30_000

type KeeperDeps = Pick<Deps, 'db' | 'config' | 'now' | 'testClocks'>

/** How far the telling of an organization has come. */
interface Telling {
  readonly next: TellingPlace
  /** The first failure of a loan that cannot be replayed. */
  readonly damaged: Error | undefined
}

/**
 * Creates the job that keeps the portfolios: it marks the kept days that changes made stale. When a day begins, it tells of
 * the loans that are in another bucket, and keeps the days before. Any number of them may work on one book: a portfolio is
 * claimed by its row.
 */
export function portfolioJob(deps: KeeperDeps): Job {
  const tellings = new Map<number, Telling>()

  async function keep(organizationId: number, signal: AbortSignal): Promise<Left> {
    await markStaleDays(deps.db, organizationId, deps.now(organizationId))
    const before = tellings.get(organizationId)
    const told = await tellBuckets(deps, organizationId, before?.next)
    const damaged = before?.damaged ?? told.damaged[0]
    if (told.next) {
      tellings.set(organizationId, { next: told.next, damaged })
      return 'more'
    }
    tellings.delete(organizationId)
    await keepDays({ ...deps, stopping: signal }, organizationId)
    // Loans that are left out keep no other loan from being told, nor the days from being kept.
    if (damaged) throw damaged
    return 'done'
  }

  return {
    name: 'portfolio',
    failure: 'the portfolio could not be kept',
    everyMs: EVERY_MS,
    async organizations() {
      await deps.testClocks.refreshAll()
      return findPortfolios({ pool: deps.db.pool })
    },
    async work(organizationId, signal) {
      const work = () => keep(organizationId, signal)
      if (deps.testClocks.find(organizationId) === undefined) return work()
      // One whose clock is being moved is kept by the request that moves the clock.
      return (await whileItStands(deps, organizationId, work)) ?? 'waits'
    },
  }
}
