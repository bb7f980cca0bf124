import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEMO_PARTNER } from '../../src/services/organizations/seedDemo.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { freePort } from '../support/freePort.ts'
import { startLoad } from '../support/load.ts'
import { within } from '../support/patience.ts'
import { type ServiceProcess, startProcess } from '../support/process.ts'

// deploy/haproxy.cfg in front of two instances, where HAProxy is installed; only addresses differ.
const installed = spawnSync('haproxy', ['-v']).status === 0
const HOSTS = {
  AUTH_URL: 'http://auth.localhost',
  BASE_URL: 'http://127.0.0.1',
  RECORDS_URL: 'https://Records.Localhost',
}

let directory: string
let database: FreshDatabase
let proxy: ChildProcess
let port: number
let output = ''
const instances: ServiceProcess[] = []

beforeAll(async () => {
  if (!installed) return
  directory = await mkdtemp(join(tmpdir(), 'mkopo-proxy-'))
  database = await freshDatabase()
  for (const _ of [1, 2]) instances.push(await start())
  port = await freePort()
  let text = await readFile(new URL('../../deploy/haproxy.cfg', import.meta.url), 'utf8')
  text = text.replace('bind :8080', `bind 127.0.0.1:${port}`).replace('127.0.0.1:8404', `127.0.0.1:${await freePort()}`)
  for (const [index, { origin }] of instances.entries())
    text = text.replaceAll(`mkopo-${index + 1}:3000`, new URL(origin).host)
  const file = join(directory, 'haproxy.cfg')
  await writeFile(file, text)
  proxy = spawn('haproxy', ['-db', '-f', file], { env: { PATH: process.env.PATH, ...HOSTS } })
  for (const stream of [proxy.stdout, proxy.stderr]) stream?.on('data', (chunk) => (output += chunk))
  for (
    let waited = 0;
    (await ask('127.0.0.1', '/health/ready').catch(() => undefined))?.status !== 200;
    waited += 100
  ) {
    if (waited > 20_000 || proxy.exitCode !== null) throw new Error(`the proxy did not start: ${output}`)
    await pause(100)
  }
  // Until then those are asked that live, and both do from the start.
  await pause(1_500)
}, within(90_000))

afterAll(async () => {
  if (!installed) return
  proxy.kill('SIGKILL')
  for (const { child } of instances) child.kill('SIGKILL')
  await database.drop()
  await rm(directory, { recursive: true, force: true })
})

const start = () =>
  startProcess({
    DATABASE_URL: database.serviceUrl,
    KEY_ENCRYPTION_SECRET: 'a secret of the tests',
    SEED_DEMO: 'true',
    TRUST_PROXY: '1',
    FALLBACK_STYLE: 'none',
    ...HOSTS,
  })

async function ask(host: string, path: string, options: { method?: string; body?: object; headers?: object } = {}) {
  const body = options.body && JSON.stringify(options.body)
  const headers = { host, ...(body && { 'content-type': 'application/json' }), ...options.headers }
  const sending = request({ host: '127.0.0.1', port, path, method: options.method ?? 'GET', headers, agent: false })
  sending.end(body)
  const [response] = await once(sending, 'response')
  let text = ''
  for await (const chunk of response) text += chunk
  return { status: response.statusCode as number, json: JSON.parse(text) }
}

describe.skipIf(!installed)('two instances behind the proxy', { timeout: within(90_000) }, () => {
  it('has a line for each request: whose address, which status, and the id under which the service logs it', async () => {
    const id = 'line-of-the-proxy'
    await ask('127.0.0.1', '/v1/nothing-of-that-name', { headers: { 'x-request-id': id } })
    await expect.poll(() => output, { timeout: within(5_000) }).toContain(id)
    const line = output.split('\n').find((one) => one.includes(id))
    expect(line).toMatch(/127\.0\.0\.1:\d+ .* 404 .*"GET \/v1\/nothing-of-that-name HTTP\/1\.1"/)
  })

  it.each([
    ['auth.localhost', 'Mkopo: tokens'],
    ['127.0.0.1:3000', 'Mkopo: partner API'],
    ['RECORDS.localhost.', 'Mkopo: record API'],
  ])('%s is routed to its style', async (host, title) => {
    const headers = { 'x-forwarded-host': 'auth.localhost' }
    expect((await ask(host, '/openapi.json', { headers })).json.info.title).toBe(title)
  })

  it('any other host ends at the proxy', async () => {
    expect(await ask('elsewhere.localhost', '/health/ready')).toEqual({
      status: 404,
      json: { code: 'not_found', message: 'no such host' },
    })
  })

  it('kill -TERM of one under load: every request is answered, and the book is exact', async () => {
    const basic = Buffer.from(`${DEMO_PARTNER.email}:${DEMO_PARTNER.password}`).toString('base64')
    const token = await ask('auth.localhost', '/v1/auth/token', { headers: { authorization: `Basic ${basic}` } })
    const authorization = `Bearer ${token.json.token}`
    const post = (path: string, body: object) =>
      ask('127.0.0.1', path, { method: 'POST', body, headers: { authorization } })
    await post('/v1/customers', { externalId: 'asha' })
    const loans: string[] = []
    while (loans.length < 20)
      loans.push((await post('/v1/loans', { customerId: 'asha', productId: 1, principal: 1_000_000 })).json.id)

    const origin = `http://127.0.0.1:${port}`
    const load = startLoad({ origin, authorization, loans, connections: 16, everyMs: 20 })
    await pause(1_500)
    instances[0]!.child.kill('SIGTERM')
    expect(await instances[0]!.ended).toBe(0)
    const after = load.sent.length
    await pause(1_000)
    await load.stop()

    expect(load.sent.length).toBeGreaterThan(after + 20)
    expect(new Set(load.sent.map(({ status, error }) => status ?? error))).toEqual(new Set([200]))
    const { rows } = await database.db.pool.query('SELECT token FROM loan_entry WHERE loan_id = ANY($1)', [loans])
    expect(rows.map(({ token }) => token).sort()).toEqual(load.sent.map(({ token }) => token).sort())
  })

  it('kill -TERM of the last: its own words while it goes on, then those of the proxy', async () => {
    instances[1]!.child.kill('SIGTERM')
    await pause(2_000)
    expect((await ask('127.0.0.1', '/health/ready')).json).toEqual({
      code: 'unavailable',
      message: 'the service is stopping',
    })
    expect(await instances[1]!.ended).toBe(0)
    expect(await ask('127.0.0.1', '/v1/loan-products')).toEqual({
      status: 503,
      json: { code: 'unavailable', message: 'no instance can be reached; try again' },
    })
  })
})
