import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { FIRST_DAY, startService, type TestService } from '../../support/service.ts'

let service: TestService
let other: TestService
beforeAll(async () => {
  service = await startService()
  other = await service.another()
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
})
afterAll(() => service.close())
beforeEach(() => service.clock.set(FIRST_DAY))

let keys = 0
const newKey = () => `key-${++keys}`
const under = (key: string) => ({ 'idempotency-key': key })
const application = { customerId: 'asha', productId: 1, principal: 100_000 }
const totalOf = async (path: string) => (await service.get(path)).body.total as number

describe('Idempotency-Key', () => {
  it('the same request again answers the stored response, byte for byte, on any instance', async () => {
    const key = newKey()
    const first = await service.post('/v1/loans', { body: application, headers: under(key) })
    const loans = await totalOf('/v1/loans')
    await service.post(`/v1/loans/${first.body.id}/repayments`, { body: { transactionAmount: 5 } })
    for (const instance of [service, other]) {
      const again = await instance.post('/v1/loans', { body: application, headers: under(key) })
      expect(again.status).toBe(200)
      expect(again.text).toBe(first.text)
      expect(again.headers['idempotency-replayed']).toBe('true')
    }
    expect(await totalOf('/v1/loans')).toBe(loans)
  })

  it('the order of the fields and white space do not make another request', async () => {
    const key = newKey()
    const first = await service.post('/v1/loans', { body: application, headers: under(key) })
    const again = await service.post('/v1/loans', {
      raw: '{ "principal": 100000.0, "productId": 1,\n "customerId": "asha" }',
      headers: under(key),
    })
    expect(again.text).toBe(first.text)
  })

  it('400 invalid_argument: the key stood for another request', async () => {
    const key = newKey()
    await service.post('/v1/customers', { body: { externalId: 'one' }, headers: under(key) })
    for (const [path, body] of [
      ['/v1/customers', { externalId: 'two' }],
      ['/v1/loans', application],
    ] as const)
      expect(await service.post(path, { body, headers: under(key) })).toMatchObject({
        status: 400,
        body: { code: 'invalid_argument', details: [{ field: 'Idempotency-Key' }] },
      })
  })

  it('a refused request does not burn the key', async () => {
    const key = newKey()
    const call = { body: { ...application, customerId: 'late' }, headers: under(key) }
    expect(await service.post('/v1/loans', call)).toMatchObject({ status: 404 })
    await service.post('/v1/customers', { body: { externalId: 'late' } })
    expect(await service.post('/v1/loans', call)).toMatchObject({ status: 200, body: { status: 'Active' } })
  })

  it('100 at once on two instances: one transaction; the others get its answer, or 409 aborted while it runs', async () => {
    const { body: loan } = await service.post('/v1/loans', { body: application })
    const call = { body: { transactionAmount: 700 }, headers: under(newKey()) }
    const send = (index: number) => (index % 2 === 0 ? service : other).post(`/v1/loans/${loan.id}/repayments`, call)
    const answers = await Promise.all(Array.from({ length: 100 }, (_, index) => send(index)))
    const done = answers.filter(({ status }) => status === 200)
    expect(new Set(done.map(({ text }) => text)).size).toBe(1)
    for (const answer of answers.filter(({ status }) => status !== 200))
      expect(answer).toMatchObject({ status: 409, body: { code: 'aborted' } })
    expect((await send(0)).text).toBe(done[0]?.text)
    expect((await service.get(`/v1/loans/${loan.id}`)).body.totalPaid).toBe(700)
  })

  it('is of its account: another account may use the same key', async () => {
    const key = newKey()
    await service.post('/v1/customers', { body: { externalId: 'mine' }, headers: under(key) })
    const theirs = { body: { externalId: 'theirs' }, headers: under(key), token: service.tokens.operator }
    expect(await service.post('/v1/customers', theirs)).toMatchObject({ status: 200, body: { externalId: 'theirs' } })
  })

  it('where a crash kept the answer from being stored, it is made again from what was changed', async () => {
    const { body: loan } = await service.post('/v1/loans', { body: application })
    const calls = [
      ['/v1/customers', { externalId: 'crashed' }],
      ['/v1/loans', application],
      [`/v1/loans/${loan.id}/repayments`, { transactionAmount: 5 }],
    ] as const
    for (const [path, body] of calls) {
      const key = newKey()
      const first = await service.post(path, { body, headers: under(key) })
      await service.deps.db.pool.query('UPDATE idempotency_key SET status = NULL, response = NULL WHERE key = $1', [
        key,
      ])
      expect(await service.post(path, { body, headers: under(key) })).toMatchObject({ status: 200, body: first.body })
    }
    expect((await service.get(`/v1/loans/${loan.id}`)).body.totalPaid).toBe(5)
  })

  it('is good for 30 days, and then for another request', async () => {
    const key = newKey()
    await service.post('/v1/customers', { body: { externalId: 'before' }, headers: under(key) })
    service.clock.set('2026-03-05')
    const call = {
      body: { externalId: 'after' },
      headers: under(key),
      token: await service.deps.signIn.issueToken('partner@example.com', 'partner-secret', '127.0.0.1'),
    }
    expect(await service.post('/v1/customers', call)).toMatchObject({ status: 200, body: { externalId: 'after' } })
  })

  it.each(['x'.repeat(256), ' ', 'naïve'])('400 invalid_argument: a key of %j', async (key) => {
    const answer = await service.post('/v1/customers', { body: { externalId: 'bad-key' }, headers: under(key) })
    expect(answer).toMatchObject({ status: 400, body: { details: [{ field: 'Idempotency-Key' }] } })
    expect(await totalOf('/v1/customers?externalId=bad-key')).toBe(0)
  })

  it('400 invalid_argument: two headers, be they the same', async () => {
    for (const second of ['twice', 'other']) {
      const answer = await service.app.inject({
        method: 'POST',
        url: '/v1/customers',
        headers: {
          host: 'api.localhost',
          authorization: `Bearer ${service.tokens.partner}`,
          'idempotency-key': ['twice', second],
        },
        payload: { externalId: 'twice' },
      })
      expect([answer.statusCode, answer.json()]).toEqual([
        400,
        {
          code: 'invalid_argument',
          message: 'Idempotency-Key: must be given only once',
          details: [{ field: 'Idempotency-Key', message: 'must be given only once' }],
        },
      ])
    }
    expect(await totalOf('/v1/customers?externalId=twice')).toBe(0)
  })

  it('a caller that hangs up and comes again gets the answer', async () => {
    const { body: loan } = await service.post('/v1/loans', { body: application })
    await service.app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = service.app.server.address() as { port: number }
    const key = newKey()
    const send = (signal?: AbortSignal) =>
      fetch(`http://127.0.0.1:${port}/v1/loans/${loan.id}/repayments`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${service.tokens.partner}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: '{"transactionAmount": 7}',
        ...(signal && { signal }),
      })
    for (const patience of [0, 1, 2, 4, 8]) {
      const hangUp = new AbortController()
      setTimeout(() => hangUp.abort(), patience)
      await send(hangUp.signal).catch(() => undefined)
    }
    let status = 409
    // Until the first has been saved, however long a busy machine takes.
    while (status === 409) {
      status = (await send()).status
      if (status === 409) await new Promise((resolve) => setTimeout(resolve, 20))
    }
    expect(status).toBe(200)
    expect((await service.get(`/v1/loans/${loan.id}`)).body.totalPaid).toBe(7)
  })

  it('raced by two instances: its own success is never answered as a conflict', async () => {
    for (let round = 0; round < 10; round++) {
      const call = { body: { externalId: `raced-${round}` }, headers: under(newKey()) }
      const answers = await Promise.all([service, other, service, other].map((one) => one.post('/v1/customers', call)))
      expect(
        answers.map(({ body }) => body.code ?? 'done').filter((code) => code !== 'done' && code !== 'aborted'),
      ).toEqual([])
    }
  })
})
