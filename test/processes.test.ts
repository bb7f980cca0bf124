import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { openDatabase } from '../src/db/client.ts'
import { pauseAfter } from '../src/process/crew.ts'
import { openService } from '../src/service.ts'
import { endChildren, startNode } from './support/children.ts'
import { type FreshDatabase, freshDatabase } from './support/database.ts'
import { readExposition } from './support/exposition.ts'
import { type Sent, startLoad } from './support/load.ts'
import { opsOn } from './support/ops.ts'
import { lendFrom, type ServiceProcess, startProcess } from './support/process.ts'
import { testConfig } from './support/service.ts'

const SECRET = 'a secret of the tests'

let database: FreshDatabase
const started: ServiceProcess[] = []
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(async () => {
  for (const { child } of started) child.kill('SIGKILL')
  await endChildren()
  await database.drop()
})

const settings = () => ({ DATABASE_URL: database.url, KEY_ENCRYPTION_SECRET: SECRET, SEED_DEMO: 'true' })

async function start(over: Record<string, string> = {}, options = {}): Promise<ServiceProcess> {
  const service = await startProcess({ ...settings(), WEB_CONCURRENCY: '2', STOP_GRACE_MS: '600', ...over }, options)
  started.push(service)
  return service
}

/** What a metric of a process adds up to, over all its labels. */
async function metric(opsOrigin: string, name: string): Promise<number> {
  const page = await fetch(`${opsOrigin}/metrics`)
  const samples = [...readExposition(await page.text()).values()].flatMap((family) => family.samples)
  return samples.filter((sample) => sample.name === name).reduce((sum, { value }) => sum + value, 0)
}

const answered = (opsOrigin: string) => metric(opsOrigin, 'mkopo_http_request_duration_seconds_count')
const bornAt = (opsOrigin: string) => metric(opsOrigin, 'process_start_time_seconds').catch(() => 0)

/** The status of an answer over a connection of its own, or why there was none. */
async function anew(url: string): Promise<number | string | undefined> {
  const asking = get(url, { agent: false, timeout: 5_000 }).on('timeout', () => asking.destroy(new Error('timeout')))
  try {
    const [response] = (await once(asking, 'response')) as [IncomingMessage]
    response.resume()
    return response.statusCode
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error)
  }
}

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const allGone = ({ workers }: ServiceProcess) =>
  expect.poll(() => workers.filter(({ pid }) => lives(pid)), { timeout: 5_000 }).toEqual([])

type Outcome = Pick<Sent, 'status' | 'error' | 'token'>

const outcomes = (sent: readonly Outcome[]) =>
  [...new Set(sent.map(({ status, error }) => String(status ?? error)))].sort()

/** What was answered 200 is on the book, once; and nothing else but what got no answer at all. */
async function expectExact(sent: readonly Outcome[], loans: readonly string[]): Promise<void> {
  const { rows } = await database.db.pool.query('SELECT token FROM loan_entry WHERE loan_id = ANY($1)', [loans])
  const book: string[] = rows.map(({ token }) => token)
  const tokens = (wanted: number | undefined) =>
    new Set(sent.filter(({ status }) => status === wanted).map(({ token }) => token))
  const [acknowledged, unanswered] = [tokens(200), tokens(undefined)]
  expect(book.filter((token) => !unanswered.has(token)).sort()).toEqual([...acknowledged].sort())
}

describe('two processes', { timeout: 60_000 }, () => {
  let service: ServiceProcess
  beforeAll(async () => {
    service = await start({ LOG_LEVEL: 'info' })
  })

  it('share the port, and each shows itself on one of its own; no secret is in their arguments', async () => {
    const { workers, child } = service
    expect(service.output()).toContain('in 2 processes')
    expect(new Set([child.pid, ...workers.map(({ pid }) => pid)]).size).toBe(3)
    const before = await Promise.all(workers.map(({ opsOrigin }) => answered(opsOrigin)))
    for (let index = 0; index < 10; index++) expect(await anew(`${service.origin}/v1/nothing`)).toBe(404)
    const after = await Promise.all(workers.map(({ opsOrigin }) => answered(opsOrigin)))
    const shares = after.map((count, index) => count - before[index]!)
    expect(shares.reduce((sum, share) => sum + share)).toBe(10)
    expect(Math.min(...shares)).toBeGreaterThan(2)
    if (process.platform !== 'linux') return
    for (const { pid } of workers) {
      const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      for (const flag of manifest.scripts.start.split(' ').slice(1)) expect(args).toContain(flag)
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
      await pause(1_000)
      await load.stop()
      expect(twins.filter(([one, two]) => one?.status !== 200 || two?.status !== 200 || one.id !== two.id)).toEqual([])
      expect(outcomes(load.sent)).toEqual(['200'])
      await expectExact([...load.sent, ...twins.flat()], loans)
      expect(load.sent.length).toBeGreaterThan(100)
    },
  )

  it('kill -9 of one under load: it is replaced on the same port, and the other serves meanwhile', async () => {
    const { authorization, loans } = await lendFrom(service, 20)
    const [{ pid, opsOrigin }] = service.workers as [ServiceProcess['workers'][0]]
    const born = await bornAt(opsOrigin)
    const load = startLoad({ origin: service.origin, authorization, loans, connections: 16 })
    await pause(500)
    // It hangs first, so that it is sure to die with a connection that was handed to it and never taken.
    process.kill(pid, 'SIGSTOP')
    const asked = [1, 2, 3, 4].map(() => anew(`${service.origin}/health/live`))
    await pause(300)
    process.kill(pid, 'SIGKILL')
    expect((await Promise.all(asked)).sort()).toEqual([200, 200, 200, 'ECONNRESET'])
    await expect.poll(() => bornAt(opsOrigin), { timeout: 20_000 }).toBeGreaterThan(born)
    const after = load.sent.length
    await expect.poll(() => load.sent.length).toBeGreaterThan(after + 50)
    await load.stop()
    expect(service.output()).toMatch(/"worker":0,"ended":\{"pid":\d+,"code":null,"signal":"SIGKILL"\},"againInMs":0/)
    // Only what it had in hand stays without an answer.
    const lost = load.sent.filter(({ status }) => status !== 200)
    expect(lost.length).toBeLessThanOrEqual(16)
    expect(lost.map(({ status }) => status).filter((status) => status !== undefined)).toEqual([])
    await expectExact(load.sent, loans)
  })

  it('kill -TERM of one under load: every request is answered, the service is ready, and it is replaced', async () => {
    const { authorization, loans } = await lendFrom(service, 20)
    const [, { pid, opsOrigin }] = service.workers as [unknown, ServiceProcess['workers'][0]]
    const born = await bornAt(opsOrigin)
    const load = startLoad({ origin: service.origin, authorization, loans, connections: 16 })
    await pause(500)
    process.kill(pid, 'SIGTERM')
    while (lives(pid)) {
      expect(await anew(`${service.origin}/health/ready`)).toBe(200)
      await pause(20)
    }
    await expect.poll(() => bornAt(opsOrigin), { timeout: 20_000 }).toBeGreaterThan(born)
    await load.stop()
    expect(outcomes(load.sent)).toEqual(['200'])
    await expectExact(load.sent, loans)
    expect(service.child.exitCode).toBeNull()
  })

  it('kill -TERM of the primary under load: none is ready, every request accepted is answered, all end', async () => {
    // Some callers keep their connections, others come anew for each request.
    const callers = await Promise.all(
      [true, false].map(async (keepAlive) => ({ keepAlive, ...(await lendFrom(service, 20)) })),
    )
    const loads = callers.map((caller) => startLoad({ origin: service.origin, connections: 20, ...caller }))
    await pause(1_000)
    service.child.kill('SIGTERM')
    await pause(200)
    for (const _ of [1, 2, 3, 4]) expect(await anew(`${service.origin}/health/ready`)).toBe(503)
    expect(await service.ended).toBe(0)
    for (const load of loads) await load.stop()
    const [kept, fresh] = loads.map(({ sent }) => sent) as [readonly Sent[], readonly Sent[]]
    expect(kept.length).toBeGreaterThan(100)
    expect(outcomes(kept)).toEqual(['200', 'ECONNREFUSED'])
    // What the kernel has accepted and no process yet is reset, unread, when the port closes: that is next to nothing.
    expect(fresh.filter(({ error }) => error === 'ECONNRESET').length).toBeLessThanOrEqual(2)
    expect(outcomes(fresh.filter(({ error }) => error !== 'ECONNRESET'))).toEqual(['200', 'ECONNREFUSED'])
    for (const [index, { loans }] of callers.entries()) await expectExact(loads[index]!.sent, loans)
    await allGone(service)
  })

  it('write whole lines, and each says whose it is', () => {
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
    const deps = await openService({ config: testConfig(), databaseUrl: database.url, now: Date.now, asItIs: true })
    const { code, json } = await opsOn({ deps })('book check --json')
    await deps.db.close()
    expect({ code, found: json.found, differences: json.differences }).toEqual({ code: 0, found: 0, differences: [] })
    expect(json.entries).toBeGreaterThan(500)
  })
})

describe('together', { timeout: 60_000 }, () => {
  it('Ctrl-C, which every process hears by itself: what is in work is answered, then the embedded database is stopped', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'mkopo-processes-'))
    await chmod(directory, 0o755)
    const embedded = { DATABASE_URL: '', KEY_ENCRYPTION_SECRET: '', SEED_DEMO: '', DATA_DIR: directory }
    const service = await start(embedded, { group: true })
    // Demonstration data, and tokens that both take, whoever issued them.
    const { authorization, loans } = await lendFrom(service, 2)
    const left = join(directory, 'database-url')
    const { pool, close } = openDatabase((await readFile(left, 'utf8')).trim())
    const client = await pool.connect()
    await client.query('BEGIN')
    await client.query('SELECT 1 FROM loan WHERE id = $1 FOR UPDATE', [loans[1]])
    const load = startLoad({ origin: service.origin, authorization, loans, connections: 1 })
    await pause(300)
    process.kill(-service.child.pid!, 'SIGINT')
    await pause(500)
    expect(service.child.exitCode).toBeNull()
    await client.query('COMMIT')
    client.release()
    await close()
    expect(await service.ended).toBe(0)
    await load.stop()
    expect(outcomes(load.sent)).toEqual(['200', 'ECONNREFUSED'])
    await allGone(service)
    await expect(stat(left)).rejects.toThrow('ENOENT')
    await rm(directory, { recursive: true, force: true, maxRetries: 20 })
  })

  it('told twice: all end at once', async () => {
    const service = await start({ STOP_GRACE_MS: '20000' })
    const began = performance.now()
    service.child.kill('SIGTERM')
    await pause(300)
    service.child.kill('SIGTERM')
    expect(await service.ended).toBe(130)
    expect(performance.now() - began).toBeLessThan(3_000)
    await allGone(service)
  })

  it('the primary killed under load: the others end by themselves, and what was acknowledged is on the book', async () => {
    const service = await start()
    const { authorization, loans } = await lendFrom(service, 20)
    const load = startLoad({ origin: service.origin, authorization, loans, connections: 16 })
    await pause(500)
    service.child.kill('SIGKILL')
    await allGone(service)
    await load.stop()
    expect(outcomes(load.sent)).toEqual(['200', 'ECONNREFUSED'])
    await expectExact(load.sent, loans)
  })
})

describe('a start', { timeout: 60_000 }, () => {
  const refused = (over: Record<string, string>) =>
    startNode(['src/main.ts'], {
      ...settings(),
      ...{ WEB_CONCURRENCY: '2', PORT: '0', OPS_PORT: '0', LOG_LEVEL: 'warn', ...over },
    }).ended

  it.each(['PORT', 'OPS_PORT'])('with a %s that is taken: one line that says which, once', async (setting) => {
    const { taken, port } = await take()
    // The second takes it.
    const first = setting === 'PORT' ? port : port - 1
    const { code, out, err } = await refused({ [setting]: String(first) })
    taken.close()
    expect({ code, out, err }).toEqual({
      code: 1,
      out: '',
      err: `mkopo could not start: ${setting}: ${port} on 127.0.0.1 is taken by another program; stop it, or set ${setting} to a free one\n`,
    })
  })

  it('with more connections than the embedded database has: one line that names both settings', async () => {
    expect(await refused({ DATABASE_URL: '', WEB_CONCURRENCY: '10' })).toMatchObject({
      code: 1,
      err: 'mkopo could not start: WEB_CONCURRENCY and DATABASE_CONNECTIONS: 10 × (20 connections and 1 that watches) are 210, and the embedded database has 190 for them; lower one, or set DATABASE_URL\n',
    })
  })
})

it('a worker that keeps dying is replaced after ever longer pauses', () => {
  expect([0, 1, 2, 3, 4, 5, 6, 40].map(pauseAfter)).toEqual([0, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
})

/** A port that is taken, with free ones below it, as far as can be known. */
async function take(): Promise<{ taken: Server; port: number }> {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  return { taken, port: (taken.address() as { port: number }).port }
}
