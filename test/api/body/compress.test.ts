import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEMO_PARTNER } from '../../../src/services/organizations/seedDemo.ts'
import { startService, type TestService } from '../../support/service.ts'

const DECODERS = { zstd: zstdDecompressSync, br: brotliDecompressSync, gzip: gunzipSync } as const

let service: TestService
let port: number
beforeAll(async () => {
  service = await startService()
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  for (let index = 0; index < 20; index++)
    await service.post('/v1/loans', {
      body: { customerId: 'asha', productId: 4, principal: 100_000 + index, externalId: `order-${index}` },
    })
  await service.app.listen({ port: 0, host: '127.0.0.1' })
  port = (service.app.server.address() as AddressInfo).port
})
afterAll(() => service.close())

interface Ask {
  readonly method?: string
  readonly accept?: string
  readonly host?: string
  readonly headers?: Record<string, string>
  readonly body?: object
}

/** Sends a request as a client that undoes no encoding. */
async function ask(path: string, { method = 'GET', accept, host = 'api.localhost', headers = {}, body }: Ask = {}) {
  const sent = httpRequest({
    port,
    path,
    method,
    headers: {
      host,
      authorization: `Bearer ${service.tokens.partner}`,
      ...(accept !== undefined && { 'accept-encoding': accept }),
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    },
  })
  sent.end(body && JSON.stringify(body))
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk as Buffer)
  return { status: answer.statusCode, headers: answer.headers, bytes: Buffer.concat(chunks) }
}

// In an order of its own a page has no cursor, which may change while transactions of other tests are open.
const PAGE = '/v1/loans?rows=20&orderBy=id'
const LOAN = '/v1/loans/external/order-1'

describe('an answer of more than 1 kB', () => {
  it.each([
    ['zstd', 'gzip, deflate, br, zstd'],
    ['br', 'gzip;q=0.9, br'],
    ['gzip', 'gzip, deflate'],
    ['gzip', '*'],
  ] as const)('is sent as %s to a client that accepts %s, and is the same', async (encoding, accept) => {
    for (const path of [
      PAGE,
      LOAN,
      '/v1/audit-trail',
      '/openapi.json',
      '/openapi.yaml',
      '/llms.txt',
      '/docs/contract.md',
      '/docs/static/swagger-ui.css',
    ]) {
      const headers = path === '/v1/audit-trail' ? { authorization: `Bearer ${service.tokens.operator}` } : {}
      const plain = await ask(path, { headers })
      const packed = await ask(path, { accept, headers })
      expect([path, packed.status, packed.headers['content-encoding']]).toEqual([path, 200, encoding])
      expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 2)
      expect([path, DECODERS[encoding](packed.bytes).equals(plain.bytes)]).toEqual([path, true])
      for (const { headers: got } of [plain, packed]) expect(String(got.vary)).toContain('accept-encoding')
      expect(packed.headers['content-type']).toBe(plain.headers['content-type'])
    }
  })

  it('has the length of what is sent, so that the limits on unread answers count it', async () => {
    const { headers, bytes } = await ask(PAGE, { accept: 'gzip' })
    expect(headers['content-length']).toBe(String(bytes.length))
    expect(headers['transfer-encoding']).toBeUndefined()
  })

  it.each([undefined, '', 'identity', 'gzip;q=0', 'deflate', 'identity;q=1, *;q=0'])(
    'is sent as it is to a client that accepts %s',
    async (accept) => {
      const { headers, bytes } = await ask(PAGE, accept === undefined ? {} : { accept })
      expect(headers['content-encoding']).toBeUndefined()
      expect(JSON.parse(bytes.toString()).items).toHaveLength(20)
    },
  )

  it('to a POST under an Idempotency-Key is kept plain, and the same for every client', async () => {
    const body = { customerId: 'asha', productId: 4, principal: 5_000, externalId: 'kept' }
    const send = (accept?: string) =>
      ask('/v1/loans', { method: 'POST', body, headers: { 'idempotency-key': 'k-1' }, ...(accept && { accept }) })
    const first = await send('gzip')
    const [plain, again] = [await send(), await send('br')]
    expect(gunzipSync(first.bytes).equals(plain.bytes)).toBe(true)
    expect(brotliDecompressSync(again.bytes).equals(plain.bytes)).toBe(true)
    expect([plain.headers['idempotency-replayed'], JSON.parse(plain.bytes.toString()).externalId]).toEqual([
      'true',
      'kept',
    ])
  })
})

describe('what is sent as it is', () => {
  it('a small answer, a refusal, health, and a part of a file', async () => {
    const paid = { method: 'POST', body: { transactionAmount: 1 } }
    for (const [path, call] of [
      [`${LOAN}/repayments`, paid],
      ['/v1/loans/999', {}],
      ['/v1/nothing', {}],
      ['/health/live', {}],
      ['/docs/static/swagger-ui.css', { headers: { range: 'bytes=0-5000' } }],
    ] as const) {
      const { headers } = await ask(path, { ...call, accept: 'gzip, br, zstd' })
      const vary = path.endsWith('.css') ? 'accept-encoding' : undefined
      expect([path, headers['content-encoding'], headers.vary]).toEqual([path, undefined, vary])
    }
  })

  it('a token, however long: its length must tell nothing of it', async () => {
    const authorization = `Basic ${Buffer.from(`${DEMO_PARTNER.email}:${DEMO_PARTNER.password}`).toString('base64')}`
    const call = { host: 'auth.localhost', headers: { authorization }, accept: 'gzip' }
    const { headers, status } = await ask('/v1/auth/token', call)
    expect([status, headers['content-encoding'], headers.vary]).toEqual([200, undefined, undefined])
    const signedIn = await ask('/docs/sign-in', { method: 'POST', body: DEMO_PARTNER, accept: 'gzip' })
    expect([signedIn.status, signedIn.headers['content-encoding']]).toEqual([200, undefined])
  })

  it('HEAD and OPTIONS', async () => {
    const head = await ask(PAGE, { method: 'HEAD', accept: 'gzip' })
    expect([head.status, head.headers['content-encoding'], head.bytes.length]).toEqual([200, undefined, 0])
    const plain = await ask(PAGE)
    expect(head.headers['content-length']).toBe(String(plain.bytes.length))
    const options = await ask(PAGE, { method: 'OPTIONS', accept: 'gzip' })
    expect([options.status, options.headers.allow, options.bytes.length]).toEqual([204, 'POST, GET, HEAD, OPTIONS', 0])
  })
})
