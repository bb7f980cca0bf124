import { Gauge, type Registry } from 'prom-client'
import type { Head } from '../services/events/chainHeads.ts'

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
