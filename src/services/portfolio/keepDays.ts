import { forgetDays, keepDay, listKeptDays, markStaleDays, readSettled } from '../../db/portfolio/keptDays.ts'
import { claimPortfolio, findPortfolios, setKept } from '../../db/portfolio/toldBuckets.ts'
import { inSnapshot, inTransaction, isAlone, OF_A_PORTFOLIO_MS, type Snapshot } from '../../db/postgres/transaction.ts'
import { addPeriods, dateIn, dayBefore, type LocalDate, startOfDay } from '../../domain/dates.ts'
import { findPolicy } from '../delinquency/policies.ts'
import type { Deps } from '../deps.ts'
import type { Job, Left } from '../jobs/job.ts'
import { whileItStands } from '../testClock/testClocks.ts'
import { readCells, type WalkDeps } from './positions.ts'
import { isDone, type TellingPlace, tellBuckets } from './tellBuckets.ts'

/** The last days of which each is kept by the policy in force, so that the portfolio is seen over time. */
export const DAYS_KEPT = 31

/** The days before today that may be kept at all: a question about an older day is computed each time. */
export const MOST_DAYS_KEPT = 400

type KeepDeps = Pick<Deps, 'db' | 'config' | 'now'> & Pick<WalkDeps, 'stopping'>

/**
 * Keeps the last days of the portfolio of an organization that are not kept or are stale, once a day, when the sweep has
 * saved what time changed with the beginning of the day. Deletes what is kept of older days, and by earlier versions of
 * the policy.
 * @returns the days that were kept; none while another instance keeps them
 */
export async function keepDays(deps: KeepDeps, organizationId: number): Promise<readonly LocalDate[]> {
  const { db, config, now } = deps
  const at = now(organizationId)
  const today = dateIn(config.zone, at)
  const head = await inTransaction(db, (transaction) =>
    claimPortfolio(transaction, organizationId, startOfDay(today, config.zone)),
  )
  if (!head?.isSwept || isDone(head.keptOn, today)) return []
  const { version, policy } = await findPolicy(deps, organizationId, {})
  const of = { organizationId, policyVersion: version ?? 0 }
  const computed = await inSnapshot(
    db,
    async (snapshot) => {
      if (!(await isAlone(snapshot, 'portfolio days', organizationId))) return undefined
      const days = await missingDays(snapshot, of, today)
      if (days.length === 0) return []
      const asked = { organizationId, policy, days, knownAt: undefined, now: at, today }
      const settled = await readSettled({ pool: snapshot }, organizationId)
      const cells = await readCells(deps, snapshot, asked)
      const toKeep = [...cells].map(([day, found]) => ({ ...of, day, cells: found, computedAt: at, seenTo: settled }))
      // Kept while this instance is alone: another one then finds nothing missing.
      for (const day of toKeep) await keepDay(db, day)
      return days
    },
    { mostMs: OF_A_PORTFOLIO_MS },
  )
  if (!computed) return []
  await inTransaction(db, async (transaction) => {
    await forgetDays(transaction, { ...of, before: addPeriods(today, -MOST_DAYS_KEPT, 'days'), today })
    await setKept(transaction, organizationId, today)
    return true
  })
  return computed
}

/** Returns the last days that are not kept, or are stale; ascending. */
async function missingDays(
  snapshot: Snapshot,
  of: { readonly organizationId: number; readonly policyVersion: number },
  today: LocalDate,
): Promise<LocalDate[]> {
  const last = Array.from({ length: DAYS_KEPT }, (_, index) => addPeriods(today, index - DAYS_KEPT, 'days'))
  const kept = await listKeptDays({ pool: snapshot }, { ...of, from: last[0]!, to: dayBefore(today) })
  const right = new Set(kept.filter(({ isRight }) => isRight).map(({ day }) => day))
  return last.filter((day) => !right.has(day))
}

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
    if (!(await markStaleDays(deps.db, organizationId, deps.now(organizationId)))) return 'more'
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
