import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMkopo } from '../../../clients/typescript/src/index.ts'
import { answer, broken, failureOf, fakeService, refusal, URLS } from './fake.ts'

afterEach(() => vi.useRealTimers())

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
    const text = new Response('a,b\n', { headers: { 'content-type': 'text/csv' } })
    expect(await fakeService([text]).mkopo.getJournalCsv({ period: '2026-01' })).toBe('a,b\n')
    expect(await fakeService([answer(undefined, 204)]).mkopo.auth.authorize({ rule: 'any' })).toBeUndefined()
  })
})
