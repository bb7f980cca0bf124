import type { Deps } from '../../app/deps.ts'
import { createTotals, type Totals } from '../book/totals.ts'
import { sequencerJob } from '../events/sequencer.ts'
import { journalJob } from '../journal/keeper.ts'
import { sweepJob } from '../loans/sweep.ts'
import { portfolioJob } from '../portfolio/portfolioKeeper.ts'
import type { Render } from '../webhooks/delivery.ts'
import { createWebhookFigures, type LatestFigures } from '../webhooks/figures.ts'
import { webhooksJob } from '../webhooks/webhooksJob.ts'
import type { Job } from './job.ts'
import { purgeJob } from './purgeJob.ts'

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
    webhooksJob(deps, { render, log }),
    webhookFigures.job,
    totals.job,
    purgeJob(deps),
  ]
  return { jobs, totals, webhookFigures }
}
