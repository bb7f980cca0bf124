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

/** Counts the changes that are sealed. @param now milliseconds since 1970 */
export function countSealed(registers: Registry[], now: () => number) {
  const sealed = new Counter({
    name: 'mkopo_changes_sealed_total',
    help: 'Changes that were sealed into the chain, and whose events were numbered, by this process.',
    registers,
  })
  const last = new Gauge({
    name: 'mkopo_sequencer_last_success_timestamp_seconds',
    help: 'When the sequencer last found every change sealed, or sealed some.',
    registers,
  })
  const failed = new Counter({
    name: 'mkopo_sequencer_failures_total',
    help: 'Rounds in which the changes of an organization, or all, could not be sealed.',
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
    sealFailed: () => failed.inc(),
    eventDamaged: () => damaged.inc(),
    sealed: (changes) => {
      sealed.inc(changes)
      last.set(now() / 1000)
    },
  } satisfies Partial<Listener>
}

/** Counts the changes that the journals take in. @param now milliseconds since 1970 */
export function countKept(registers: Registry[], now: () => number) {
  const kept = new Counter({
    name: 'mkopo_journal_changes_total',
    help: 'Changes and loans that this process has taken into the journals.',
    registers,
  })
  const last = new Gauge({
    name: 'mkopo_journal_last_success_timestamp_seconds',
    help: 'When the journals were last found complete, or were continued.',
    registers,
  })
  const failed = new Counter({
    name: 'mkopo_journal_failures_total',
    help: 'Rounds in which the journal of an organization, or all, could not be continued.',
    registers,
  })
  const left = new Counter({
    name: 'mkopo_changes_not_posted_total',
    help: 'Changes that were left out of a journal, because a row of the book is damaged; book check names it.',
    registers,
  })
  return {
    keepFailed: () => failed.inc(),
    changeNotPosted: () => left.inc(),
    kept: (changes) => {
      kept.inc(changes)
      last.set(now() / 1000)
    },
  } satisfies Partial<Listener>
}
