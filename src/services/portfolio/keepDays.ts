import type { Deps } from '../../app/deps.ts'
import { keepDay, listKeptDays, readSettled } from '../../db/portfolio/keptDays.ts'
import { claimPortfolio, setKept } from '../../db/portfolio/toldBuckets.ts'
import { inSnapshot, inTransaction } from '../../db/postgres/transaction.ts'
import { addPeriods, dateIn, dayBefore, type LocalDate, startOfDay } from '../../domain/dates.ts'
import { findPolicy } from '../delinquency/policies.ts'
import { readCells, type WalkDeps } from './positions.ts'

/** The last days of which each is kept by the policy in force, so that the portfolio is seen over time. */
export const DAYS_KEPT = 31

type KeepDeps = Pick<Deps, 'db' | 'config' | 'now'> & Pick<WalkDeps, 'stopping'>

/**
 * Keeps the last days of the portfolio of an organization that are not kept or are stale, once a day, when the sweep has
 * saved what time changed with the beginning of the day.
 * @returns the days that were kept
 */
export async function keepDays(deps: KeepDeps, organizationId: number): Promise<readonly LocalDate[]> {
  const { db, config, now } = deps
  const at = now()
  const today = dateIn(config.zone, at)
  const head = await inTransaction(db, (transaction) =>
    claimPortfolio(transaction, organizationId, startOfDay(today, config.zone)),
  )
  if (!head?.isSwept || (head.keptOn !== null && head.keptOn >= today)) return []
  const { version, policy } = await findPolicy(deps, organizationId, {})
  const policyVersion = version ?? 0
  const days = await missingDays(deps, { organizationId, policyVersion }, today)
  if (days.length > 0) {
    const asked = { organizationId, policy, days, knownAt: undefined, now: at, today }
    const { settled, cells } = await inSnapshot(db, async (snapshot) => ({
      settled: await readSettled(snapshot, organizationId),
      cells: await readCells(deps, snapshot, asked),
    }))
    for (const [day, found] of cells)
      await keepDay(db, { organizationId, policyVersion, day, cells: found, computedAt: at, seenTo: settled })
  }
  await inTransaction(db, (transaction) => setKept(transaction, organizationId, today))
  return days
}

/** Returns the last days that are not kept, or are stale; ascending. */
async function missingDays(
  { db }: KeepDeps,
  of: { readonly organizationId: number; readonly policyVersion: number },
  today: LocalDate,
): Promise<LocalDate[]> {
  const last = Array.from({ length: DAYS_KEPT }, (_, index) => addPeriods(today, index - DAYS_KEPT, 'days'))
  const kept = await listKeptDays(db, { ...of, from: last[0]!, to: dayBefore(today) })
  const right = new Set(kept.filter(({ isRight }) => isRight).map(({ day }) => day))
  return last.filter((day) => !right.has(day))
}
