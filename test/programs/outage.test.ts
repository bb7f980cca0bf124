import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openService } from '../../src/app/service.ts'
import { type EmbeddedServer, startEmbedded } from '../../src/db/embedded/embedded.ts'
import { type Gateway, openGateway } from '../support/gateway.ts'
import { startLoad } from '../support/load.ts'
import { opsOn } from '../support/ops.ts'
import { within } from '../support/patience.ts'
import { lendFrom, type ServiceProcess, startProcess } from '../support/process.ts'
import { testConfig } from '../support/service.ts'

const log = { debug: () => undefined, info: () => undefined, warn: () => undefined }

const SECRET = 'a secret of the tests'

let directory: string
let server: EmbeddedServer
let gateway: Gateway
let service: ServiceProcess
let authorization: string
let loans: string[]

const call = async (path: string) => {
  const began = performance.now()
  const answer = await fetch(`${service.origin}${path}`, { headers: { authorization } })
  const { status, headers } = answer
  const answered = (await answer.json()) as { code?: string }
  return { status, body: answered, ms: performance.now() - began, headers }
}

const readiness = async () => (await call('/health/ready')).status

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mkopo-outage-'))
  await chmod(directory, 0o755)
  server = await startEmbedded({ directory, log })
  gateway = await openGateway(server.url)
  service = await startProcess({
    DATABASE_URL: gateway.url,
    KEY_ENCRYPTION_SECRET: SECRET,
    SEED_DEMO: 'true',
    STOP_GRACE_MS: '0',
  })
  ;({ authorization, loans } = await lendFrom(service, 20))
})
afterAll(async () => {
  service.child.kill('SIGTERM')
  await service.ended
  await gateway.close()
  await server.stop()
  await rm(directory, { recursive: true, force: true, maxRetries: 20 })
})

/** Repayments by token, as the book has them. */
async function posted(): Promise<Map<string, number>> {
  const client = new pg.Client(server.url)
  await client.connect()
  const { rows } = await client.query('SELECT token, count(*)::int AS times FROM loan_entry GROUP BY token')
  await client.end()
  return new Map(rows.map(({ token, times }) => [token, times]))
}

describe('the database', { timeout: within(60_000) }, () => {
  it('stopped for five seconds under load: unavailable within 3 s, not ready, alive; it serves within 3 s of the return', async () => {
    const load = startLoad({ origin: service.origin, authorization, loans, connections: 20, everyMs: 60, pauseMs: 100 })
    await expect.poll(() => load.sent.length).toBeGreaterThan(100)
    await server.stop()
    const goneAt = performance.now()
    await expect.poll(readiness, { timeout: within(3_000), interval: 50 }).toBe(503)
    expect((await call('/health/live')).status).toBe(200)
    const refused = await call('/v1/customers')
    expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await tokenStatus()).toBe(503)
    await pause(Math.max(0, goneAt + 5_000 - performance.now()))
    server = await startEmbedded({ directory, log })
    gateway.lead(server.url)
    const backAt = performance.now()
    while ((await readiness()) !== 200) await pause(50)
    const readyAfter = performance.now() - backAt
    const servedAt = backAt + Math.max(3_000, readyAfter)
    const ofReturn = () => load.sent.filter(({ at }) => at > servedAt)
    await expect.poll(() => ofReturn().length, { timeout: within(10_000) }).toBeGreaterThan(20)
    await load.stop()

    expect(readyAfter).toBeLessThan(within(3_000))
    const ofOutage = load.sent.filter(({ at }) => at > goneAt && at < backAt)
    expect(new Set(ofOutage.map(({ status }) => status))).toEqual(new Set([503]))
    expect(new Set(ofReturn().map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(load.sent.map(({ status }) => status))).toEqual(new Set([200, 503]))
    expect(Math.max(...load.sent.map(({ ms }) => ms))).toBeLessThan(within(3_000))
    await expectExact(load.sent)
    expect(service.child.exitCode).toBeNull()
  })

  it('fallen silent: what waits for it is answered unavailable within 3 s, too', async () => {
    const load = startLoad({ origin: service.origin, authorization, loans, connections: 20, everyMs: 60, pauseMs: 100 })
    await expect.poll(() => load.sent.length).toBeGreaterThan(100)
    const silentAt = performance.now()
    gateway.silence(true)
    await pause(4_000)
    await expect.poll(readiness, { timeout: within(3_000), interval: 50 }).toBe(503)
    gateway.silence(false)
    const backAt = performance.now()
    while ((await readiness()) !== 200) await pause(50)
    expect(performance.now() - backAt).toBeLessThan(within(3_000))
    await pause(500)
    await load.stop()
    const unanswered = load.sent.filter(({ at }) => at > silentAt - 500 && at < backAt)
    expect(unanswered.some(({ status }) => status === 503)).toBe(true)
    expect(Math.max(...load.sent.map(({ ms }) => ms))).toBeLessThan(within(3_000))
    await expectExact(load.sent)
  })

  it('book check: nothing differs', async () => {
    const config = testConfig({ KEY_ENCRYPTION_SECRET: SECRET })
    const deps = await openService({ config, databaseUrl: server.url, now: Date.now, skipMigrations: true })
    const { code, json } = await opsOn({ deps })('book check --json')
    await deps.db.close()
    expect({ code, found: json.found, differences: json.differences }).toEqual({ code: 0, found: 0, differences: [] })
    expect(json.entries).toBeGreaterThan(200)
  })

  it('the sweep goes on afterwards', async () => {
    const client = new pg.Client(server.url)
    await client.connect()
    await client.query('UPDATE loan SET next_change_at = now() WHERE id = $1', [loans[0]])
    const due = async () =>
      (await client.query('SELECT count(*)::int AS n FROM loan WHERE next_change_at <= now()')).rows[0].n
    await expect.poll(due, { timeout: within(20_000), interval: 200 }).toBe(0)
    await client.end()
  })
})

const tokenStatus = async () => {
  const basic = `Basic ${Buffer.from('partner@example.com:partner-secret').toString('base64')}`
  return (await fetch(`${service.origin}/v1/auth/token`, { headers: { authorization: basic } })).status
}

/** Nothing acknowledged is missing, and nothing is there twice. */
async function expectExact(sent: readonly { token: string; status: number | undefined }[]): Promise<void> {
  const book = await posted()
  const acknowledged = sent.filter(({ status }) => status === 200)
  expect(acknowledged.length).toBeGreaterThan(100)
  expect(acknowledged.filter(({ token }) => book.get(token) !== 1)).toEqual([])
  expect([...book].filter(([token, times]) => token !== null && times !== 1)).toEqual([])
}
