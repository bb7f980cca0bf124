import type { Deps } from '../../app/deps.ts'
import { purgeAccessEntries } from '../../db/access/accessEntries.ts'
import { PURGE, purgeCounters } from '../../db/access/counters.ts'
import { purgeKeys } from '../../db/access/idempotency.ts'
import { type Job, SERVICE } from './job.ts'

/** The pause after a round that left nothing. */
const EVERY_MS = 60_000
/** The `Idempotency-Key`s that are deleted at once. */
const KEYS_A_ROUND = 1_000
/** The entries of the access trail that are kept of each organization, and of callers that were not identified. */
const MOST_ACCESS_ENTRIES = 100_000

/** Deletes a bounded number of rows. @returns whether there may be more */
type Purge = () => Promise<boolean>

/**
 * Creates the job that deletes what is kept no longer: `Idempotency-Key`s past their days, counters of limits whose time is
 * over, and the oldest entries of the access trail. Instances that delete at the same moment take other rows each.
 */
export function purgeJob({ db, machineNow }: Pick<Deps, 'db' | 'machineNow'>): Job {
  const all: readonly Purge[] = [
    async () => (await purgeKeys(db, KEYS_A_ROUND, machineNow())) === KEYS_A_ROUND,
    async () => (await purgeCounters(db, machineNow())) === PURGE,
    async () => {
      await purgeAccessEntries(db, MOST_ACCESS_ENTRIES)
      return false
    },
  ]
  let due = all
  return {
    name: 'purge',
    failure: 'what is kept no longer could not be deleted',
    everyMs: EVERY_MS,
    organizations: async () => [SERVICE],
    async work() {
      const results = await Promise.allSettled(due.map((purge) => purge()))
      due = due.filter((_, place) => results[place]?.status === 'fulfilled' && results[place].value)
      const isMore = due.length > 0
      if (!isMore) due = all
      for (const result of results) if (result.status === 'rejected') throw result.reason
      return isMore ? 'more' : 'done'
    },
  }
}
