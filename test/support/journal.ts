import type { Deps } from '../../src/app/deps.ts'
import { sequenceAll } from '../../src/services/events/sequencer.ts'
import { keepJournals } from '../../src/services/journal/keeper.ts'

/** Seals all changes that are committed by now, and takes them into the journals. */
export async function keepJournal(deps: Deps): Promise<void> {
  await sequenceAll(deps)
  await keepJournals(deps)
}
