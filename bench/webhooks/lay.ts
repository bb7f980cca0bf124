import type { FastifyInstance } from 'fastify'
import { buildApp } from '../../src/app/app.ts'
import { readConfig } from '../../src/app/config.ts'
import { openService } from '../../src/app/service.ts'
import type { Deps } from '../../src/services/deps.ts'
import { headOf } from '../../src/services/events/eventList.ts'
import { sequencerJob } from '../../src/services/events/sequencer.ts'
import { drain } from '../../src/services/jobs/job.ts'
import { DEMO_PARTNER } from '../../src/services/organizations/seedDemo.ts'
import { SECRET } from '../startService.ts'

/** A book with events, and its clock, which stands still until it is moved. */
export interface HeldBook {
  readonly deps: Deps
  /** The number of events. */
  readonly events: number
  /** Moves the clock. */
  wait(milliseconds: number): void
  /** Returns when something is due next at an endpoint; undefined where nothing waits. */
  nextDueAt(): Promise<number | undefined>
  close(): Promise<void>
}

/** What is laid: about so many events, on so many loans. */
export interface Laying {
  readonly events: number
  readonly loans: number
  readonly say: (text: string) => void
}

const AT_ONCE = 64

/** Lays a book of customers with a loan each, and repayments of 1 on every loan in turn. */
export async function layEvents(databaseUrl: string, { events, loans, say }: Laying): Promise<HeldBook> {
  const config = readConfig({
    ...{ DATABASE_URL: databaseUrl, KEY_ENCRYPTION_SECRET: SECRET, SEED_DEMO: 'true' },
    ...{ WEBHOOKS_TO_PRIVATE: 'true', MAX_IN_FLIGHT: '10000', MAX_LAG_MS: '60000', RATE_LIMIT_ACCOUNT: '0' },
  })
  let at = Date.now()
  const deps = await openService({ config, databaseUrl, now: () => at })
  const app = await buildApp(deps)
  const token = await deps.signIn.issueToken(DEMO_PARTNER.email, DEMO_PARTNER.password, '127.0.0.1')
  const post = posting(app, new URL(config.baseUrl).host, token)
  const ids: string[] = Array(loans)
  await inParallel(loans, async (index) => {
    const customerId = `customer-${index}`
    await post('/v1/customers', { externalId: customerId })
    ids[index] = await post('/v1/loans', { customerId, productId: 1, principal: 1_000_000 })
  })
  await inParallel(Math.max(0, events - 2 * loans), async (index) => {
    await post(`/v1/loans/${ids[index % loans]}/repayments`, { transactionAmount: 1 })
  })
  await drain(sequencerJob(deps))
  const head = Number(await headOf(deps, 1))
  say(`laid ${head.toLocaleString('en')} events of ${loans.toLocaleString('en')} loans`)
  return {
    ...{ deps, events: head },
    wait: (milliseconds) => {
      at += milliseconds
    },
    async nextDueAt() {
      const { rows } = await deps.db.pool.query<{ due: number | null }>(NEXT_DUE)
      return rows[0]?.due ?? undefined
    },
    async close() {
      await app.close()
      deps.webhookPoster.close()
      deps.statements.close()
      await deps.db.close()
    },
  }
}

/** Of an endpoint that waits: when it opens again; of one that does not, when its next event or its lease is due. */
const NEXT_DUE = `
  SELECT min(greatest(e.next_attempt_at, (SELECT min(k.next_attempt_at) FROM webhook_parked k
    WHERE k.endpoint_id = e.id), e.leased_until - interval '30 s')) AS due
  FROM webhook_endpoint e JOIN event_chain c USING (organization_id)
  WHERE c.sequence > e.position OR EXISTS (SELECT FROM webhook_parked k WHERE k.endpoint_id = e.id)`

const posting = (app: FastifyInstance, host: string, token: string) => async (url: string, body: object) => {
  const headers = { host, authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await app.inject({ method: 'POST', url, headers, payload: JSON.stringify(body) })
  if (answer.statusCode !== 200) throw new Error(`${url} was answered ${answer.statusCode}: ${answer.body}`)
  return answer.json<{ id: string }>().id
}

async function inParallel(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0
  const one = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, one))
}
