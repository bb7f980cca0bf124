import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FreshDatabase, freshDatabase } from './support/database.ts'
import { answeredBy, expectExact, foundGone, outcomes, startLoad } from './support/load.ts'
import { within } from './support/patience.ts'
import { expectEndAtOnce, lendFrom, type ServiceProcess, startProcess, untilInWork } from './support/process.ts'

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

describe('kill -TERM', { timeout: within(60_000) }, () => {
  it('under load: not ready first, every request accepted gets its answer, none is reset, and the book is exact', async () => {
    const service = await start({ STOP_GRACE_MS: String(within(750)) })
    const { authorization, loans } = await lendFrom(service, 20)
    const load = startLoad({ origin: service.origin, authorization, loans, connections: 40, everyMs: 50 })
    await answeredBy(load, 150)
    service.child.kill('SIGTERM')
    const ready = async () => {
      const answer = await fetch(`${service.origin}/health/ready`)
      return { status: answer.status, body: await answer.json() }
    }
    await expect
      .poll(ready, { interval: 20 })
      .toMatchObject({ status: 503, body: { message: 'the service is stopping' } })
    const notReadyAt = performance.now()
    expect((await fetch(`${service.origin}/health/live`)).status).toBe(200)
    expect(await service.ended).toBe(0)
    await foundGone(load)
    await load.stop()

    expect(outcomes(load.sent)).toEqual(['200', 'ECONNREFUSED'])
    // While it was not ready, it went on serving.
    expect(outcomes(load.sent.filter(({ at }) => at > notReadyAt))).toEqual(['200', 'ECONNREFUSED'])
    await expectExact(database.db, load.sent, loans)
  })

  it('a client that connects again for each request, too: answered, or never accepted', async () => {
    const service = await start({ STOP_GRACE_MS: String(within(250)) })
    const { authorization, loans } = await lendFrom(service, 20)
    const load = startLoad({
      ...{ origin: service.origin, authorization, loans },
      ...{ connections: 8, keepAlive: false, everyMs: 5 },
    })
    await answeredBy(load, 150)
    service.child.kill('SIGTERM')
    expect(await service.ended).toBe(0)
    await foundGone(load)
    await load.stop()
    const { rows } = await database.db.pool.query('SELECT token FROM loan_entry WHERE loan_id = ANY($1)', [loans])
    const acknowledged = load.sent.flatMap(({ status, token }) => (status === 200 ? [token] : []))
    expect(rows.map(({ token }) => token).sort()).toEqual(acknowledged.sort())
    expect(new Set(load.sent.map(({ status }) => status))).toEqual(new Set([200, undefined]))
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
    service.child.kill('SIGTERM')
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

  it('twice: ends at once', async () => {
    await expectEndAtOnce(await start({ STOP_GRACE_MS: '20000' }))
  })
})
