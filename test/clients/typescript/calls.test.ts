import { describe, expect, it } from 'vitest'
import { createMkopo, MkopoError } from '../../../clients/typescript/src/index.ts'
import { answer, broken, failureOf, fakeService, refusal, URLS } from './fake.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const keysOf = (sent: readonly { headers: Headers }[]) => sent.map(({ headers }) => headers.get('idempotency-key'))
const repayment = { transactionAmount: 10_000.5 }

describe('a request', () => {
  it('has the method, the path, the query, the token and the body of its operation', async () => {
    const { mkopo, sent } = fakeService([answer({ id: '1' })])
    await mkopo.postRepayment('7', repayment)
    await mkopo.listLoans({ status: 'Active', rows: 5, overdue: true })
    await mkopo.records.getBorrower(9_223_372_036_854_775_807n)
    expect(sent.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['POST', '/v1/loans/7/repayments', '{"transactionAmount":10000.5}'],
      ['GET', '/v1/loans?status=Active&rows=5&overdue=true', undefined],
      ['GET', '/v1/borrowers/9223372036854775807', undefined],
    ])
    expect(sent[0]!.headers.get('content-type')).toBe('application/json')
    expect(sent.map(({ headers }) => headers.get('authorization'))).toEqual(Array(3).fill('Bearer a-token'))
  })

  it('escapes what is in a path, and refuses what no path can have', async () => {
    const { mkopo, sent } = fakeService([answer({})])
    await mkopo.getLoanByExternalId('a/b?c#d %')
    expect(sent[0]!.path).toBe('/v1/loans/external/a%2Fb%3Fc%23d%20%25')
    for (const id of ['', '.', '..', undefined as never, null as never])
      await expect(mkopo.getLoan(id)).rejects.toThrow(/^an id in a path must not be (empty|"\.{1,2}")$/)
    expect(sent).toHaveLength(1)
  })

  it('refuses a number that JSON does not have, which would be sent as null', async () => {
    const { mkopo, sent } = fakeService([answer({})])
    await expect(mkopo.postRepayment('1', { transactionAmount: Number.NaN })).rejects.toThrow(
      'transactionAmount must not be NaN',
    )
    expect(sent).toEqual([])
  })

  it('leaves out what is undefined, and adds the headers of the call', async () => {
    const { mkopo, sent } = fakeService([answer({})])
    const call = { headers: { 'X-Request-Id': 'mine', 'Idempotency-Key': 'overruled' }, idempotencyKey: 'order-1' }
    await mkopo.postRepayment('1', { ...repayment, transactionDate: undefined as never }, call)
    expect(sent[0]!.body).toBe('{"transactionAmount":10000.5}')
    expect(sent[0]!.headers.get('x-request-id')).toBe('mine')
    expect(keysOf(sent)).toEqual(['order-1'])
  })

  it('throws where a token seen before came with another content, unless the call says otherwise', async () => {
    const seen = () => answer({ id: '7', amount: 1 }, 200, { 'idempotency-mismatch': 'transactionAmount, note' })
    const { mkopo, sent } = fakeService([seen])
    const body = { ...repayment, idempotencyKey: 'order-7' }
    const error: MkopoError = await mkopo.postRepayment('1', body).catch((thrown) => thrown)
    expect(error).toBeInstanceOf(MkopoError)
    expect(error).toMatchObject({ code: 'idempotency_mismatch', status: 200, mayBeDone: false, requestId: 'req-1' })
    expect(error.message).toContain('nothing was posted')
    expect(error.details.map(({ field }) => field)).toEqual(['transactionAmount', 'note'])
    expect(sent).toHaveLength(1)
    expect(await mkopo.postRepayment('1', body, { acceptMismatch: true })).toEqual({ id: '7', amount: 1 })
  })

  it('needs no token where the operation is public', async () => {
    const { mkopo, sent } = fakeService([answer({ keys: [] })], {})
    await mkopo.auth.getKeySet()
    expect(sent[0]!.headers.has('authorization')).toBe(false)
  })

  it('is not sent without what it needs', async () => {
    const bare = createMkopo({ baseUrl: URLS.baseUrl })
    await expect(bare.getLoan('1')).rejects.toThrow('createMkopo needs email and password, or a token')
    await expect(bare.records.getLoan(1n)).rejects.toThrow('createMkopo needs recordsUrl for this call')
    await expect(bare.auth.getToken()).rejects.toThrow('createMkopo needs email and password')
    expect(() => createMkopo({ email: 'a@example.com' })).toThrow('email and password go together')
    expect(() => createMkopo({ baseUrl: 'api.lender.example' })).toThrow('baseUrl must be a URL such as https://')
    expect(() => createMkopo({ authUrl: 'https://a.example?b' })).toThrow('authUrl must be a URL such as https://')
  })

  it('goes to a path below the URL, with or without a slash at its end', async () => {
    const { mkopo, sent } = fakeService([answer({})], { token: 't', baseUrl: 'https://lender.example/mkopo/' })
    await mkopo.getLoan('1')
    expect(sent[0]!.path).toBe('/mkopo/v1/loans/1')
  })
})

describe('a POST', () => {
  it('has a key of its own for each call, and the same one on each attempt', async () => {
    const lost = [broken(), refusal(503, 'unavailable'), refusal(409, 'aborted'), answer({}), answer({})]
    const { mkopo, sent } = fakeService(lost)
    await mkopo.postRepayment('1', repayment)
    await mkopo.postRepayment('1', repayment)
    const [first, ...others] = keysOf(sent)
    expect(first).toMatch(UUID)
    expect(others.slice(0, 3)).toEqual([first, first, first])
    expect(others[3]).toMatch(UUID)
    expect(others[3]).not.toBe(first)
    expect(new Set(sent.slice(0, 4).map(({ body }) => body)).size).toBe(1)
  })

  it('of lines is a list, whose lines have keys of their own: it is sent again, and answers a list', async () => {
    const lines = [
      { line: 1, status: 200, success: true, item: { repayment_id: 9_007_199_254_740_993n } },
      { line: 2, status: 404, success: false, code: 'not_found' },
    ]
    const text = lines.map((line) =>
      JSON.stringify(line, (_, value) => (typeof value === 'bigint' ? `#${value}#` : value)),
    )
    const body = `${text.join('\n')}\n`.replace(/"#(\d+)#"/g, '$1')
    const { mkopo, sent } = fakeService([broken(), refusal(503, 'unavailable'), new Response(body)])
    const one = { repayment_id: 1n, loan_id: 1n, amount: 1, collection_date: '2026-01-31' }
    expect(await mkopo.records.postRepayments([one, { ...one, repayment_id: 2n }])).toEqual(lines)
    expect(sent).toHaveLength(3)
    expect(sent[2]!.headers.get('content-type')).toBe('application/x-ndjson')
    expect(sent[2]!.headers.get('idempotency-key')).toBe(null)
    expect(String(sent[2]!.body).split('\n')).toEqual([
      '{"repayment_id":1,"loan_id":1,"amount":1,"collection_date":"2026-01-31"}',
      '{"repayment_id":2,"loan_id":1,"amount":1,"collection_date":"2026-01-31"}',
      '',
    ])
  })

  it('without a key is not sent twice', async () => {
    for (const reaction of [broken(), refusal(503, 'unavailable'), refusal(409, 'aborted')]) {
      const { mkopo, sent } = fakeService([reaction, answer(undefined, 204)])
      await failureOf(mkopo.auth.authorize({ rule: 'any' }))
      expect(sent).toHaveLength(1)
      expect(keysOf(sent)).toEqual([null])
    }
  })

  it('of every operation that takes a key has one', async () => {
    const { mkopo, sent } = fakeService([answer({})])
    await mkopo.createCustomer({ externalId: 'a' })
    await mkopo.closeCustomer('1')
    await mkopo.records.postRepayment({ repayment_id: 1n, loan_id: 1n, amount: 1, collection_date: '2026-01-31' })
    await mkopo.getCustomer('1')
    expect(keysOf(sent).map((key) => UUID.test(key ?? ''))).toEqual([true, true, true, false])
  })
})

describe('an attempt that failed', () => {
  it.each([
    ['no answer', broken()],
    ['429', refusal(429, 'resource_exhausted')],
    ['503', refusal(503, 'unavailable')],
    ['aborted', refusal(409, 'aborted')],
    ['502 of a gateway', new Response('<html>', { status: 502 })],
    ['504 of a gateway', new Response('<html>', { status: 504 })],
    ['a page of another server', new Response('<html>Sign in</html>', { status: 200 })],
    ['half an answer', new Response('{"id": "1', { headers: { 'content-type': 'application/json' } })],
  ])('is followed by another one: %s', async (_, reaction) => {
    const { mkopo, sent, clock } = fakeService([reaction, answer({ id: '1' })])
    expect(await mkopo.postRepayment('1', repayment)).toEqual({ id: '1' })
    expect(sent).toHaveLength(2)
    expect(clock.slept).toHaveLength(1)
  })

  it.each([
    [400, 'invalid_argument'],
    [403, 'permission_denied'],
    [404, 'not_found'],
    [409, 'failed_precondition'],
    [409, 'already_exists'],
    [500, 'internal'],
  ])('is not followed by another one: %s %s', async (status, code) => {
    const { mkopo, sent } = fakeService([refusal(status, code)])
    const error = await failureOf(mkopo.postRepayment('1', repayment))
    expect(error).toBeInstanceOf(MkopoError)
    expect(error).toMatchObject({ status, code, message: `about ${code}`, requestId: 'req-1', details: [] })
    expect(sent).toHaveLength(1)
  })

  it('is repeated five times, or as often as the options or the call say', async () => {
    const count = async (retries?: number, call?: number) => {
      const { mkopo, sent } = fakeService([broken()], { token: 't', retries })
      await failureOf(mkopo.getLoan('1', call === undefined ? {} : { retries: call }))
      return sent.length
    }
    expect([await count(), await count(2), await count(2, 0)]).toEqual([6, 3, 1])
  })

  it('is followed by longer and longer pauses, each drawn at random and at most 8 s', async () => {
    const bounds = [250, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]
    const all = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const { mkopo, clock } = fakeService([broken()], { token: 't', retries: 8 })
        await failureOf(mkopo.getLoan('1'))
        return clock.slept
      }),
    )
    for (const [index, bound] of bounds.entries()) {
      const pauses = all.map((slept) => slept[index]!)
      expect(Math.max(...pauses)).toBeLessThanOrEqual(bound)
      expect(new Set(pauses).size).toBeGreaterThan(1)
    }
  })

  it('waits for Retry-After, in seconds or until a date', async () => {
    const date = new Date(Date.now() + 20_000).toUTCString()
    const { mkopo, clock } = fakeService([
      refusal(429, 'resource_exhausted', { 'retry-after': '60' }),
      refusal(503, 'unavailable', { 'retry-after': date }),
      answer({}),
    ])
    await mkopo.postRepayment('1', repayment)
    const [first = 0, second = 0] = clock.slept
    expect([first >= 60_000, first < 61_000]).toEqual([true, true])
    expect([second > 15_000, second < 21_000]).toEqual([true, true])
  })

  it('is the last one where Retry-After is longer than a minute', async () => {
    const { mkopo, sent } = fakeService([refusal(429, 'resource_exhausted', { 'retry-after': '840' })])
    const error = await failureOf(mkopo.postRepayment('1', repayment))
    expect(error).toMatchObject({ code: 'resource_exhausted', retryAfter: 840, mayBeDone: false })
    expect(sent).toHaveLength(1)
  })

  it('of a DELETE whose answer was lost is followed by not_found: it is deleted', async () => {
    const { mkopo } = fakeService([broken(), refusal(404, 'not_found')])
    expect(await mkopo.deleteWebhookEndpoint('1')).toBeUndefined()
    const { mkopo: other } = fakeService([refusal(404, 'not_found')])
    expect(await failureOf(other.deleteWebhookEndpoint('1'))).toMatchObject({ code: 'not_found' })
  })

  it('does not follow a redirect, which would make a GET of a POST', async () => {
    const moved = new Response(null, { status: 301, headers: { location: 'https://new.example/' } })
    const { mkopo, sent } = fakeService([moved])
    const error = await failureOf(mkopo.postRepayment('1', repayment))
    expect(error).toMatchObject({ code: 'unexpected_answer', message: 'the service has moved to https://new.example/' })
    expect(sent).toHaveLength(1)
  })
})

describe('a refusal', () => {
  it('of either style has its code, its status, its request id and the fields at fault', async () => {
    const details = [{ field: 'amount', message: 'must be greater than 0' }]
    const body = { success: false, code: 'invalid_argument', message: 'amount must be greater than 0', details }
    const { mkopo } = fakeService([answer(body, 400)])
    const facts = { code: 'invalid_argument', status: 400, requestId: 'req-1', details, mayBeDone: false }
    const call = { repayment_id: 1n, loan_id: 1n, amount: -1, collection_date: '2026-01-31' }
    expect(await failureOf(mkopo.records.postRepayment(call))).toMatchObject(facts)
    expect(await failureOf(mkopo.postRepayment('1', repayment))).toMatchObject({ ...facts, name: 'MkopoError' })
  })

  it('that is not the service’s says so', async () => {
    const { mkopo } = fakeService([new Response('Forbidden', { status: 403 })])
    const error = await failureOf(mkopo.getLoan('1'))
    expect(error).toMatchObject({ code: 'unexpected_answer', status: 403, requestId: undefined })
  })
})

describe('an answer', () => {
  it('that is a text is a text, and one without a body is undefined', async () => {
    const text = new Response('\uFEFFa,b\n', { headers: { 'content-type': 'text/csv' } })
    expect(await fakeService([text]).mkopo.getJournalCsv({ period: '2026-01' })).toBe('\uFEFFa,b\n')
    expect(await fakeService([answer(undefined, 204)]).mkopo.auth.authorize({ rule: 'any' })).toBeUndefined()
  })
})
