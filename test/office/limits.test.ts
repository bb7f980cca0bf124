import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { unguarded } from '../../src/api/limits/overload.ts'
import { rememberRecent } from '../../src/office/recent.ts'
import { buildMonitor, MOST_REST_MS, type MonitorDeps } from '../../src/office/server.ts'
import type { Limits } from '../../src/services/access/rateLimits.ts'
import { DEMO_AUDITOR, DEMO_OPERATOR } from '../../src/services/organizations/seedDemo.ts'
import { openOffice } from '../support/office.ts'
import { startService, type TestService } from '../support/service.ts'

// The limits of the operators' port.

const MOST_CONNECTIONS = 10

let service: TestService
const monitors: FastifyInstance[] = []
beforeAll(async () => {
  service = await startService({ MAX_IN_FLIGHT: '12', MAX_CONNECTIONS: String(MOST_CONNECTIONS) })
})
afterEach(() => Promise.all(monitors.splice(0).map((monitor) => monitor.close())))
afterAll(() => service.close())

let computed = 0
/** Metrics that count how often they are computed, and are held until `release`. */
const metrics = {
  held: false,
  release: () => {},
  async page() {
    computed++
    if (this.held)
      await new Promise<void>((resolve) => {
        this.release = resolve
      })
    return { type: 'text/plain', text: `# page ${computed}\n` }
  },
}

function monitorWith(options: Partial<MonitorDeps> = {}): FastifyInstance {
  const { deps } = service
  const recent = rememberRecent(deps.machineNow)
  const log = { error: (context: object) => expect.unreachable(String((context as { err: Error }).err?.stack)) }
  const monitor = buildMonitor({ deps, metrics, recent, totals: { latest: () => [] }, log, ...options })
  monitors.push(monitor)
  return monitor
}

const from = (remoteAddress: string, url = '/metrics') => ({ url, remoteAddress })

describe('the pages of one session', () => {
  it('are built two at once; a few wait, and the others are refused; pages of another person are built', async () => {
    const config = { ...service.deps.config, maxInFlight: 1_000 }
    const office = openOffice({ ...service.deps, config })
    await office.look('/')
    await office.look('/customers', DEMO_AUDITOR)
    // The place of a page rests for as long as the page took, and at most this long.
    await pause(MOST_REST_MS)
    const statuses: number[] = []
    const look = async () => statuses.push((await office.look('/products')).status)
    const holder = await service.owner.pool.connect()
    let answers: Promise<unknown>[] = []
    try {
      await holder.query('BEGIN; LOCK TABLE loan_product')
      answers = Array.from({ length: 12 }, look)
      await expect.poll(() => statuses).toEqual([429, 429])
      expect((await office.look('/customers', DEMO_AUDITOR)).status).toBe(200)
    } finally {
      await holder.query('ROLLBACK')
      holder.release()
      await Promise.all(answers)
    }
    expect(statuses).toEqual([429, 429, ...Array(10).fill(200)])
    await office.monitor.close()
  })
})

describe('requests in work', () => {
  it('503 when the event loop is late; the metrics are answered all the same', async () => {
    const monitor = monitorWith({ guard: { ...unguarded, lagMs: () => 60_001 } })
    const { statusCode, headers, body } = await monitor.inject('/sign-in')
    expect([statusCode, headers['retry-after']]).toEqual([503, '1'])
    expect(body).toContain('the service is busy; try again')
    expect((await monitor.inject('/metrics')).statusCode).toBe(200)
  })

  it('503 without a try where the database is gone', async () => {
    const monitor = monitorWith({ guard: { ...unguarded, reachable: () => false } })
    expect((await monitor.inject('/')).statusCode).toBe(503)
    expect((await monitor.inject('/metrics')).statusCode).toBe(200)
    expect((await monitor.inject('/style.css')).statusCode).toBe(200)
  })

  it('429 for an address that holds half of the places without a session', async () => {
    const monitor = monitorWith()
    const statuses = await Promise.all(Array.from({ length: 8 }, () => monitor.inject(from('10.0.0.1', '/sign-in'))))
    expect(statuses.filter(({ statusCode }) => statusCode === 429)).toHaveLength(2)
    expect((await monitor.inject(from('10.0.0.1', '/sign-in'))).statusCode).toBe(200)
  })
})

describe('rates', () => {
  it('429 by address and by account, with what is left', async () => {
    const taken: string[] = []
    let allowed = true
    const limits: Limits = {
      take(by, key) {
        taken.push(`${by} ${key}`)
        return { allowed: allowed || by === 'address', limit: 5, remaining: 0, reset: 7, window: 60 }
      },
      share: async () => {},
      stop: async () => {},
    }
    const monitor = monitorWith({ limits })
    const office = openOffice(service.deps)
    const cookie = await office.signIn(DEMO_OPERATOR)
    await office.monitor.close()
    const ask = () => monitor.inject({ ...from('10.0.0.9', '/'), headers: { cookie } })
    expect((await ask()).statusCode).toBe(200)
    const { accountId } = await service.deps.signIn.identify(service.tokens.operator)
    expect(taken).toEqual(['address 10.0.0.9', `account 1/${accountId}`])
    allowed = false
    const { statusCode, headers } = await ask()
    expect([statusCode, headers['retry-after'], headers['ratelimit-limit']]).toEqual([429, '7', '5'])
  })
})

describe('connections', () => {
  it('are as many as MAX_CONNECTIONS says', async () => {
    const monitor = monitorWith()
    await monitor.listen({ port: 0, host: '127.0.0.1' })
    const { port } = monitor.server.address() as AddressInfo
    const sockets: Socket[] = []
    const dropped = once(monitor.server, 'drop')
    while (sockets.length <= MOST_CONNECTIONS) {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => {})
      sockets.push(socket)
      await once(socket, 'connect')
    }
    await dropped
    for (const socket of sockets) socket.destroy()
  })
})

describe('the metrics', () => {
  it('are computed once for all who ask at once, and kept for a second', async () => {
    const monitor = monitorWith()
    computed = 0
    metrics.held = true
    const both = ['10.0.0.1', '10.0.0.2'].map((address) => monitor.inject(from(address)))
    await expect.poll(() => computed).toBe(1)
    metrics.held = false
    metrics.release()
    expect((await Promise.all(both)).map(({ body }) => body)).toEqual(['# page 1\n', '# page 1\n'])
    await expect.poll(async () => (await monitor.inject(from('10.0.0.3'))).body).toBe('# page 2\n')
  })

  it('are answered to an address one at a time; two more wait, and another address is answered', async () => {
    const monitor = monitorWith()
    metrics.held = true
    const flood = Array.from({ length: 8 }, () => monitor.inject(from('10.0.0.1')))
    const other = monitor.inject(from('10.0.0.2'))
    let refused = 0
    for (const one of flood) void one.then(({ statusCode }) => (refused += Number(statusCode === 429)))
    await expect.poll(() => refused).toBe(5)
    metrics.held = false
    metrics.release()
    expect((await other).statusCode).toBe(200)
    const statuses = (await Promise.all(flood)).map(({ statusCode }) => statusCode)
    expect(statuses.filter((status) => status === 200)).toHaveLength(3)
  })
})
