import { journalJob } from '../../src/services/accounting/keeper.ts'
import type { Deps } from '../../src/services/deps.ts'
import { sequencerJob } from '../../src/services/events/sequencer.ts'
import { type RunningJobs, startJobs } from '../../src/services/jobs/runner.ts'

interface Log {
  info(context: object, message: string): void
  error(context: object, message: string): void
}

/** Starts to seal changes and to number events in the background, as the service does. */
export const startSequencer = (deps: Deps, log: Log): RunningJobs =>
  startJobs([sequencerJob(deps, log)], { listener: deps.listener, log })

/** Starts to continue the journals in the background, as the service does. */
export const startKeeper = (deps: Deps, log: Log): RunningJobs =>
  startJobs([journalJob(deps)], { listener: deps.listener, log })
