import { gzipSync } from 'node:zlib'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toyApp } from '../toy.ts'

let app: FastifyInstance
beforeAll(async () => {
  app = await toyApp()
})
afterAll(() => app.close())

const post = async (
  payload: string | Buffer | undefined,
  { host = 'api.localhost', url = '/v1/loans/1/repayments', type = 'application/json' as string | null } = {},
) => {
  const response = await app.inject({
    method: 'POST',
    url,
    ...(payload !== undefined && { payload }),
    headers: { host, ...(type !== null && { 'content-type': type }) },
  })
  expect(response.headers['x-request-id']).toBeDefined()
  return { status: response.statusCode, body: response.json() }
}

const record = (payload: string) => post(payload, { host: 'records.localhost', url: '/v1/loans' })

describe('a body', () => {
  test.each([
    ['{', 'expected a name in double quotes (where the text ends, line 1, column 2)'],
    ['{"a":1\n,}', 'expected a name in double quotes (line 2, column 2)'],
    ['{"a" 1}', 'expected a colon (line 1, column 6)'],
    ['{"a":01}', 'expected a comma or a closing brace (line 1, column 7)'],
    ['{"a":NaN}', 'expected a value (line 1, column 6)'],
    ['{"a":[1,2}', 'expected a comma or a closing bracket (line 1, column 10)'],
    ['{"a":"\u0001"}', 'expected a closing quote (control characters are escaped) (line 1, column 7)'],
    ['{"a":"\\x"}', 'there is a bad escape in the text (line 1, column 6)'],
    ['{} {}', 'there is something after the value (line 1, column 4)'],
    [`{"a":[${'1,'.repeat(400_000)}`, 'more than 30100 values (line 1, column 60203)'],
    [`{"a":${'['.repeat(1_000_000)}`, 'nested more than 32 deep (line 1, column 37)'],
  ])('%.20s is 400 and names the place', async (text, what) => {
    expect(await post(text)).toEqual({
      status: 400,
      body: { code: 'invalid_argument', message: `the body is not valid JSON: ${what}` },
    })
  })

  test.each(['[]', '"x"', 'null', '1', 'true', '', undefined])('%s is not an object', async (text) => {
    expect(await post(text, { type: text === undefined ? null : 'application/json' })).toEqual({
      status: 400,
      body: { code: 'invalid_argument', message: 'the body must be a JSON object' },
    })
  })

  test('may be left out where it is optional', async () => {
    const close = { url: '/v1/loans/1/close' }
    expect((await post(undefined, { ...close, type: null })).body).toEqual({ note: 'none' })
    expect((await post('', close)).body).toEqual({ note: 'none' })
    expect((await post('{"note":"x"}', close)).body).toEqual({ note: 'x' })
    expect((await post('null', close)).status).toBe(400)
  })

  test('a key given twice is refused by its name', async () => {
    expect((await post('{"transactionAmount":1,"transactionAmount":2}')).body).toEqual({
      code: 'invalid_argument',
      message: 'transactionAmount: is given twice',
      details: [{ field: 'transactionAmount', message: 'is given twice' }],
    })
  })

  test('must be UTF-8; a byte order mark is skipped', async () => {
    expect((await post(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]))).body.message).toBe('the body is not valid UTF-8')
    expect((await post('\ufeff{"transactionAmount":5}')).status).toBe(200)
  })

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'application/json; charset=latin1',
    null,
  ])('415 unsupported_media_type for %s', async (type) => {
    expect(await post('{"transactionAmount":5}', { type })).toMatchObject({
      status: 415,
      body: { code: 'unsupported_media_type' },
    })
  })

  test.each(['gzip', 'br', 'identity, gzip', 'utf-8'])('415 unsupported_media_type for %s', async (encoding) => {
    for (const host of ['api.localhost', 'records.localhost']) {
      const answer = await app.inject({
        method: 'POST',
        url: host.startsWith('api') ? '/v1/loans/1/repayments' : '/v1/loans',
        headers: { host, 'content-type': 'application/json', 'content-encoding': encoding },
        payload: gzipSync('{"transactionAmount":5}'),
      })
      expect([answer.statusCode, answer.headers['accept-encoding']]).toEqual([415, 'identity'])
      expect(answer.json()).toEqual({
        code: 'unsupported_media_type',
        message: 'the body must not be compressed: no Content-Encoding is read',
        ...(host.startsWith('records') ? { success: false } : {}),
      })
    }
  })

  test.each(['identity', 'Identity', ''])('a Content-Encoding of %j is none', async (encoding) => {
    const answer = await app.inject({
      method: 'POST',
      url: '/v1/loans/1/repayments',
      headers: { host: 'api.localhost', 'content-type': 'application/json', 'content-encoding': encoding },
      payload: '{"transactionAmount":5}',
    })
    expect(answer.statusCode).toBe(200)
  })

  test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"'])(
    '%s is accepted',
    async (type) => {
      expect((await post('{"transactionAmount":5}', { type })).status).toBe(200)
    },
  )

  test('413 payload_too_large above 1 MiB', async () => {
    expect(await post(`{"note":"${'x'.repeat(1024 * 1024)}"}`)).toMatchObject({
      status: 413,
      body: { code: 'payload_too_large' },
    })
  })

  test('is not looked at where there is no such path', async () => {
    expect((await post('{', { url: '/v1/nothing' })).status).toBe(404)
    expect((await post('x', { url: '/v1/nothing', type: 'text/plain' })).status).toBe(404)
  })
})

describe('a field', () => {
  test('that is missing or mistyped is named, the first one in the message and all in the details', async () => {
    expect((await post('{"transactionDate":"2026-02-30"}')).body).toEqual({
      code: 'invalid_argument',
      message: 'transactionAmount: is required',
      details: [
        { field: 'transactionAmount', message: 'is required' },
        { field: 'transactionDate', message: 'is not a date on the calendar' },
      ],
    })
  })

  test.each([
    ['idempotency_key', '; did you mean idempotencyKey?'],
    ['IdempotencyKey', '; did you mean idempotencyKey?'],
    ['idempotencykye', '; did you mean idempotencyKey?'],
    ['transactionDat', '; did you mean transactionDate?'],
    ['date', ''],
    ['amount', ''],
    ['__proto__', ''],
    ['constructor', ''],
    ['toString', ''],
    ['', ''],
  ])('%s is unknown%s', async (field, hint) => {
    expect(
      (await post(JSON.stringify({ transactionAmount: 1 }).replace('}', `,${JSON.stringify(field)}:{"x":1}}`))).body,
    ).toEqual({
      code: 'invalid_argument',
      message: `${field}: is not a known field${hint}`,
      details: [{ field, message: `is not a known field${hint}` }],
    })
  })

  test('that is unknown is reported before those that are missing', async () => {
    const { body } = await post('{"transactionAmout":5}')
    expect(body.details.map(({ field }: { field: string }) => field)).toEqual(['transactionAmout', 'transactionAmount'])
  })

  test('deep inside is named by its path', async () => {
    const { body } = await record(
      '{"loan_id":1,"borrower_type":"c","products":[{"stock_id":"x","quantity":1},{"stockid":1,"quantity":2}]}',
    )
    expect(body).toEqual({
      success: false,
      code: 'invalid_argument',
      message: 'products[1].stockid: is not a known field; did you mean stock_id?',
      details: [
        { field: 'products[1].stockid', message: 'is not a known field; did you mean stock_id?' },
        { field: 'borrower_type', message: 'must be one of a, b' },
        { field: 'products[0].stock_id', message: 'must be a number, not a string' },
        { field: 'products[1].stock_id', message: 'is required' },
      ],
    })
  })

  test('is in a caller’s words whatever is wrong', async () => {
    expect((await record('{"products":1}')).body.message).toBe('products: must be a list')
    expect((await record('{"products":[1]}')).body.message).toBe('products[0]: must be an object')
    expect((await record('{"products":[{},{},{},{}]}')).body.details).toContainEqual({
      field: 'products',
      message: 'must have at most 3 items',
    })
    expect((await record('{"borrower_type":"c"}')).body.message).toBe('borrower_type: must be one of a, b')
  })

  test('no more than 20 are listed', async () => {
    const body = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`field${i}`, i]))
    expect((await post(JSON.stringify(body))).body.details).toHaveLength(20)
  })

  test('an int64 goes in and out exactly', async () => {
    const response = await app.inject({
      method: 'POST',
      url: '/v1/loans',
      headers: { host: 'records.localhost', 'content-type': 'application/json' },
      payload: '{"loan_id":9223372036854775807}',
    })
    expect(response.payload).toBe('{"loan_id":9223372036854775807}')
  })
})

describe('what a handler throws', () => {
  const fail = async (how: string, to = app) => {
    const response = await to.inject({
      url: `/v1/fail/${how}`,
      headers: { host: 'api.localhost', 'x-request-id': 'r-1' },
    })
    return { status: response.statusCode, body: response.json(), headers: response.headers }
  }

  test.each(['bug', 'text'])('500 internal for our own %s: nothing but the request id', async (how) => {
    expect(await fail(how)).toMatchObject({
      status: 500,
      body: { code: 'internal', message: 'an error on our side; please quote the request id r-1' },
    })
  })

  test('the log has what the answer leaves out', async () => {
    const lines: unknown[] = []
    const log = (...line: unknown[]) => lines.push(line)
    const logger = {
      info: () => {},
      error: log,
      warn: log,
      debug() {},
      trace() {},
      fatal() {},
      silent() {},
      level: 'info',
      child: () => logger,
    } as unknown as FastifyBaseLogger
    await fail('bug', await toyApp({}, { logger }))
    expect(lines).toEqual([[{ err: new Error('password is hunter2') }, 'failed']])
  })

  test('503 unavailable with Retry-After when the database cannot be reached', async () => {
    const { status, body, headers } = await fail('unreachable')
    expect({ status, code: body.code, after: headers['retry-after'] }).toEqual({
      status: 503,
      code: 'unavailable',
      after: '2',
    })
    expect(body.message).not.toContain('10.1.2.3')
  })

  test('a refusal keeps its code, and its field has the name of the style', async () => {
    expect(await fail('field')).toMatchObject({
      status: 400,
      body: {
        message: 'transactionAmount: must be greater than 0',
        details: [{ field: 'transactionAmount', message: 'must be greater than 0' }],
      },
    })
    expect(await fail('state')).toMatchObject({
      status: 409,
      body: { code: 'failed_precondition', message: 'the loan is closed' },
    })
    expect((await fail('limited')).headers['retry-after']).toBe('30')
  })

  test('ready is 503 unavailable while the database does not answer, live stays 200', async () => {
    for (const ready of [
      async () => false,
      () => Promise.reject(new Error('no')),
      () => new Promise<boolean>(() => {}),
    ]) {
      const sick = await toyApp({}, { ready })
      expect((await sick.inject('/health/ready')).json()).toMatchObject({ code: 'unavailable' })
      expect((await sick.inject('/health/live')).statusCode).toBe(200)
    }
  })
})
