import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { type Gateway, openGateway } from '../support/gateway.ts'
import { expectExact, type Load, startLoad } from '../support/load.ts'
import { within } from '../support/patience.ts'
import { lendFrom, type ServiceProcess, startProcess } from '../support/process.ts'
import { requireSoundDatabase } from '../support/soundBook.ts'

// One connection of the pool accepts what it is sent and answers nothing any more; the database itself is well.

/** How often one falls silent: in the suite once with each statement. */
const TIMES = Number(process.env.MKOPO_SILENCES ?? 5)

let fresh: FreshDatabase
let gateway: Gateway
let service: ServiceProcess
let authorization: string
let loans: string[]

beforeAll(async () => {
  fresh = await freshDatabase()
  gateway = await openGateway(fresh.url)
  service = await startProcess({
    DATABASE_URL: gateway.url,
    KEY_ENCRYPTION_SECRET: 'a secret of the tests',
    SEED_DEMO: 'true',
    STOP_GRACE_MS: '0',
  })
  ;({ authorization, loans } = await lendFrom(service, 40))
  await post('/v1/customers', { externalId: 'neema' })
})
afterAll(async () => {
  service.child.kill('SIGTERM')
  await service.ended
  await gateway.close()
  await fresh.drop()
})

const post = (path: string, body: object) =>
  fetch(`${service.origin}${path}`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** Statements that carry the requests of a kind, and the ids that all of a kind wait for. */
const STATEMENTS = ['save-loans', 'find-heads-by-id', 'insert-loans', 'find-applicants', 'ids-loan_entry_id_seq']

describe('a connection that falls silent', { timeout: within(120_000) }, () => {
  it(`${TIMES} times, under load: costs what it carries; the others are answered within 3 s, nothing is lost or doubled`, async () => {
    const load = startLoad({ origin: service.origin, authorization, loans, connections: 20, everyMs: 10 })
    const lending = startLending()
    for (let time = 0; time < TIMES; time++) {
      const statement = STATEMENTS[time % STATEMENTS.length]!
      await gateway.silenceOne(statement, time % 2 === 0 ? 'answer' : 'statement')
      await pause(500)
      expect((await fetch(`${service.origin}/health/ready`)).status).toBe(200)
    }
    await pause(3_000)
    const lent = await lending.stop()
    await load.stop()

    expectServed(load.sent)
    expectServed(lent)
    await expectExact(fresh.db, withoutAnswerAs503(load), loans)
    await requireSoundDatabase(fresh.url)
    await expectLent(lent)
    expect(service.child.exitCode).toBeNull()
  })
})

/** Most are served, each within 3 s; the few that a silent connection carried are answered 503, in a few seconds. */
function expectServed(sent: readonly { status: number | undefined; ms: number }[]): void {
  expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([200, 503]))
  const served = sent.filter(({ status }) => status === 200)
  const refused = sent.filter(({ status }) => status === 503)
  expect(served.length).toBeGreaterThan(25 * TIMES)
  expect(refused.length).toBeLessThan(served.length / 5)
  expect(Math.max(...served.map(({ ms }) => ms))).toBeLessThan(within(3_000))
  expect(Math.max(...refused.map(({ ms }) => ms))).toBeLessThan(within(6_000))
}

/** A change whose answer was lost on the way may have been saved: the client cannot know. */
const withoutAnswerAs503 = ({ sent }: Load) =>
  sent.map((one) => (one.status === 503 ? { ...one, status: undefined, error: 'ECONNRESET' } : one))

interface Lent {
  readonly externalId: string
  readonly status: number | undefined
  readonly ms: number
}

/** New loans, one after the other on ten connections, each under an external id of its own. */
function startLending() {
  const lent: Lent[] = []
  let stopped = false
  let number = 0
  const run = async () => {
    while (!stopped) {
      const externalId = `lent-${number++}`
      const began = performance.now()
      const answer = await post('/v1/loans', { customerId: 'neema', productId: 1, principal: 1_000, externalId })
      await answer.text()
      lent.push({ externalId, status: answer.status, ms: performance.now() - began })
      await pause(10)
    }
  }
  const runs = Array.from({ length: 10 }, run)
  return {
    async stop() {
      stopped = true
      await Promise.all(runs)
      return lent
    },
  }
}

/** Each that was answered 200 is on the book, with its schedule; and none that was not sent. */
async function expectLent(lent: readonly Lent[]): Promise<void> {
  const { rows } = await fresh.db.pool.query<{ external_id: string; periods: bigint }>(
    `SELECT external_id, (SELECT count(*) FROM loan_period p WHERE p.loan_id = l.id) AS periods
     FROM loan l WHERE external_id LIKE 'lent-%'`,
  )
  const book = new Map(rows.map((row) => [row.external_id, Number(row.periods)]))
  expect(lent.filter(({ status, externalId }) => status === 200 && book.get(externalId) !== 1)).toEqual([])
}
