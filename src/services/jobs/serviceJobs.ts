import { purgeAccessEntries } from '../../db/access/accessEntries.ts'
import { PURGE, purgeCounters } from '../../db/access/counters.ts'
import { purgeKeys } from '../../db/access/idempotency.ts'
import { purgeMessages } from '../../db/payments/inbox.ts'
import { journalJob } from '../accounting/keeper.ts'
import { createTotals, type Totals } from '../book/totals.ts'
import { collectionsJob } from '../collections/collect.ts'
import { retentionJob } from '../customers/dataRequests.ts'
import type { Deps } from '../deps.ts'
import { sequencerJob } from '../events/sequencer.ts'
import { exportsJob } from '../exports/exportsJob.ts'
import { sweepJob } from '../loans/sweep.ts'
import { paymentsJob } from '../payments/paymentsJob.ts'
import { silenceJob } from '../payments/silentChannels.ts'
import { portfolioJob } from '../portfolio/keepDays.ts'
import type { Render } from '../webhooks/delivery.ts'
import { webhooksJob } from '../webhooks/delivery.ts'
import { createWebhookFigures, type LatestFigures } from '../webhooks/figures.ts'
import { type Job, SERVICE } from './job.ts'

/** Options of the background jobs. */
export interface ServiceJobsOptions {
  /** Writes the events that are sent to webhooks. */
  readonly render: Render
  readonly log: Record<'info' | 'warn' | 'error', (context: object, message: string) => void>
}

/** The background jobs of the service, and the figures that they keep in memory. */
export interface ServiceJobs {
  readonly jobs: readonly Job[]
  readonly totals: Totals
  readonly webhookFigures: LatestFigures
}

/** Creates the background jobs of the service. Every instance works at all of them. */
export function createServiceJobs(deps: Deps, { render, log }: ServiceJobsOptions): ServiceJobs {
  const totals = createTotals(deps)
  const webhookFigures = createWebhookFigures(deps)
  const jobs = [
    sweepJob(deps, log),
    sequencerJob(deps, log),
    journalJob(deps),
    portfolioJob(deps),
    collectionsJob(deps),
    paymentsJob(deps),
    silenceJob(deps),
    exportsJob(deps),
    webhooksJob(deps, { render, log }),
    webhookFigures.job,
    totals.job,
    retentionJob(deps),
    purgeJob(deps),
  ]
  return { jobs, totals, webhookFigures }
}

/** The pause after a round that left nothing. */
const EVERY_MS = 60_000
/** The `Idempotency-Key`s that are deleted at once. */
const KEYS_A_ROUND = 1_000
/** The entries of the access trail that are kept of each organization, and of callers that were not identified. */
const MOST_ACCESS_ENTRIES = 100_000

/** The days for which messages of providers are kept, and the messages that are deleted at once. */
const MESSAGE_DAYS = 90
const MESSAGES_A_ROUND = 1_000
const DAY_MS = 86_400_000

/** Deletes a bounded number of rows. @returns whether there may be more */
type Purge = () => Promise<boolean>

/**
 * Creates the job that deletes what is kept no longer: `Idempotency-Key`s past their days, counters of limits whose time is
 * over, messages of providers past theirs, and the oldest entries of the access trail. Instances that delete at the same moment take other rows each.
 */
export function purgeJob({ db, machineNow }: Pick<Deps, 'db' | 'machineNow'>): Job {
  const all: readonly Purge[] = [
    async () => (await purgeKeys(db, KEYS_A_ROUND, machineNow())) === KEYS_A_ROUND,
    async () => (await purgeCounters(db, machineNow())) === PURGE,
    async () => (await purgeMessages(db, machineNow() - MESSAGE_DAYS * DAY_MS, MESSAGES_A_ROUND)) === MESSAGES_A_ROUND,
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
