import { setTimeout as pause } from 'node:timers/promises'
import type { Deps } from '../../app/deps.ts'
import { type Job, SERVICE } from '../jobs/job.ts'
import { Delivery, type DeliveryOptions } from './delivery.ts'

/** The pause after a round that found nothing to send. */
const EVERY_MS = 1_000
/** The pause after a round that left nothing but what is being sent, or what is to be saved. */
const BUSY_MS = 100

/**
 * Creates the job that sends events to the endpoints that this process has leased, in this process: any number of them may
 * work on one book. When it is stopped, it waits a moment for the answers, and gives the leases back.
 */
export function webhooksJob(deps: Deps, options: DeliveryOptions): Job {
  const delivery = new Delivery(deps, options)
  return {
    name: 'webhooks',
    failure: 'events could not be sent to webhook endpoints',
    everyMs: EVERY_MS,
    // Sending waits for the receivers: it takes little of the time of this process and of the database.
    share: 1,
    organizations: async () => [SERVICE],
    async work(_, signal) {
      const state = await delivery.round()
      if (state === 'busy') await pause(BUSY_MS, undefined, { signal }).catch(() => undefined)
      return state === 'idle' ? 'done' : 'more'
    },
    async stopped() {
      await delivery.stop().catch((error: unknown) => {
        const message = 'the leases of webhook endpoints could not be given back; they end after 30 s'
        options.log.error({ err: error }, message)
      })
    },
  }
}
