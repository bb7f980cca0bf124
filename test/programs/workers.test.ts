import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openService } from '../../src/app/service.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { answeredBy, expectExact, foundGone, outcomes, type Sent, startLoad } from '../support/load.ts'
import { opsOn } from '../support/ops.ts'
import { within } from '../support/patience.ts'
import {
  allGone,
  lendFrom,
  lives,
  metric,
  type ServiceProcess,
  startArguments,
  startProcess,
} from '../support/process.ts'
import { testConfig } from '../support/service.ts'

const answered = (opsOrigin: string) => metric(opsOrigin, 'mkopo_http_request_duration_seconds_count')
const bornAt = (opsOrigin: string) => metric(opsOrigin, 'process_start_time_seconds').catch(() => 0)

/** The status of an answer over a connection of its own, or why there was none. */
async function statusOnNewConnection(url: string): Promise<number | string | undefined> {
  const asking = get(url, { agent: false, timeout: within(5_000) }).on('timeout', () =>
    asking.destroy(new Error('timeout')),
  )
  try {
    const [response] = (await once(asking, 'response')) as [IncomingMessage]
    response.resume()
    return response.statusCode
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error)
  }
}

let database: FreshDatabase
let service: ServiceProcess
beforeAll(async () => {
  database = await freshDatabase()
  service = await startProcess({
    ...{ DATABASE_URL: database.serviceUrl, KEY_ENCRYPTION_SECRET: 'a secret of the tests', SEED_DEMO: 'true' },
    ...{ WEB_CONCURRENCY: '2', STOP_GRACE_MS: String(within(500)), LOG_LEVEL: 'info', HOST: '0.0.0.0' },
  })
})
afterAll(async () => {
  service.child.kill('SIGKILL')
  await database.drop()
})

describe('two processes', () => {
  it('share the port, and each shows itself on one of its own; no secret is in their arguments', async () => {
    const { workers, child } = service
    expect(service.output()).toContain('in 2 processes')
    expect(new Set([child.pid, ...workers.map(({ pid }) => pid)]).size).toBe(3)
    const before = await Promise.all(workers.map(({ opsOrigin }) => answered(opsOrigin)))
    for (let index = 0; index < 10; index++)
      expect(await statusOnNewConnection(`${service.origin}/v1/nothing`)).toBe(404)
    let shares: number[] = []
    // A page of the metrics is kept for a second.
    await expect
      .poll(
        async () => {
          const after = await Promise.all(workers.map(({ opsOrigin }) => answered(opsOrigin)))
          shares = after.map((count, index) => count - before[index]!)
          return shares.reduce((sum, share) => sum + share)
        },
        { timeout: within(10_000) },
      )
      .toBe(10)
    expect(Math.min(...shares)).toBeGreaterThan(2)
    if (process.platform !== 'linux') return
    for (const { pid } of workers) {
      const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      for (const flag of startArguments()) expect(args).toContain(flag)
      expect(args).not.toMatch(/secret|postgres:/)
    }
  })

  it.each([1, 20])(
    'a burst of repayments on %d loans: each is on the book once, also sent twice at once',
    async (count) => {
      const { authorization, loans } = await lendFrom(service, count)
      const load = startLoad({ origin: service.origin, authorization, loans, connections: 32 })
      const headers = { authorization, 'content-type': 'application/json' }
      const repay = async (loan: string | undefined, idempotencyKey: string) => {
        const body = JSON.stringify({ transactionAmount: 7, idempotencyKey })
        const answer = await fetch(`${service.origin}/v1/loans/${loan}/repayments`, { method: 'POST', headers, body })
        return { status: answer.status, id: ((await answer.json()) as { id: string }).id, token: idempotencyKey }
      }
      const twins = await Promise.all(
        Array.from({ length: 60 }, (_, index) =>
          Promise.all([0, 1].map(() => repay(loans[index % count], `twin-${index}`))),
        ),
      )
      await answeredBy(load, 600)
      await load.stop()
      expect(twins.filter(([one, two]) => one?.status !== 200 || two?.status !== 200 || one.id !== two.id)).toEqual([])
      expect(outcomes(load.sent)).toEqual(['200'])
      await expectExact(database.db, [...load.sent, ...twins.flat()], loans)
      expect(load.sent.length).toBeGreaterThan(100)
    },
  )

  it('kill -9 of one under load: it is replaced on the same port, and the other serves meanwhile', async () => {
    const { authorization, loans } = await lendFrom(service, 20)
    const [{ pid, opsOrigin }] = service.workers as [ServiceProcess['workers'][0]]
    const born = await bornAt(opsOrigin)
    const load = startLoad({ origin: service.origin, authorization, loans, connections: 16, everyMs: 60 })
    await answeredBy(load, 200)
    // It hangs first, so that it is sure to die with a connection that was handed to it and never taken.
    process.kill(pid, 'SIGSTOP')
    let answered = 0
    const asked = [1, 2, 3, 4].map(async () => {
      const status = await statusOnNewConnection(`${service.origin}/health/live`)
      answered++
      return status
    })
    await expect.poll(() => answered).toBe(3)
    await pause(300)
    process.kill(pid, 'SIGKILL')
    expect((await Promise.all(asked)).sort()).toEqual([200, 200, 200, 'ECONNRESET'])
    await expect.poll(() => bornAt(opsOrigin), { timeout: within(20_000) }).toBeGreaterThan(born)
    const after = load.sent.length
    await expect.poll(() => load.sent.length).toBeGreaterThan(after + 50)
    await load.stop()
    expect(service.output()).toMatch(/"worker":0,"ended":\{"pid":\d+,"code":null,"signal":"SIGKILL"\},"againInMs":0/)
    // Only the requests that it was answering stay without an answer.
    const lost = load.sent.filter(({ status }) => status !== 200)
    expect(lost.length).toBeLessThanOrEqual(16)
    expect(lost.map(({ status }) => status).filter((status) => status !== undefined)).toEqual([])
    await expectExact(database.db, load.sent, loans)
  })

  it('kill -TERM of one under load: every request is answered, the service is ready, and it is replaced', async () => {
    const { authorization, loans } = await lendFrom(service, 20)
    const [, { pid, opsOrigin }] = service.workers as [unknown, ServiceProcess['workers'][0]]
    const born = await bornAt(opsOrigin)
    const load = startLoad({ origin: service.origin, authorization, loans, connections: 16, everyMs: 60 })
    await answeredBy(load, 200)
    process.kill(pid, 'SIGTERM')
    while (lives(pid)) {
      expect(await statusOnNewConnection(`${service.origin}/health/ready`)).toBe(200)
      await pause(20)
    }
    await expect.poll(() => bornAt(opsOrigin), { timeout: within(20_000) }).toBeGreaterThan(born)
    await load.stop()
    expect(outcomes(load.sent)).toEqual(['200'])
    await expectExact(database.db, load.sent, loans)
    expect(service.child.exitCode).toBeNull()
  })

  it('kill -TERM of the primary under load: none is ready, every request accepted is answered, all end', async () => {
    // Some callers keep their connections, others open a new one for each request.
    const callers = await Promise.all(
      [true, false].map(async (keepAlive) => ({ keepAlive, ...(await lendFrom(service, 20)) })),
    )
    const loads = callers.map((caller) =>
      startLoad({ origin: service.origin, connections: 20, everyMs: 40, ...caller }),
    )
    for (const load of loads) await answeredBy(load, 150)
    service.child.kill('SIGTERM')
    // Connections go to both in turn.
    const ready = () => Promise.all([1, 2, 3, 4].map(() => statusOnNewConnection(`${service.origin}/health/ready`)))
    await expect.poll(ready, { interval: 20 }).toEqual([503, 503, 503, 503])
    expect(await service.ended).toBe(0)
    for (const load of loads) {
      await foundGone(load)
      await load.stop()
    }
    for (const [index, { sent }] of loads.entries()) {
      // The kernel accepts new connections before a process does, and resets them, unread, when the port closes: none of it is on the book.
      const isUnread = ({ error, isOnKept }: Sent) => error === 'ECONNRESET' && isOnKept === false
      const read = sent.filter((one) => !isUnread(one))
      expect(read.length).toBeGreaterThan(100)
      expect(outcomes(read)).toEqual(['200', 'ECONNREFUSED'])
      await expectExact(database.db, read, callers[index]!.loans)
    }
    await allGone(service)
  })

  it('are warned of once, where they let anybody in', () => {
    const lines = service.output().split('\n')
    expect(lines.filter((line) => line.includes('published passwords'))).toEqual([
      expect.stringContaining('(partner, operator, auditor, sandbox)'),
    ])
    expect(service.output()).not.toContain('0.0.0.0:')
  })

  it('write whole lines, and each names its process', () => {
    const lines = service
      .output()
      .split('\n')
      .filter((line) => line.includes('"level"'))
    const pids = new Set(lines.map((line) => (JSON.parse(line) as { pid: number }).pid))
    expect(lines.length).toBeGreaterThan(2_000)
    // The primary, the two, and those that took their places.
    expect(pids.size).toBe(5)
    for (const { pid } of service.workers) expect(pids).toContain(pid)
  })

  it('book check: nothing differs', async () => {
    const deps = await openService({
      config: testConfig(),
      databaseUrl: database.url,
      now: Date.now,
      skipMigrations: true,
      patience: 'always',
    })
    const { code, json } = await opsOn({ deps })('book check --json')
    await deps.db.close()
    expect({ code, found: json.found, differences: json.differences }).toEqual({ code: 0, found: 0, differences: [] })
    expect(json.entries).toBeGreaterThan(500)
  })
})
