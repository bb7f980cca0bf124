import { Counter, Gauge, type Registry } from 'prom-client'
import type { Head } from '../services/events/chainHeads.ts'
import type { Listener } from '../services/listener.ts'

/** Shows how far the chain of each organization is sealed; organization 0 is the service itself. */
export function showHeads(registers: Registry[], heads: () => readonly Head[]): void {
  const show = (name: string, help: string, read: (head: Head) => bigint) =>
    new Gauge({
      name,
      help,
      labelNames: ['organization'] as const,
      registers,
      collect() {
        this.reset()
        for (const head of heads()) this.set({ organization: head.organizationId }, Number(read(head)))
      },
    })
  show('mkopo_sealed_change', 'The last change that is sealed: its id in the audit trail.', ({ changeId }) => changeId)
  show('mkopo_sealed_sequence', 'The number of the last event.', ({ sequence }) => sequence)
}

/** Counts the changes that are sealed. */
export function countSealed(registers: Registry[]) {
  const sealed = new Counter({
    name: 'mkopo_changes_sealed_total',
    help: 'Changes that were sealed into the chain, and whose events were numbered, by this process.',
    registers,
  })
  const notStamped = new Counter({
    name: 'mkopo_changes_not_stamped_total',
    help: 'Rows of the audit trail that were changed or added past the service, found when they were sealed; book check names them.',
    registers,
  })
  const damaged = new Counter({
    name: 'mkopo_events_damaged_total',
    help: 'Events that were told without their details, because a row of the book is damaged; book check names it.',
    registers,
  })
  return {
    notStamped: () => notStamped.inc(),
    eventDamaged: () => damaged.inc(),
    sealed: (changes) => sealed.inc(changes),
  } satisfies Partial<Listener>
}

/** Counts the changes that the journals take in. */
export function countKept(registers: Registry[]) {
  const kept = new Counter({
    name: 'mkopo_journal_changes_total',
    help: 'Changes and loans that this process has taken into the journals.',
    registers,
  })
  const left = new Counter({
    name: 'mkopo_changes_not_posted_total',
    help: 'Changes that were left out of a journal, because a row of the book is damaged; book check names it.',
    registers,
  })
  return {
    changeNotPosted: () => left.inc(),
    kept: (changes) => kept.inc(changes),
  } satisfies Partial<Listener>
}
