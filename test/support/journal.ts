import { journalJob } from '../../src/services/accounting/keeper.ts'
import type { Deps } from '../../src/services/deps.ts'
import { sequencerJob } from '../../src/services/events/sequencer.ts'
import { drain } from '../../src/services/jobs/job.ts'

/** Seals all changes that are committed by now, and takes them into the journals. */
export async function keepJournal(deps: Deps): Promise<void> {
  await drain(sequencerJob(deps))
  await drain(journalJob(deps))
}

/** Keeps the journal beside a request that waits for it. */
export async function keptBeside<T>(deps: Deps, request: Promise<T>): Promise<T> {
  let isDone = false
  const answered = request.finally(() => {
    isDone = true
  })
  while (!isDone) await keepJournal(deps)
  return answered
}
