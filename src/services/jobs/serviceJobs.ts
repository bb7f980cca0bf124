import type { Deps } from '../../app/deps.ts'
import { sequencerJob } from '../events/sequencer.ts'
import { journalJob } from '../journal/keeper.ts'
import { sweepJob } from '../loans/sweep.ts'
import { portfolioJob } from '../portfolio/portfolioKeeper.ts'
import type { Job } from './job.ts'
import { purgeJob } from './purgeJob.ts'

interface Log {
  info(context: object, message: string): void
  error(context: object, message: string): void
}

/** Creates the background jobs of the service. Every instance works at all of them. */
export const serviceJobs = (deps: Deps, log: Log): readonly Job[] => [
  sweepJob(deps, log),
  sequencerJob(deps, log),
  journalJob(deps),
  portfolioJob(deps),
  purgeJob(deps),
]
