import type { Deps } from '../../src/app/deps.ts'
import { sequenceAll } from '../../src/services/events/sequencer.ts'
import { keepJournals } from '../../src/services/journal/keeper.ts'

/** Seals all changes that are committed by now, and takes them into the journals. */
export async function keepJournal(deps: Deps): Promise<void> {
  await sequenceAll(deps)
  await keepJournals(deps)
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
