import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { answeredBy, expectExact, foundGone, outcomes, startLoad } from '../support/load.ts'
import { within } from '../support/patience.ts'
import { lendFrom, type ServiceProcess, startProcess, untilInWork } from '../support/process.ts'

let database: FreshDatabase
const started: ServiceProcess[] = []
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(async () => {
  for (const { child } of started) child.kill('SIGKILL')
  await database.drop()
})

async function start(settings: Record<string, string> = {}): Promise<ServiceProcess> {
  const service = await startProcess({
    DATABASE_URL: database.serviceUrl,
    KEY_ENCRYPTION_SECRET: 'a secret of the tests',
    SEED_DEMO: 'true',
    ...settings,
  })
  started.push(service)
  return service
}

// `ends.test.ts` has a second signal, at which all ends at once.
describe('kill -TERM', () => {
  it('under load: not ready first, every request accepted gets its answer, none is reset, and the book is exact', async () => {
    const service = await start({ STOP_GRACE_MS: String(within(750)) })
    // Some callers keep their connections, others connect again for each request: answered, or never accepted.
    const [keeping, connecting] = [await lendFrom(service, 20), await lendFrom(service, 20)]
    const { origin } = service
    const kept = startLoad({ origin, ...keeping, connections: 40, everyMs: 50 })
    const fresh = startLoad({ origin, ...connecting, connections: 8, keepAlive: false, everyMs: 5, name: 'fresh' })
    for (const load of [kept, fresh]) await answeredBy(load, 150)
    service.child.kill('SIGTERM')
    const ready = async () => {
      const answer = await fetch(`${origin}/health/ready`)
      return { status: answer.status, body: await answer.json() }
    }
    await expect
      .poll(ready, { interval: 20 })
      .toMatchObject({ status: 503, body: { message: 'the service is stopping' } })
    const notReadyAt = performance.now()
    expect((await fetch(`${origin}/health/live`)).status).toBe(200)
    expect(await service.ended).toBe(0)
    for (const load of [kept, fresh]) {
      await foundGone(load)
      await load.stop()
    }

    expect(outcomes(kept.sent)).toEqual(['200', 'ECONNREFUSED'])
    // While it was not ready, it went on serving.
    expect(outcomes(kept.sent.filter(({ at }) => at > notReadyAt))).toEqual(['200', 'ECONNREFUSED'])
    await expectExact(database.db, kept.sent, keeping.loans)
    expect(new Set(fresh.sent.map(({ status }) => status))).toEqual(new Set([200, undefined]))
    // What the kernel had accepted, and the service not yet, is not on the book either.
    const unread = fresh.sent.map((one) => (one.status === 200 ? one : { ...one, error: 'ECONNREFUSED' }))
    await expectExact(database.db, unread, connecting.loans)
  })

  it('waits for the slowest request, with the connection closed after its answer', async () => {
    const service = await start({ STOP_GRACE_MS: '0' })
    const { authorization, loans } = await lendFrom(service, 1)
    const client = await database.db.pool.connect()
    await client.query('BEGIN')
    await client.query('SELECT 1 FROM loan WHERE id = $1 FOR UPDATE', [loans[0]])
    const sending = request(`${service.origin}/v1/loans/${loans[0]}/repayments`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', connection: 'keep-alive' },
    })
    sending.end(JSON.stringify({ transactionAmount: 5 }))
    await untilInWork(service, 1)
    // Twice, as where npm passes it on and every process of the group gets it.
    for (const _ of [1, 2]) service.child.kill('SIGTERM')
    await pause(1_000)
    expect(service.child.exitCode).toBeNull()
    await client.query('COMMIT')
    client.release()
    const [response] = await once(sending, 'response')
    response.resume()
    expect(response.statusCode).toBe(200)
    expect(await service.ended).toBe(0)
  })

  it('is over within its limit, whatever still runs', async () => {
    const service = await start({ STOP_GRACE_MS: '0', STOP_WITHIN_MS: '1000' })
    const socket = connect(Number(new URL(service.origin).port), '127.0.0.1')
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    socket.write('POST /v1/loans HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\nhalf')
    // What was sent before on another connection has come.
    expect((await fetch(`${service.origin}/health/live`)).status).toBe(200)
    const began = performance.now()
    service.child.kill('SIGTERM')
    expect(await service.ended).toBe(1)
    expect(performance.now() - began).toBeLessThan(within(2_500))
    socket.destroy()
  })
})
