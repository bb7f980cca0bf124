import { spawn } from 'node:child_process'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp } from '../../src/app/app.ts'
import { makeLog, redact, toLoggedError } from '../../src/observability/log.ts'
import { DEMO_PARTNER } from '../../src/services/organizations/seedDemo.ts'
import { startService, type TestService } from '../support/service.ts'

const JWT = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl'

describe('redact', () => {
  it.each([
    [`a token ${JWT} in it`, 'a token [token] in it'],
    ['x\\neyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln', 'x\\n[token]'],
    ['key mk_AbCdEf0123456789', 'key [api key]'],
    ['Basic cGFydG5lcjpzZWNyZXQ=', 'Basic [redacted]'],
    ['at postgres://mkopo:hunter2@db:5432/mkopo', 'at postgres://[redacted]@db:5432/mkopo'],
    ['asha.mwangi+1@example.co.ke has', '[e-mail] has'],
    ['call +254 712 345 678 now', 'call [phone] now'],
    ['call +255712345678, 254712345678 or 0712345678.', 'call [phone], [phone] or [phone].'],
    ['\\n0712345678', '\\n[phone]'],
    [
      '{"a":{"b":{"c":{"fullName":"Asha \\" M","token":7,"Secret":"x"}}},"tokens":2}',
      '{"a":{"b":{"c":{"fullName":"[redacted]","token":"[redacted]","Secret":"[redacted]"}}},"tokens":2}',
    ],
    [
      '{"identity":{"firstName":"Asha","dateOfBirth":"1990-05-17","idNumber":"1-2"},"last_name":"Mushi","signingKey":"k"}',
      '{"identity":{"firstName":"[redacted]","dateOfBirth":"[redacted]","idNumber":"[redacted]"},"last_name":"[redacted]","signingKey":"[redacted]"}',
    ],
  ])('%s', (text, clean) => expect(redact(text)).toBe(clean))

  it.each([
    '{"time":1793523600123,"pid":254,"reqId":"3f2b6c1e-9d0a-4c57-8f10-254712345678","ms":12.5}',
    'loan 4000000000000001 of 1500000.00 due 2026-11-20T14:30:00.000+03:00',
    'the header Authorization: Bearer <token> is missing',
  ])('leaves alone: %s', (text) => expect(redact(text)).toBe(text))
})

describe('an error in the log', () => {
  it('has its type, message, code, place and cause, and not the row that was at fault', () => {
    const cause = Object.assign(new Error('duplicate key'), {
      code: '23505',
      detail: 'Key (phone)=(0712345678) exists',
    })
    const logged = toLoggedError(new TypeError('could not', { cause }))
    expect(logged).toMatchObject({ type: 'TypeError', message: 'could not', cause: { code: '23505' } })
    expect(JSON.stringify(logged)).not.toMatch(/0712345678|detail/)
  })

  it('does not quote a value that the database could not read', () => {
    const error = Object.assign(new Error('invalid input syntax for type bigint: "Asha Mwangi"'), { code: '22P02' })
    expect(JSON.stringify(toLoggedError(error))).not.toContain('Asha')
  })

  it('describes any thrown value', () => {
    expect(toLoggedError(`a text with ${JWT}`)).toEqual({ type: 'string', message: 'a text with [token]' })
  })
})

describe('standard output', () => {
  const logged = async (program: string) => {
    const source = `import { makeLog } from ${JSON.stringify(new URL('../../src/observability/log.ts', import.meta.url).href)}
      const log = makeLog({ logLevel: 'info' })
      ${program}`
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', source], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    return (await text(child.stdout)).split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line).msg]))
  }

  it('gets every line of a process that ends in order, in the turn that logged them', async () => {
    expect(await logged("log.info('one'); log.info('two'); process.exit(3)")).toEqual(['one', 'two'])
    expect(await logged("log.info('one'); log.info('x'.repeat(70_000)); throw 0").catch(String)).toHaveLength(2)
  })

  it('gets what was logged in earlier turns of a process that is killed', async () => {
    const turns = "log.info('one'); setTimeout(() => { log.info('two'); process.kill(process.pid, 'SIGKILL') }, 50)"
    expect(await logged(turns)).toContain('one')
  })
})

describe('a log of every kind of call', () => {
  let service: TestService
  let lines: Record<string, unknown>[]
  let text = ''

  beforeAll(async () => {
    service = await startService()
    const to = new PassThrough()
    to.on('data', (chunk) => {
      text += chunk
    })
    const log = makeLog({ logLevel: 'trace' }, { to })
    const app = await buildApp(service.deps, { logger: log })
    const { host } = new URL(service.deps.config.baseUrl)
    const call = (method: 'GET' | 'POST', url: string, payload?: unknown, headers: Record<string, string> = {}) =>
      app.inject({
        method,
        url,
        headers: {
          host,
          authorization: `Bearer ${service.tokens.partner}`,
          ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(payload === undefined ? {} : { payload: JSON.stringify(payload) }),
      })

    // Everything personal or secret that a caller might send, in each place where it might.
    const basic = (password: string) => ({
      host: new URL(service.deps.config.authUrl).host,
      authorization: `Basic ${Buffer.from(`${DEMO_PARTNER.email}:${password}`).toString('base64')}`,
    })
    await call('GET', '/v1/auth/token', undefined, basic(DEMO_PARTNER.password))
    await call('GET', '/v1/auth/token', undefined, basic('wrong-password'))
    await call('POST', '/v1/customers', { externalId: '254712345678' })
    await call('POST', '/v1/customers', { externalId: '254712345678' })
    await call('POST', '/v1/customers', { 'Asha Mwangi +254712345678': 1, phone: '0712345678', externalId: 7 })
    await call('GET', '/v1/customers?externalId=254712345678&password=partner-secret')
    await call('GET', '/v1/customers/external/254712345678')
    await call('GET', '/v1/customers/external/nobody@example.com')
    await call('GET', '/v1/customers/asha-mwangi/254712345678')
    await call('GET', '/v1/customers/%E0%A4%A/0712345678')
    const loan = { customerId: '254712345678', productId: 1, principal: 100_000, externalId: 'Asha-0712345678' }
    const { id } = (await call('POST', '/v1/loans', loan)).json()
    await call('POST', `/v1/loans/${id}/repayments`, { transactionAmount: 1, idempotencyKey: '0712345678' })
    await call('POST', `/v1/loans/${id}/repayments`, { transactionAmount: -1 }, { 'idempotency-key': '0712345678' })
    await call('POST', `/v1/loans/${id}/repayments/refund`, { transactionAmount: 9e9, note: 'to Asha, 0712345678' })
    await call('GET', `/v1/loans/${id}`, undefined, { authorization: 'Bearer mk_0123456789abcdef' })
    await call('GET', '/v1/audit-entries')
    for (const path of ['', '/validate', '/none'])
      await call('POST', `/in/secret-of-a-channel${path}`, { MSISDN: '254712345678' })
    log.error({ err: new Error(`lost ${JWT}`), password: 'hunter2', account: { email: 'a@b.co', token: 'x' } }, 'bad')
    await app.close()
    await new Promise((resolve) => setImmediate(resolve))
    lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  })
  afterAll(() => service.close())

  it('holds no password, token, API key, e-mail, name or phone number', () => {
    for (const secret of [
      'secret-of-a-channel',
      'partner-secret',
      'wrong-password',
      'hunter2',
      'eyJ',
      'mk_',
      '@example',
      'a@b',
      'Asha',
      'asha',
    ])
      expect(text, secret).not.toContain(secret)
    expect(text).not.toMatch(/0?712345678/)
  })

  it('has one line for each request, with what an operator asks for first', () => {
    const answers = lines.filter(({ msg }) => msg === 'answered' || msg === 'refused')
    expect(answers).toHaveLength(19)
    expect(new Set(answers.map(({ reqId }) => reqId)).size).toBe(19)
    expect(answers).toContainEqual(
      expect.objectContaining({
        style: 'partner',
        method: 'POST',
        route: '/v1/loans/:id/repayments',
        organization: 1,
        account: expect.any(Number),
        address: '127.0.0.1',
        status: 200,
        ms: expect.any(Number),
        reqId: expect.any(String),
      }),
    )
    expect(answers).toContainEqual(
      expect.objectContaining({ msg: 'refused', status: 409, code: 'already_exists', reason: 'externalId: is taken' }),
    )
    expect(answers).toContainEqual(expect.objectContaining({ route: '(unknown)', status: 404, reason: 'no such path' }))
    expect(answers).toContainEqual(expect.objectContaining({ route: '(unknown)', status: 400, style: 'partner' }))
  })
})
