import { afterEach, describe, expect, it } from 'vitest'
import { unguarded } from '../../../src/api/limits/overload.ts'
import { createLimits, type Limits } from '../../../src/services/access/rateLimits.ts'
import { drain } from '../../../src/services/jobs/job.ts'
import { purgeJob } from '../../../src/services/jobs/serviceJobs.ts'
import { startService, type TestService } from '../../support/service.ts'
import { raw, toyApp } from '../toy.ts'

const get = (url: string, headers: Record<string, string> = {}) => ({
  method: 'GET' as const,
  url,
  headers: { host: 'api.localhost', ...headers },
})

describe('overload', () => {
  it('503 unavailable at once when the event loop is late; health is answered all the same', async () => {
    const app = await toyApp({}, { guard: { ...unguarded, lagMs: () => 501 } })
    const answer = await app.inject(get('/v1/customers'))
    expect({ status: answer.statusCode, again: answer.headers['retry-after'], body: answer.json() }).toEqual({
      status: 503,
      again: '1',
      body: { code: 'unavailable', message: 'the service is busy; try again' },
    })
    expect((await app.inject(get('/health/live'))).statusCode).toBe(200)
    expect((await app.inject(get('/health/ready'))).statusCode).toBe(200)
  })

  it('503 unavailable when too many requests are in work, and none once they are done', async () => {
    const service = await startService({ MAX_IN_FLIGHT: '10' })
    const from = (address: string) =>
      Array.from({ length: 5 }, () => service.app.inject({ ...get('/v1/auth/jwks'), remoteAddress: address }))
    const answers = await Promise.all(['10.0.0.1', '10.0.0.2', '10.0.0.3'].flatMap(from))
    const codes = answers.map(({ statusCode, json }) => (statusCode === 404 ? 'not_found' : json().code))
    expect(codes.filter((code) => code === 'not_found')).toHaveLength(10)
    expect(codes.filter((code) => code === 'unavailable')).toHaveLength(5)
    expect((await service.get('/v1/customers')).status).toBe(200)
    await service.close()
  })

  it('in the words of the style', async () => {
    const app = await toyApp({}, { guard: { ...unguarded, reachable: () => false } })
    const answer = await app.inject(get('/v1/borrowers', { host: 'records.localhost' }))
    expect(answer.json()).toEqual({
      success: false,
      code: 'unavailable',
      message: 'the database cannot be reached or takes no changes; try again',
    })
    expect((await app.inject(get('/openapi.json'))).statusCode).toBe(200)
  })
})

describe('a stop that has begun', () => {
  it('is not ready and serves; once nothing is accepted, it closes each connection after its answer', async () => {
    let draining = false
    const app = await toyApp({}, { guard: { ...unguarded, stopping: () => true, draining: () => draining } })
    const ask = async () => {
      const { statusCode, headers } = await app.inject(get('/v1/customers'))
      return [statusCode, headers.connection]
    }
    expect((await app.inject(get('/health/ready'))).statusCode).toBe(503)
    expect(await ask()).toEqual([200, 'keep-alive'])
    draining = true
    expect(await ask()).toEqual([200, 'close'])
  })

  it('also after a refusal, with a body or without', async () => {
    const app = await toyApp({}, { guard: { ...unguarded, draining: () => true } })
    const at = await app.listen({ port: 0, host: '127.0.0.1' })
    const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' }
    for (const [path, options, status] of [
      ['/v1/nothing', {}, 404],
      ['/v1/nothing', json, 404],
      ['/v1/loans/1/close', json, 400],
    ] as const) {
      const answer = await fetch(`${at}${path}`, options)
      expect([path, answer.status, answer.headers.get('connection')]).toEqual([path, status, 'close'])
    }
    await app.close()
  })
})

describe('slow callers', () => {
  it('headers or a body that do not come in time: answered, and closed', async () => {
    const app = await toyApp({ REQUEST_TIMEOUT_MS: '600' })
    await app.listen({ port: 0, host: '127.0.0.1' })
    const address = app.server.address()
    const port = typeof address === 'object' ? address!.port : 0
    expect(await raw(port, 'GET /v1/customers HTTP/1.1\r\nhost: api.loc')).toMatch(/^HTTP\/1.1 400 .*took too long/s)
    const half = 'POST /v1/loans/1/close HTTP/1.1\r\nhost: api.localhost\r\ncontent-type: application/json\r\n'
    expect(await raw(port, `${half}content-length: 100\r\n\r\n{"note":`)).toMatch(/^HTTP\/1.1 400 /)
    expect(await raw(port, '')).toMatch(/^HTTP\/1.1 400 /)
    await app.close()
  })
})

describe('security headers', () => {
  it('are on every answer, also on a refusal', async () => {
    const app = await toyApp()
    for (const url of ['/v1/customers', '/v1/nothing', '/v1/fail/bug'])
      expect((await app.inject(get(url))).headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      })
    expect((await app.inject(get('/v1/customers'))).headers).not.toHaveProperty('strict-transport-security')
    const secure = await toyApp({ BASE_URL: 'https://api.localhost' })
    expect((await secure.inject(get('/v1/customers'))).headers['strict-transport-security']).toMatch(/^max-age=\d{8}/)
  })

  it('the reference has a content policy that lets it load itself', async () => {
    const page = await (await toyApp()).inject(get('/docs/'))
    expect(page.headers['content-security-policy']).toMatch(/default-src 'self'/)
  })
})

describe('rate limits', () => {
  let service: TestService
  const all: Limits[] = []
  afterEach(async () => {
    for (const limits of all.splice(0)) await limits.stop()
    await service.close()
  })
  const withLimits = async (settings: Record<string, string>) => {
    service = await startService({ RATE_LIMIT_ACCOUNT: '0', RATE_LIMIT_ADDRESS: '0', ...settings })
    const limits = createLimits(service.deps)
    all.push(limits)
    return limits
  }
  const asPartner = () => get('/v1/customers', { authorization: `Bearer ${service.tokens.partner}` })

  it("429 by address has the style's own headers, though its hooks come after", async () => {
    const limits = await withLimits({ RATE_LIMIT_ADDRESS: '1' })
    const { buildApp } = await import('../../../src/app/app.ts')
    const app = await buildApp(service.deps, { limits })
    const ask = () => app.inject({ method: 'GET', url: '/v1/borrowers', headers: { host: 'records.localhost:3000' } })
    await ask()
    const refused = await ask()
    expect(refused.statusCode).toBe(429)
    expect(refused.json()).toMatchObject({ success: false, code: 'resource_exhausted' })
    expect(refused.headers['x-api-version']).toBe('1.2')
  })

  it('429 resource_exhausted with Retry-After and the standard headers, until the minute is over', async () => {
    const limits = await withLimits({ RATE_LIMIT_ACCOUNT: '3', RATE_LIMIT_ADDRESS: '100' })
    const { buildApp } = await import('../../../src/app/app.ts')
    const app = await buildApp(service.deps, { limits })
    service.clock.stand('2026-02-01T10:00:15+03:00', 'machine')
    const first = await app.inject(asPartner())
    expect(first.headers).toMatchObject({
      'ratelimit-limit': '3',
      'ratelimit-remaining': '2',
      'ratelimit-reset': '45',
      'ratelimit-policy': '3;w=60',
    })
    await app.inject(asPartner())
    await app.inject(asPartner())
    const refused = await app.inject(asPartner())
    expect({ status: refused.statusCode, body: refused.json(), headers: refused.headers }).toMatchObject({
      status: 429,
      body: {
        code: 'resource_exhausted',
        message: 'more than 3 requests a minute from this account; try again in 45 s',
      },
      headers: { 'retry-after': '45', 'ratelimit-remaining': '0' },
    })
    // Another account, and health, are none of this.
    const other = {
      ...asPartner(),
      headers: { ...asPartner().headers, authorization: `Bearer ${service.tokens.operator}` },
    }
    expect((await app.inject(other)).statusCode).toBe(200)
    expect((await app.inject(get('/health/ready'))).statusCode).toBe(200)
    service.clock.stand('2026-02-01T10:01:00+03:00', 'machine')
    expect((await app.inject(asPartner())).statusCode).toBe(200)
  })

  it('an address is limited before it is asked who it is; of IPv6 a network of 64 bits', async () => {
    const limits = await withLimits({ RATE_LIMIT_ADDRESS: '2' })
    const { buildApp } = await import('../../../src/app/app.ts')
    const app = await buildApp(service.deps, { limits })
    const from = (remoteAddress: string) => app.inject({ ...get('/v1/customers'), remoteAddress })
    const statuses = async (...addresses: string[]) => {
      const answers = []
      for (const address of addresses) answers.push((await from(address)).statusCode)
      return answers
    }
    expect(await statuses('10.0.0.1', '::ffff:10.0.0.1', '10.0.0.1', '10.0.0.2')).toEqual([401, 401, 429, 401])
    expect(await statuses('2001:db8::1', '2001:db8:0:0:ff::2', '2001:0db8::3', '2001:db8:0:1::1')).toEqual([
      401, 401, 429, 401,
    ])
  })

  it('two instances share them: within a tenth of the limit each, and exactly once both have reported', async () => {
    const one = await withLimits({ RATE_LIMIT_ACCOUNT: '100' })
    const other = createLimits(service.deps)
    all.push(other)
    const takes = (limits: Limits, count: number) => {
      let allowed = 0
      for (let index = 0; index < count; index++) if (limits.take('account', '1/1')?.allowed) allowed++
      return allowed
    }
    expect(takes(one, 60)).toBe(60)
    await one.share()
    await one.share()
    // The other learns of them with its first sharing, which a tenth of the limit sets off.
    expect(takes(other, 10)).toBe(10)
    await other.share()
    expect(takes(other, 100)).toBe(30)
    // Requests during the first report go into a second one.
    await other.share()
    await other.share()
    expect(takes(one, 1)).toBe(1)
    await one.share()
    expect(takes(one, 50)).toBe(0)
    expect(takes(other, 50)).toBe(0)
  })

  it('while the database is away each instance counts alone', async () => {
    const limits = await withLimits({ RATE_LIMIT_ACCOUNT: '10' })
    service.deps.db.setGone(true)
    let allowed = 0
    for (let index = 0; index < 25; index++) {
      if (limits.take('account', '1/1')?.allowed) allowed++
      await limits.share()
    }
    expect(allowed).toBe(10)
    service.deps.db.setGone(false)
  })

  it('forgets every counter of a minute that is over, however many addresses it had', async () => {
    await withLimits({ RATE_LIMIT_ADDRESS: '10' })
    const { pool } = service.deps.db
    const count = (addresses: number, expires: number) =>
      pool.query(
        `INSERT INTO rate_limit SELECT $2::bigint || ' ' || n, 1, $2::bigint FROM generate_series(1, $1::int) n`,
        [addresses, expires],
      )
    const now = service.clock.now()
    await count(12_000, now + 30_000)
    await count(7, now + 90_000)
    service.clock.set(new Date(now + 60_000).toISOString())
    await drain(purgeJob(service.deps))
    // Those of sign-ins are kept for longer.
    const left = await pool.query(`SELECT count(*)::int AS left FROM rate_limit WHERE key NOT LIKE 'sign%in%'`)
    expect(left.rows).toEqual([{ left: 7 }])
  })

  it('none where the setting is 0', async () => {
    const limits = await withLimits({})
    expect(limits.take('account', '1/1')).toBeUndefined()
  })
})
