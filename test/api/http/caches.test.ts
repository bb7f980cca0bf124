import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEMO_PARTNER } from '../../../src/services/organizations/seedDemo.ts'
import { aBorrower } from '../../support/recordBodies.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
let hosts: Record<'auth' | 'partner' | 'record', string>
beforeAll(async () => {
  service = await startService()
  const { authUrl, baseUrl, recordsUrl } = service.deps.config
  const [auth = '', partner = '', record = ''] = [authUrl, baseUrl, recordsUrl].map((url) => new URL(url).host)
  hosts = { auth, partner, record }
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  await service.post('/v1/loans', { body: { customerId: 'asha', productId: 1, principal: 1_000, externalId: 'order' } })
})
afterAll(() => service.close())

const basic = `Basic ${Buffer.from(`${DEMO_PARTNER.email}:${DEMO_PARTNER.password}`).toString('base64')}`

describe('what no cache may keep', () => {
  it.each([
    ['a loan', 'partner', '/v1/loans/external/order'],
    ['a list', 'partner', '/v1/loans'],
    ['a scorecard', 'partner', '/v1/credit-scorecard/asha'],
    ['a list of the record style', 'record', '/v1/borrowers'],
    ['whose a token is', 'auth', '/v1/auth/authenticate'],
  ] as const)('%s', async (_, style, path) => {
    const { status, headers } = await service.get(path, { host: hosts[style] })
    expect(status).toBe(200)
    expect(headers['cache-control']).toBe('no-store')
  })

  it('a token, and the answer to a POST of each style, sent again too', async () => {
    const token = await service.get('/v1/auth/token', { host: hosts.auth, headers: { authorization: basic } })
    const repaid = async () =>
      service.post('/v1/loans/external/order/repayments', { body: { transactionAmount: 1, idempotencyKey: 'one' } })
    const made = await service.post('/v1/borrowers', { host: hosts.record, body: aBorrower })
    const may = await service.post('/v1/auth/authorize', { host: hosts.auth, body: { rule: 'user' } })
    for (const { status, headers } of [token, await repaid(), await repaid(), made, may])
      expect([status < 300, headers['cache-control']]).toEqual([true, 'no-store'])
  })

  it.each([
    ['no token', '/v1/loans', { headers: { authorization: '' } }, 401],
    ['a forged token', '/v1/loans', { token: 'forged' }, 401],
    ['a wrong password', '/v1/auth/token', { host: 'auth.localhost', headers: { authorization: 'Basic eDp5' } }, 401],
    ['what an operator may do', '/v1/audit-trail', {}, 403],
    ['nothing there', '/v1/loans/999999', {}, 404],
    ['no such path', '/v1/nothing', {}, 404],
    ['a bad URL', '/v1/loans/%E0', {}, 400],
    ['a bad query', '/v1/loans?rows=0', {}, 400],
    ['a host of nobody', '/nothing', { host: 'elsewhere.example' }, 404],
  ] as const)('a refusal: %s', async (_, path, call, status) => {
    const answer = await service.get(path, call)
    expect(answer.status).toBe(status)
    expect(answer.headers['cache-control']).toBe('no-store')
  })

  it('a refusal of a body, of a method, and of what is no HTTP', async () => {
    const body = await service.post('/v1/customers', { raw: '{' })
    const method = await service.put('/v1/customers', { body: {} })
    expect([body.status, method.status]).toEqual([400, 405])
    for (const { headers } of [body, method]) expect(headers['cache-control']).toBe('no-store')
    await service.app.listen({ port: 0, host: '127.0.0.1' })
    const socket = connect(Number(new URL(service.app.listeningOrigin).port), '127.0.0.1')
    socket.end('what is this\r\n\r\n')
    expect(await text(socket)).toMatch(/^HTTP\/1.1 400 [\s\S]*\r\ncache-control: no-store\r\n/)
  })
})

it.each([
  ['the document', '/openapi.json', undefined],
  ['the reference', '/docs', undefined],
  ['a guide', '/docs/contract.md', undefined],
  ['the index of the guides', '/llms.txt', undefined],
  ['the home page', '/', undefined],
  ['health', '/health/live', undefined],
  ['the key set', '/.well-known/jwks.json', 'public, max-age=60'],
])('%s is public, and keeps its Cache-Control', async (_, path, said) => {
  const { status, headers } = await service.get(path, { host: hosts.auth, headers: { authorization: '' } })
  expect(status).toBe(200)
  expect(headers['cache-control']).toBe(said)
})
