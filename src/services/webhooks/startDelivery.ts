import type { Deps } from '../../app/deps.ts'
import { Delivery, type DeliveryOptions } from './delivery.ts'
import { noFigures, readFigures, type WebhookFigures } from './figures.ts'

/** The pauses after a round: where more is to be read, while something is sent, and while nothing is. */
const PAUSES_MS = { more: 20, busy: 100, idle: 1_000 }
/** The pause after a failure, for the database to recover. */
const AFTER_FAILURE_MS = 10_000

/** The pause between two readings of how far the endpoints are behind. */
const FIGURES_EVERY_MS = 15_000

/** The background job that sends events to endpoints. */
export interface DeliveryJob {
  /** Returns how far the endpoints are behind, as it was last read. */
  figures(): WebhookFigures
  stop(): Promise<void>
}

/** Starts to send events to endpoints, until it is stopped. */
export function startDelivery(deps: Deps, options: DeliveryOptions): DeliveryJob {
  const delivery = new Delivery(deps, options)
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  let round: Promise<void> = Promise.resolve()
  let figures = noFigures
  let readAt = Number.NEGATIVE_INFINITY

  const next = (delay: number) => {
    if (!stopped) timer = setTimeout(() => (round = run()), delay)
  }

  async function readNow(): Promise<void> {
    if (Math.abs(deps.machineNow() - readAt) < FIGURES_EVERY_MS) return
    readAt = deps.machineNow()
    try {
      figures = await readFigures(deps)
    } catch (error) {
      options.log.error({ err: error }, 'how far the webhook endpoints are behind could not be read')
    }
  }

  async function run(): Promise<void> {
    try {
      const state = await delivery.round()
      await readNow()
      next(PAUSES_MS[state])
    } catch (error) {
      options.log.error({ err: error }, 'a round of the webhooks failed; it will be tried again')
      next(AFTER_FAILURE_MS)
    }
  }

  next(0)
  return {
    figures: () => figures,
    async stop() {
      stopped = true
      clearTimeout(timer)
      await round
      await delivery.stop().catch((error: unknown) => {
        options.log.error(
          { err: error },
          'the leases of webhook endpoints could not be given back; they end after 30 s',
        )
      })
    },
  }
}
