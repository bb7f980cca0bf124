import { setTimeout as pause } from 'node:timers/promises'
import { journalJob } from '../../src/services/accounting/keeper.ts'
import type { Deps } from '../../src/services/deps.ts'
import { sequencerJob } from '../../src/services/events/sequencer.ts'
import { drain } from '../../src/services/jobs/job.ts'
import { sweepJob } from '../../src/services/loans/sweep.ts'

/** Seals all changes that are committed by now, and takes them into the journals. */
export async function keepJournal(deps: Deps): Promise<void> {
  await drain(sequencerJob(deps))
  await drain(journalJob(deps))
}

/** Does what the service does in the background for each read: sweeps loans, and seals changes, so that their events are found. */
export async function sweepAndSeal(deps: Deps): Promise<void> {
  await drain(sweepJob(deps))
  await drain(sequencerJob(deps))
}

/** The pause between two rounds of `keptBeside`: most requests are answered meanwhile, and wait for no journal. */
const BETWEEN_MS = 20

/** Keeps the journal beside a request that may wait for it. */
export async function keptBeside<T>(deps: Deps, request: Promise<T>): Promise<T> {
  const answered = request.then(
    () => true,
    () => true,
  )
  while (!(await Promise.race([answered, pause(BETWEEN_MS, false)]))) await keepJournal(deps)
  return request
}
