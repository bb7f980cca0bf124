import type { AddressInfo } from 'node:net'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { raw, toyApp } from './toy.ts'

const AUTH = 'auth.localhost'
const PARTNER = 'api.localhost:3000'
const RECORD = 'records.localhost'

/** The status and body of a request to a host. */
const asker =
  (app: () => FastifyInstance) =>
  async (host: string, url: string, options: InjectOptions = {}) => {
    const response = await app().inject({ url, ...options, headers: { host, ...options.headers } })
    expect(response.headers['x-request-id']).toMatch(/^[\w.-]{1,100}$/)
    if (!url.includes('~')) expect(response.payload).not.toContain('/~')
    return { status: response.statusCode, body: response.json(), headers: response.headers }
  }

describe('a host selects its style', () => {
  let app: FastifyInstance
  beforeAll(async () => {
    app = await toyApp()
  })
  afterAll(() => app.close())
  const ask = asker(() => app)

  test.each([
    ['api.localhost', 'partner'],
    ['api.localhost:9999', 'partner'],
    ['API.LocalHost:3000', 'partner'],
    ['api.localhost.', 'partner'],
    ['records.localhost:3000', 'record'],
    ['RECORDS.LOCALHOST', 'record'],
  ])('%s serves /v1/loans in the %s style', async (host, style) => {
    expect((await ask(host, '/v1/loans')).body).toEqual({ style })
  })

  test('a path of another style is 404 there', async () => {
    expect(await ask(PARTNER, '/v1/borrowers')).toMatchObject({ status: 404, body: { code: 'not_found' } })
    expect(await ask(RECORD, '/v1/auth/token')).toMatchObject({
      status: 404,
      body: { code: 'not_found', success: false },
    })
  })

  test('the inside prefix of a style is no path', async () => {
    expect((await ask(PARTNER, '/~partner/v1/loans')).status).toBe(404)
    expect((await ask('localhost', '/~record/v1/loans')).status).toBe(404)
    expect((await ask('localhost', '/%7Epartner/v1/loans')).status).toBe(404)
  })

  test('X-Forwarded-Host counts for nothing unless the proxy is trusted', async () => {
    expect((await ask(PARTNER, '/v1/loans', { headers: { 'x-forwarded-host': RECORD } })).body).toEqual({
      style: 'partner',
    })
  })

  test.each([['/v1/loans', 'partner']])(
    'on a host that no setting names, %s goes to the fallback style',
    async (path, style) => {
      expect((await ask('localhost:3000', path)).body).toEqual({ style })
    },
  )

  test('on a host that no setting names, a path that one style has goes to that style', async () => {
    expect((await ask('192.168.0.7:3000', '/v1/borrowers')).body).toEqual({ items: [] })
    expect((await ask('[::1]:3000', '/v1/auth/token')).body).toEqual({ token: 'a' })
    expect((await ask('localhost', '/v1/loans/7')).body).toEqual({ id: '7' })
  })

  test('record-style answers carry x-api-version, refusals too', async () => {
    expect((await ask(RECORD, '/v1/borrowers')).headers['x-api-version']).toBe('1.2')
    expect((await ask(RECORD, '/v1/nothing')).headers['x-api-version']).toBe('1.2')
    expect((await ask(RECORD, '/%zz')).headers['x-api-version']).toBe('1.2')
    expect((await ask(PARTNER, '/v1/loans')).headers['x-api-version']).toBeUndefined()
  })

  const words = [
    [AUTH, {}],
    [PARTNER, {}],
    [RECORD, { success: false }],
    ['localhost', {}],
  ] as const

  test.each(words)('%s: 404 not_found for an unknown path', async (host, own) => {
    const { status, body } = await ask(host, '/v1/nothing?x=1')
    expect({ status, body }).toEqual({
      status: 404,
      body: { ...own, code: 'not_found', message: 'no such path: GET /v1/nothing' },
    })
  })

  test.each(words)('%s: 400 invalid_argument for a malformed URL', async (host, own) => {
    for (const url of [
      '/%zz',
      '/v1/loans/%ff',
      '/v1/loans/%',
      '/v1/loans?page=%ff',
      '/v1/loans?page=%E0%A4%A',
      '/?100%',
    ])
      expect(await ask(host, url)).toMatchObject({ status: 400, body: { ...own, code: 'invalid_argument' } })
  })

  test('404 for an id that is longer than any', async () => {
    expect(await ask(PARTNER, `/v1/loans/${'9'.repeat(1_201)}`)).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    })
    expect((await ask(PARTNER, `/v1/loans/${'9'.repeat(1_200)}`)).body).toEqual({ id: 'null' })
    expect((await ask('localhost', `/v1/loans/${'9'.repeat(1_201)}`)).status).toBe(404)
  })

  test('a request id is kept when it is fit for a header, and replaced when not', async () => {
    const id = async (given: string) =>
      (await ask(PARTNER, '/v1/loans', { headers: { 'x-request-id': given } })).headers['x-request-id']
    expect(await id('order-7.a_b')).toBe('order-7.a_b')
    expect(await id('a b')).toMatch(/^[0-9a-f-]{36}$/)
    expect(await id('x'.repeat(101))).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('health is public on every host', async () => {
    for (const host of [AUTH, PARTNER, RECORD, 'localhost'])
      for (const path of ['/health/live', '/health/ready'])
        expect(await ask(host, path)).toMatchObject({ status: 200, body: { status: 'ok' } })
  })
})

describe('FALLBACK_STYLE', () => {
  test('record: a path that two styles have, and one that nobody has, are in the record style', async () => {
    const app = await toyApp({ FALLBACK_STYLE: 'record' })
    const ask = asker(() => app)
    expect((await ask('localhost', '/v1/loans')).body).toEqual({ style: 'record' })
    expect((await ask('localhost', '/v1/nothing')).body).toMatchObject({ success: false })
    expect((await ask('localhost', '/v1/customers')).status).toBe(200)
    expect((await ask('localhost', '/openapi.json')).body.info.title).toContain('record')
  })

  test('none: 404 to everything but health, in partner words', async () => {
    const app = await toyApp({ FALLBACK_STYLE: 'none' })
    const ask = asker(() => app)
    for (const path of [
      '/v1/loans',
      '/v1/borrowers',
      '/v1/auth/token',
      '/docs',
      '/openapi.json',
      '/',
      '/~partner/v1/loans',
    ])
      expect(await ask('localhost', path)).toMatchObject({ status: 404, body: { code: 'not_found' } })
    expect((await ask('localhost', '/%zz')).status).toBe(400)
    expect((await ask('localhost', '/health/live')).body).toEqual({ status: 'ok' })
    expect((await ask(PARTNER, '/v1/loans')).body).toEqual({ style: 'partner' })
  })
})

describe('a host that two settings name', () => {
  test('auth and partner: each path goes to the style that has it, what both have to the partner style', async () => {
    const app = await toyApp({ AUTH_URL: 'https://loans.example', BASE_URL: 'https://loans.example' })
    const ask = asker(() => app)
    expect((await ask('loans.example', '/v1/auth/token')).body).toEqual({ token: 'a' })
    expect((await ask('loans.example', '/v1/loans')).body).toEqual({ style: 'partner' })
    expect((await ask('loans.example', '/v1/borrowers')).status).toBe(404)
    expect((await ask('loans.example', '/openapi.json')).body.info.title).toContain('partner')
  })

  test('auth and record: a path that nobody has is refused in record words, whatever the fallback', async () => {
    const app = await toyApp({ AUTH_URL: 'https://loans.example', RECORDS_URL: 'https://loans.example' })
    const ask = asker(() => app)
    expect((await ask('loans.example', '/v1/nothing')).body).toMatchObject({ success: false })
    expect((await ask('loans.example', '/v1/auth/token')).body).toEqual({ token: 'a' })
    expect((await ask('loans.example', '/v1/customers')).status).toBe(404)
  })
})

describe('behind a proxy', () => {
  const forwarded = async (trust: string, value: string) => {
    const app = await toyApp({ TRUST_PROXY: trust })
    return (await asker(() => app)(PARTNER, '/v1/loans', { headers: { 'x-forwarded-host': value } })).body.style
  }

  test('X-Forwarded-Host of a trusted proxy selects the style, the last entry where there are several', async () => {
    for (const trust of ['true', '1', '127.0.0.1', 'loopback', '10.0.0.0/8, 127.0.0.0/8'])
      expect(await forwarded(trust, 'evil.example, Records.localhost:443')).toBe('record')
  })

  test('that of another does not', async () => {
    for (const trust of ['0', '10.0.0.1', 'uniquelocal', '::1']) expect(await forwarded(trust, RECORD)).toBe('partner')
  })

  test('a TRUST_PROXY that is not understood stops the start', async () => {
    for (const trust of ['10.0.0.0/33', 'proxy', '10.0.0.1/8/8', 'loopback,'])
      await expect(toyApp({ TRUST_PROXY: trust })).rejects.toThrow(/^TRUST_PROXY: /)
  })
})

describe('on the wire', () => {
  let app: FastifyInstance
  let port: number
  beforeAll(async () => {
    app = await toyApp()
    await app.listen({ port: 0, host: '127.0.0.1' })
    port = (app.server.address() as AddressInfo).port
  })
  afterAll(() => app.close())
  const last = 'connection: close\r\n\r\n'

  test('a target in absolute form names the host, whatever the Host header', async () => {
    const answer = await raw(
      port,
      `GET http://records.localhost:3000/v1/loans HTTP/1.1\r\nhost: api.localhost\r\n${last}`,
    )
    expect(answer).toContain('{"style":"record"}')
    expect(await raw(port, `GET http://records.localhost HTTP/1.1\r\nhost: x\r\n${last}`)).toContain('"style":"record"')
    expect(await raw(port, `GET http://user@records.localhost/v1/loans HTTP/1.1\r\nhost: x\r\n${last}`)).toContain(
      '"record"',
    )
  })

  test.each(['GET /', 'GET /?', 'GET /#'])('%s gets the links of its style', async (line) => {
    const answer = await raw(port, `${line} HTTP/1.1\r\nhost: api.localhost\r\n${last}`)
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
    expect(answer).toMatch(/x-request-id: [\w-]{36}/)
    expect(answer).toContain('"docs":"/docs","openapi":"/openapi.json"')
  })

  test.each([
    'OPTIONS *',
    'GET //',
    'GET //v1/loans',
    'GET /v1//loans',
    'GET /../v1/loans',
    'GET /\\\\',
    'GET //records.localhost/v1/loans',
    'GET /~record/v1/loans',
    'GET foo:bar',
  ])('%s gets an answer in our shape', async (line) => {
    const answer = await raw(port, `${line} HTTP/1.1\r\nhost: api.localhost\r\n${last}`)
    expect(answer).toMatch(/^HTTP\/1\.1 40[04] /)
    expect(answer).toMatch(/x-request-id: [\w-]{36}/)
    expect(answer).toMatch(/"code":"(not_found|invalid_argument)"/)
  })

  test.each([
    ['what is not HTTP', 'HELLO\r\n\r\n', 'the request is not valid HTTP'],
    [
      'headers that are too large',
      `GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
      'the headers are too large',
    ],
    ['HTTP/1.1 without Host', `GET /v1/loans HTTP/1.1\r\n${last}`, 'the Host header is missing'],
    [
      'HTTP/1.1 with two',
      `GET /v1/loans HTTP/1.1\r\nhost: api.localhost\r\nHOST: records.localhost\r\n${last}`,
      'the Host header is given twice',
    ],
    [
      'a bad chunk',
      'POST /v1/loans/1/repayments HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
      'the request is not valid HTTP',
    ],
  ])('400 invalid_argument for %s, with a request id', async (_what, bytes, message) => {
    const answer = await raw(port, bytes)
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request/)
    expect(answer).toMatch(/x-request-id: [\w-]{36}/)
    expect(answer).toContain(JSON.stringify({ code: 'invalid_argument', message }))
  })

  test('HTTP/1.0 needs no Host, and an unknown expectation is ignored', async () => {
    expect(await raw(port, 'GET /v1/loans HTTP/1.0\r\n\r\n')).toContain('{"style":"partner"}')
    expect(await raw(port, `GET /v1/loans HTTP/1.1\r\nhost: x\r\nexpect: tea\r\n${last}`)).toContain(
      '{"style":"partner"}',
    )
  })
})
