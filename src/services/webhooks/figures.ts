import { readEndpointFigures } from '../../db/webhooks/endpoints.ts'
import { ENDPOINT_STATES, type EndpointState } from '../../db/webhooks/leases.ts'
import type { Deps } from '../deps.ts'
import { type Job, SERVICE } from '../jobs/job.ts'

/** How far the endpoints of all organizations are behind. Those that are disabled count by their state only. */
export interface WebhookFigures {
  readonly endpoints: Readonly<Record<EndpointState, number>>
  readonly behind: number
  /** Events that the endpoint furthest behind has not taken. */
  readonly worst: number
  /** The age of the oldest event that was not taken; 0 where there is none. */
  readonly oldestSeconds: number
}

/** The most endpoints that are looked at. */
const MOST_ENDPOINTS = 1_000

/** The pause between two readings. */
const EVERY_MS = 15_000

/** Figures of no endpoint. */
const noFigures: WebhookFigures = {
  endpoints: { active: 0, backing_off: 0, disabled: 0 },
  behind: 0,
  worst: 0,
  oldestSeconds: 0,
}

/** How far the endpoints are behind, as it was last read. */
export interface LatestFigures {
  /** Returns the figures that were read last, without a round trip. */
  latest(): WebhookFigures
  /** Reads the figures. */
  readonly job: Job
}

/** Creates the figures, which are in memory; those of no endpoint until they are read. */
export function createWebhookFigures(deps: Pick<Deps, 'db' | 'machineNow'>): LatestFigures {
  let latest = noFigures
  return {
    latest: () => latest,
    job: {
      name: 'webhook_figures',
      failure: 'how far the webhook endpoints are behind could not be read',
      everyMs: EVERY_MS,
      organizations: async () => [SERVICE],
      async work() {
        latest = await readFigures(deps)
        return 'done'
      },
    },
  }
}

async function readFigures({ db, machineNow }: Pick<Deps, 'db' | 'machineNow'>): Promise<WebhookFigures> {
  const all = await readEndpointFigures(db, MOST_ENDPOINTS)
  const sending = all.filter(({ state }) => state !== 'disabled')
  const behind = sending.map((endpoint) => endpoint.behind)
  const ages = sending.map(({ oldestUndeliveredAt }) =>
    oldestUndeliveredAt === null ? 0 : machineNow() - oldestUndeliveredAt,
  )
  const countOf = (state: EndpointState) => all.filter((endpoint) => endpoint.state === state).length
  return {
    endpoints: Object.fromEntries(
      ENDPOINT_STATES.map((state) => [state, countOf(state)]),
    ) as WebhookFigures['endpoints'],
    behind: behind.reduce((sum, one) => sum + one, 0),
    worst: Math.max(0, ...behind),
    oldestSeconds: Math.max(0, ...ages) / 1000,
  }
}
