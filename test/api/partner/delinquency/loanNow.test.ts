import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { FIRST_DAY, startService, type TestService } from '../../../support/service.ts'
import { lendBy, repay } from '../terms/lent.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())
beforeEach(async () => {
  service.clock.set(FIRST_DAY)
  await service.owner.pool.query('DELETE FROM delinquency_policy')
})

const put = async (body: object) =>
  expect((await service.put('/v1/delinquency-policy', { body, token: service.tokens.operator })).status).toBe(200)
const nowOf = async (path: string) => (await service.get(path)).body.delinquency

describe('delinquency of GET /v1/loans/{id}', () => {
  it('is by the policy in force: days, bucket, since, and what the bucket has', async () => {
    const { path } = await lendBy(service, {})
    expect(await nowOf(path)).toEqual({ daysPastDue: 0, bucket: 'current', since: '2026-01-31' })
    service.clock.set('2026-04-02')
    expect(await nowOf(path)).toEqual({ daysPastDue: 33, bucket: '31-60', since: '2026-03-31' })
    await put({ preset: 'ifrs9' })
    expect(await nowOf(path)).toEqual({ daysPastDue: 33, bucket: 'stage 2', since: '2026-03-31', stage: 2 })
    await put({ preset: 'cbk' })
    expect(await nowOf(path)).toEqual({
      ...{ daysPastDue: 33, bucket: 'watch', since: '2026-03-31', class: 'Watch', provision: 2_700 },
    })
  })

  it('is the same by the externalId, and in no list', async () => {
    const { body } = await service.post('/v1/loan-products', {
      body: { name: 'One', minPrincipal: 1, maxPrincipal: 1_000, numberOfRepayments: 1, interestRate: 0 },
      token: service.tokens.operator,
    })
    await service.post('/v1/customers', { body: { externalId: 'one' } })
    const lent = await service.post('/v1/loans', {
      body: { customerId: 'one', productId: body.id, principal: 100, externalId: 'loan-one' },
    })
    expect(lent.body).not.toHaveProperty('delinquency')
    const byOwnId = (await service.get('/v1/loans/external/loan-one')).body
    expect(byOwnId).toEqual((await service.get(`/v1/loans/${lent.body.id}`)).body)
    expect(byOwnId.delinquency).toMatchObject({ bucket: 'current' })
    const { items } = (await service.get('/v1/loans?externalId=loan-one')).body
    expect(items[0]).not.toHaveProperty('delinquency')
  })

  it('is absent once nothing is owed, and there again after a reversal', async () => {
    const lent = await lendBy(service, {})
    service.clock.set('2026-03-05')
    const { transaction, loan } = await repay(service, lent, 90_000)
    expect(loan).not.toHaveProperty('delinquency')
    await service.post(`${lent.path}/repayments/${transaction.id}/reverse`, { token: service.tokens.operator })
    expect(await nowOf(lent.path)).toEqual({ daysPastDue: 5, bucket: '1-30', since: '2026-03-01' })
    await service.post(`${lent.path}/write-off`, { token: service.tokens.operator })
    expect(await nowOf(lent.path)).toBeUndefined()
  })

  it('has the provision of the bucket, and counts only arrears that matter', async () => {
    const { path } = await lendBy(service, {})
    const bucket = { name: 'all', fromDays: 0, provisionRate: 0.5555 }
    await put({ buckets: [bucket], countFrom: 'oldest_unpaid', materiality: { amount: 30_000 } })
    service.clock.set('2026-03-10')
    // 0.5555 % of 90,000.
    expect(await nowOf(path)).toEqual({ daysPastDue: 0, bucket: 'all', since: '2026-01-31', provision: 499.95 })
    service.clock.set('2026-04-01')
    expect(await nowOf(path)).toMatchObject({ daysPastDue: 32 })
  })

  it('another instance counts a new policy for the next request', async () => {
    const { path } = await lendBy(service, {})
    const other = await service.another()
    try {
      const read = async () => (await other.get<{ delinquency: { bucket: string } }>(path)).body.delinquency.bucket
      expect(await read()).toBe('current')
      for (const [preset, bucket] of [
        ['cbk', 'normal'],
        ['ifrs9', 'stage 1'],
        ['par', 'current'],
      ] as const) {
        await put({ preset })
        expect(await read()).toBe(bucket)
      }
    } finally {
      await other.close()
    }
  })
})

describe('policy of GET /v1/loans/{id}/delinquency', () => {
  interface Answer {
    readonly policy?: string
    readonly policyVersion?: number
    readonly spans: readonly { readonly bucket: string }[]
  }
  const read = async (path: string, query = '') => (await service.get<Answer>(`${path}/delinquency${query}`)).body

  it('is the one in force at knownAt, a version, or a preset', async () => {
    const { path } = await lendBy(service, {})
    service.clock.set('2026-02-10')
    await put({ preset: 'cbk' })
    service.clock.set('2026-02-20')
    await put({ preset: 'ifrs9' })
    service.clock.set('2026-03-01')
    const policyOf = async (query = '') => {
      const { policy, policyVersion, spans } = await read(path, query)
      return [policy, policyVersion, spans.at(-1)?.bucket]
    }
    expect(await policyOf()).toEqual(['ifrs9', 2, 'stage 1'])
    expect(await policyOf('?knownAt=2026-02-20')).toEqual(['ifrs9', 2, 'stage 1'])
    expect(await policyOf('?knownAt=2026-02-19')).toEqual(['cbk', 1, 'normal'])
    expect(await policyOf('?knownAt=2026-02-09')).toEqual(['par', 0, 'current'])
    expect(await policyOf('?policy=1')).toEqual(['cbk', 1, 'normal'])
    expect(await policyOf('?policy=0&knownAt=2026-02-19')).toEqual(['par', 0, 'current'])
    expect(await policyOf('?policy=cbk')).toEqual(['cbk', undefined, 'normal'])
  })

  it.each(['3', '2147483648', '9999999999', '01x', 'mine'])('400 invalid_argument: %s', async (policy) => {
    const { path } = await lendBy(service, {})
    await put({ preset: 'cbk' })
    const answer = await service.get(`${path}/delinquency?policy=${policy}`)
    expect([answer.status, answer.body.message]).toEqual([
      400,
      'policy: must be one of par, cbk, ifrs9, or the number of a version of the policy',
    ])
  })
})
