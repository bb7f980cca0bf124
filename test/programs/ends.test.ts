import { chmod, mkdtemp, rm, stat } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findLeftUrls } from '../../src/db/embedded/embedded.ts'
import { pauseAfter } from '../../src/process/workerPool.ts'
import { endChildren, startNode } from '../support/children.ts'
import { type FreshDatabase, freshDatabase, openPatiently } from '../support/database.ts'
import { answeredBy, expectExact, foundGone, outcomes, startLoad } from '../support/load.ts'
import { within } from '../support/patience.ts'
import {
  allGone,
  expectEndAtOnce,
  lendFrom,
  type ServiceProcess,
  startProcess,
  untilInWork,
} from '../support/process.ts'

const SECRET = 'a secret of the tests'

let database: FreshDatabase
const started: ServiceProcess[] = []
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(async () => {
  for (const { child } of started) {
    child.kill('SIGKILL')
    try {
      process.kill(-child.pid!, 'SIGKILL')
    } catch {
      // It leads no group, or all of it has ended, as it should.
    }
  }
  await endChildren()
  await database.drop()
})

const settings = () => ({ DATABASE_URL: database.serviceUrl, KEY_ENCRYPTION_SECRET: SECRET, SEED_DEMO: 'true' })

async function start(over: Record<string, string> = {}, options = {}): Promise<ServiceProcess> {
  const service = await startProcess(
    { ...settings(), WEB_CONCURRENCY: '2', STOP_GRACE_MS: String(within(300)), ...over },
    options,
  )
  started.push(service)
  return service
}

describe('together', () => {
  it('npm start and Ctrl-C, which npm passes on and every process gets: what is in work is answered, then the embedded database is stopped', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'mkopo-processes-'))
    await chmod(directory, 0o755)
    const embedded = { DATABASE_URL: '', KEY_ENCRYPTION_SECRET: '', SEED_DEMO: '', DATA_DIR: directory }
    const service = await start(embedded, { group: true, npm: true })
    // Demonstration data, and tokens that both accept, from either issuer.
    const { authorization, loans } = await lendFrom(service, 2)
    const left = join(directory, 'database-url')
    const { pool, close } = openPatiently((await findLeftUrls(directory))!.url)
    const client = await pool.connect()
    await client.query('BEGIN')
    await client.query('SELECT 1 FROM loan WHERE id = $1 FOR UPDATE', [loans[1]])
    const load = startLoad({ origin: service.origin, authorization, loans, connections: 1 })
    await untilInWork(service, 1)
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

  it('a second signal: all end at once', async () => {
    const service = await start({ STOP_GRACE_MS: '20000' })
    await expectEndAtOnce(service)
    await allGone(service)
  })

  it('the primary killed under load: the others end by themselves, and what was acknowledged is on the book', async () => {
    const service = await start()
    const { authorization, loans } = await lendFrom(service, 20)
    const load = startLoad({ origin: service.origin, authorization, loans, connections: 16, everyMs: 40 })
    await answeredBy(load, 150)
    service.child.kill('SIGKILL')
    await allGone(service)
    await foundGone(load)
    await load.stop()
    expect(outcomes(load.sent)).toEqual(['200', 'ECONNREFUSED'])
    await expectExact(database.db, load.sent, loans)
  })
})

describe('a start', () => {
  const refused = (over: Record<string, string>) =>
    startNode(['src/app/main.ts'], {
      ...settings(),
      // What the log warns of, the test server's fsync, is no part of it.
      ...{ WEB_CONCURRENCY: '2', PORT: '0', OPS_PORT: '0', LOG_LEVEL: 'error', ...over },
    }).ended

  it.each(['PORT', 'OPS_PORT'])('with a %s that is taken: one line that names it, once', async (setting) => {
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

/** A port that is taken, with a free one below it: none of those that the system gives to connections, and to servers that name none. */
async function take(): Promise<{ taken: Server; port: number }> {
  for (let port = 20_001 + 2 * (process.pid % 4_000); ; port += 2) {
    const [taken, below] = [await listening(port), await listening(port - 1)]
    below?.close()
    if (taken && below) return { taken, port }
    taken?.close()
  }
}

/** A server at a port; undefined where the port is taken. */
const listening = (port: number): Promise<Server | undefined> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined)).listen(port, '127.0.0.1', () => resolve(server))
  })
