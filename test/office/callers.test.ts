import type { FastifyInstance } from 'fastify'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { explain } from '../../src/app/explain.ts'
import { createMetrics } from '../../src/observability/metrics.ts'
import { rememberRecent } from '../../src/office/recent.ts'
import { buildMonitor } from '../../src/office/server.ts'
import { createTotals } from '../../src/services/book/totals.ts'
import { type Served, serveHere } from '../support/served.ts'
import { startService, type TestService, testConfig } from '../support/service.ts'

const METRICS_TOKEN = 'a-token-of-the-tests'

let service: TestService
const monitors: FastifyInstance[] = []
beforeAll(async () => {
  service = await startService({ OPS_HOST: 'ops.lender.internal', OPS_NAMES: 'Mkopo-1, mkopo' })
})
afterAll(async () => {
  await Promise.all(monitors.map((monitor) => monitor.close()))
  await service.close()
})

function monitorWith(metricsToken?: string): FastifyInstance {
  const deps = { ...service.deps, config: { ...service.deps.config, metricsToken } }
  const { machineNow: now } = deps
  const totals = createTotals(deps)
  const log = { error: () => expect.unreachable() }
  const monitor = buildMonitor({ deps, metrics: createMetrics(now), recent: rememberRecent(now), totals, log })
  monitors.push(monitor)
  return monitor
}

describe("the operators' port, by the host that is called", () => {
  it.each([
    ...[
      'localhost',
      'LOCALHOST:3001',
      'localhost.',
      'mkopo.localhost:3001',
      '127.0.0.1:3001',
      '127.9.9.9',
      '[::1]:3001',
    ],
    ...['10.0.3.4:3001', '[fd00::7]', 'ops.lender.internal:3001', 'OPS.lender.internal.', 'mkopo-1:3001', 'mkopo'],
  ])('answers for %s', async (host) => {
    expect((await monitorWith().inject({ url: '/metrics', headers: { host } })).statusCode).toBe(200)
  })

  it.each([
    ...['evil.example', 'evil.example:3001', 'localhost.evil.example', '127.0.0.1.evil.example', '10.0.0.1.nip.io'],
    ...['mkopo-10', 'user@localhost', 'localhost:3001:80', '[::1', '::1', 'evil.example, localhost'],
  ])('does not answer for "%s", on no path: a page elsewhere cannot read it by a name of its own', async (host) => {
    const monitor = monitorWith()
    for (const url of ['/metrics', '/', '/loans/1', '/style.css', '/nothing']) {
      const { statusCode, body, headers } = await monitor.inject({ url, headers: { host } })
      expect([url, statusCode]).toEqual([url, 421])
      expect(body).toContain('does not answer for that host name: call it by an address, or add the name to OPS_NAMES')
      expect(body).not.toContain('mkopo_')
      expect(headers['cache-control']).toBe('no-store')
      expect(headers).not.toHaveProperty('www-authenticate')
    }
  })
})

describe('the metrics', () => {
  const read = async (monitor: FastifyInstance, authorization?: string) => {
    const answer = await monitor.inject({
      url: '/metrics',
      headers: authorization === undefined ? {} : { authorization },
    })
    return { status: answer.statusCode, body: answer.body, asked: answer.headers['www-authenticate'] }
  }

  it('are for everybody who reaches the port, where METRICS_TOKEN is not set', async () => {
    expect(await read(monitorWith())).toMatchObject({ status: 200, body: expect.stringContaining('# TYPE mkopo_') })
    expect((await read(monitorWith(), 'Bearer whatever')).status).toBe(200)
  })

  it('are for those who send the token, where it is set', async () => {
    for (const scheme of ['Bearer', 'bearer'])
      expect(await read(monitorWith(METRICS_TOKEN), `${scheme} ${METRICS_TOKEN}`)).toMatchObject({
        status: 200,
        body: expect.stringContaining('# TYPE mkopo_'),
      })
  })

  it.each([
    [undefined, 'The metrics are behind a token'],
    ['', 'The metrics are behind a token'],
    [METRICS_TOKEN, 'The metrics are behind a token'],
    [`Basic ${METRICS_TOKEN}`, 'The metrics are behind a token'],
    ['Bearer ', 'The metrics are behind a token'],
    [`Bearer ${METRICS_TOKEN}x`, 'This is not the token of METRICS_TOKEN'],
    [`Bearer ${METRICS_TOKEN.slice(0, -1)}`, 'This is not the token of METRICS_TOKEN'],
    [`Bearer ${METRICS_TOKEN.toUpperCase()}`, 'This is not the token of METRICS_TOKEN'],
  ])('answer 401 and the reason to %j', async (authorization, why) => {
    const { status, body, asked } = await read(monitorWith(METRICS_TOKEN), authorization)
    expect(status).toBe(401)
    expect(body).toContain(why)
    expect(body).not.toContain(METRICS_TOKEN)
    expect(body).not.toContain('# TYPE')
    expect(asked).toBe('Bearer realm="Mkopo metrics"')
  })

  it('leave the pages to e-mail and password', async () => {
    const { statusCode, headers } = await monitorWith(METRICS_TOKEN).inject({
      url: '/',
      headers: { authorization: `Bearer ${METRICS_TOKEN}` },
    })
    expect(statusCode).toBe(303)
    expect(headers.location).toBe('/sign-in?next=%2F')
  })
})

describe('OPS_HOST', () => {
  let served: Served | undefined
  const start = async (settings: Record<string, string>) => {
    served = await serveHere(testConfig({ DATABASE_URL: service.url, PORT: '0', OPS_PORT: '0', ...settings }))
    return served
  }
  afterEach(async () => {
    await served?.stop()
    served = undefined
  })

  // Elsewhere a machine has one address of loopback.
  const onLinux = it.skipIf(process.platform !== 'linux')

  onLinux('is this machine alone, also where HOST is not', async () => {
    const { origin, opsOrigin } = await start({ HOST: '0.0.0.0' })
    expect(new URL(opsOrigin).hostname).toBe('127.0.0.1')
    const { port } = new URL(opsOrigin)
    // Another address of this machine: callers reach it, operators' pages do not.
    expect((await fetch(`http://127.0.0.2:${new URL(origin).port}/health/live`)).status).toBe(200)
    await expect(fetch(`http://127.0.0.2:${port}/metrics`)).rejects.toThrow()
  })

  onLinux('is where operators are listened for, with the token', async () => {
    const { opsOrigin } = await start({ OPS_HOST: '127.0.0.2', METRICS_TOKEN })
    expect(new URL(opsOrigin).hostname).toBe('127.0.0.2')
    expect((await fetch(`${opsOrigin}/metrics`)).status).toBe(401)
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
    expect((await fetch(`${opsOrigin}/metrics`, { headers })).status).toBe(200)
  })

  it('that is not an address of this machine stops the start, in a line that names it', async () => {
    const why = await start({ OPS_HOST: '192.0.2.1' }).then(() => 'none', explain)
    expect(why).toBe('OPS_HOST: 192.0.2.1 is not an address of this machine')
  })
})
