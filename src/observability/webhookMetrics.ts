import { Counter, Gauge, type Registry } from 'prom-client'
import type { Listener } from '../services/listener.ts'
import type { WebhookFigures } from '../services/webhooks/figures.ts'

/** Counts attempts to send events. */
export function countWebhooks(registers: Registry[]) {
  const attempts = new Counter({
    name: 'mkopo_webhook_attempts_total',
    help: 'Attempts to send an event to an endpoint, by what came of them; after exhausted, the event is given up.',
    labelNames: ['outcome'] as const,
    registers,
  })
  for (const outcome of ['delivered', 'failed', 'exhausted'] as const) attempts.inc({ outcome }, 0)
  return { webhookAttempted: (outcome) => attempts.inc({ outcome }) } satisfies Partial<Listener>
}

/** Shows how far the endpoints of all organizations are behind, as it was last read. */
export function showWebhooks(registers: Registry[], figures: () => WebhookFigures): void {
  const gauge = (name: string, help: string, read: (figures: WebhookFigures) => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read(figures()))
      },
    })
  new Gauge({
    name: 'mkopo_webhook_endpoints',
    help: 'Endpoints of webhooks, by state.',
    labelNames: ['state'] as const,
    registers,
    collect() {
      for (const [state, endpoints] of Object.entries(figures().endpoints)) this.set({ state }, endpoints)
    },
  })
  gauge(
    'mkopo_webhook_behind_events',
    'Events that endpoints have not taken yet, all together.',
    ({ behind }) => behind,
  )
  gauge(
    'mkopo_webhook_worst_behind_events',
    'Events that the endpoint furthest behind has not taken yet.',
    (read) => read.worst,
  )
  gauge(
    'mkopo_webhook_oldest_undelivered_seconds',
    'Age of the oldest event that an endpoint which is not disabled has not taken yet.',
    ({ oldestSeconds }) => oldestSeconds,
  )
}
