import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as examples from '../../../../src/api/partner/portfolio/examples.ts'
import { drain } from '../../../../src/services/jobs/job.ts'
import { sweepJob } from '../../../../src/services/loans/sweep.ts'
import { keepJournal, keptBeside } from '../../../support/journal.ts'
import { aBasicLoan, aBorrower } from '../../../support/recordBodies.ts'
import { recordsOf } from '../../../support/records.ts'
import { startService, type TestService } from '../../../support/service.ts'

// The portfolio over HTTP (contract 11.9 to 11.13): three loans, of which one is due on 28 February.

let service: TestService
beforeAll(async () => {
  service = await startService()
  service.clock.set('2026-01-28T09:00:00+03:00')
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  await lend('late')
  await at('2026-03-15T09:00:00+03:00')
  // 10,000 more than the interest: 90,000 of the principal stay.
  const { body: loan } = await service.get('/v1/loans/external/late')
  await repay('late', loan.interestOutstanding + 10_000)
  await lend('first', 110_000)
  await lend('second')
  await at('2026-03-31T18:00:00+03:00')
})
afterAll(() => service.close())

const at = async (moment: string) => {
  service.clock.set(moment)
  await drain(sweepJob(service.deps))
}

const lend = async (externalId: string, principal = 100_000) => {
  const answer = await service.post('/v1/loans', {
    body: { customerId: 'asha', productId: 1, principal, externalId },
  })
  expect(answer.status, answer.text).toBe(200)
}

const repay = async (externalId: string, transactionAmount: number) => {
  const answer = await service.post(`/v1/loans/external/${externalId}/repayments`, { body: { transactionAmount } })
  expect(answer.status, answer.text).toBe(200)
}

const token = () => service.tokens.operator
/** The members of the answers that the tests look at. */
interface Portfolio {
  readonly message: string
  readonly details: [{ field: string; message: string }]
  readonly groups: {
    readonly productId: number
    readonly month: string
    readonly loans: number
    readonly principalOutstanding: number
    readonly provision: number
    readonly booked: number
    readonly difference: number
  }[]
  readonly currencies: [
    {
      readonly rows: { readonly bucket: string; readonly to: { readonly bucket: string; readonly loans: number }[] }[]
      readonly lent: { readonly loans: number }
      readonly reopened: { readonly loans: number }
    },
  ]
  readonly postings: { readonly difference: number }[]
}

const get = (path: string) => service.get<Portfolio>(`/v1/portfolio/${path}`, { token: token() })
const book = (body: object) => service.post<Portfolio>('/v1/portfolio/provisions/book', { token: token(), body })

const booked = (body: object) => keptBeside(service.deps, book(body))

describe('GET /v1/portfolio/par', () => {
  it('answers as the document shows', async () => {
    const { status, body } = await get('par?asOf=2026-03-31&by=product')
    expect(status).toBe(200)
    expect(body).toEqual(examples.portfolio)
  })

  it('divides by product, currency and month, always by currency, and sums to the same', async () => {
    await service.post('/v1/loans', { body: { customerId: 'asha', productId: 3, principal: 50_000 } })
    const records = recordsOf(service)
    await records.post('/v1/borrowers', { body: aBorrower })
    await records.post('/v1/loans', { body: { ...aBasicLoan, released_date: '2026-02-10', due_date: '2026-05-10' } })
    const { body: whole } = await get('par')
    expect(whole.groups).toHaveLength(1)
    const { body: divided } = await get('par?by=month,product')
    const keys = divided.groups.map(({ productId, month }) => [productId, month])
    expect(keys).toEqual([
      [null, '2026-02'],
      [1, '2026-01'],
      [1, '2026-03'],
      [3, '2026-03'],
    ])
    const sum = (groups: Portfolio['groups']) =>
      groups.reduce((all, one) => [all[0]! + one.loans, all[1]! + one.principalOutstanding], [0, 0])
    expect(sum(divided.groups)).toEqual(sum(whole.groups))
    expect(sum(whole.groups)).toEqual([5, 300_000 + 50_000 + aBasicLoan.principal_amount])
  })

  it('answers for a past day, and as it was known then', async () => {
    const ofDay = async (query: string) => (await get(`par?${query}`)).body.groups[0]?.principalOutstanding
    expect(await ofDay('asOf=2026-03-14')).toBe(100_000 + aBasicLoan.principal_amount)
    expect(await ofDay('asOf=2026-03-14&knownAt=2026-03-20')).toBe(100_000)
    expect(await ofDay('knownAt=2026-03-20')).toBe(300_000)
    expect((await get('par?asOf=2026-01-27')).body.groups).toEqual([])
    expect((await get('par?knownAt=2026-03-20')).body).toMatchObject({
      ...{ asOf: '2026-03-20', knownAt: '2026-03-20T23:59:59.999+03:00' },
    })
  })

  it.each([
    ['asOf=2026-04-01', 'asOf', 'must be at most 2026-03-31'],
    ['asOf=2026-03-21&knownAt=2026-03-20', 'asOf', 'must be at most 2026-03-20'],
    ['knownAt=2026-04-01', 'knownAt', 'must not be in the future'],
    ['asOf=yesterday', 'asOf', ''],
    ['by=loan', 'by', 'must be one or several of product, currency, month, restructured, officer, separated by commas'],
    ['policy=best', 'policy', ''],
    ['policy=7', 'policy', ''],
    ['bucket=1-30', 'bucket', 'is not a known parameter; those left are asOf, knownAt, by, policy'],
  ])('400 for %s', async (query, field, message) => {
    const { status, body } = await get(`par?${query}`)
    expect([status, body.details[0].field, body.details[0].message]).toEqual([
      400,
      field,
      message === '' ? expect.any(String) : message,
    ])
  })
})

describe('GET /v1/portfolio/roll-rates', () => {
  it('has a row for each bucket, and what was lent since', async () => {
    const { status, body } = await get('roll-rates?from=2026-02-28&to=2026-03-31')
    expect(status).toBe(200)
    const [{ rows, lent, reopened }] = body.currencies
    const moved = rows.flatMap(({ bucket, to }) =>
      to.filter(({ loans }) => loans > 0).map((one) => [bucket, one.bucket, one.loans]),
    )
    expect(moved).toEqual([
      ['current', 'current', 1],
      ['current', '31-60', 1],
    ])
    expect([lent.loans, reopened.loans]).toEqual([3, 0])
  })

  it.each([
    ['from=2026-03-31', 'from', 'must be before 2026-03-31'],
    ['from=2026-03-01&to=2026-04-01', 'to', 'must be at most 2026-03-31'],
    ['', 'from', expect.any(String)],
  ])('400 for %s', async (query, field, message) => {
    const { status, body } = await get(`roll-rates?${query}`)
    expect([status, body.details[0].field, body.details[0].message]).toEqual([400, field, message])
  })
})

describe('provisions', () => {
  it('are refused by a policy without rates', async () => {
    for (const answer of [await get('provisions'), await book({})])
      expect([answer.status, answer.body.message]).toEqual([
        409,
        expect.stringMatching(/^no bucket of the policy has a provisionRate: set a policy/),
      ])
  })

  it('are booked as the difference from what is booked, and nothing twice', async () => {
    await service.put('/v1/delinquency-policy', { token: token(), body: { preset: 'cbk' } })
    await keepJournal(service.deps)
    const { body: before } = await get('provisions')
    const { groups } = before
    expect(groups.map(({ productId }) => productId)).toEqual([null, 1, 3])
    const late = groups.find(({ productId }) => productId === 1)!
    // 90,000 in watch at 3 %, 200,000 in normal at 1 %.
    expect(late).toMatchObject({ provision: 90_000 * 0.03 + 210_000 * 0.01, booked: 0 })
    expect(late.difference).toBe(late.provision)
    const { status, body } = await booked({})
    expect([status, body.postings.map(({ difference }) => difference)]).toEqual([
      200,
      groups.map(({ difference }) => difference),
    ])
    expect((await booked({})).body).toEqual({ asOf: '2026-03-31', postings: [] })
    await keepJournal(service.deps)
    const { body: after } = await get('provisions')
    expect(after.groups.map((one) => [one.booked, one.difference])).toEqual(
      groups.map(({ provision }) => [provision, 0]),
    )
    const { body: balance } = await service.get<{ accounts: { code: string; balance: number }[] }>(
      '/v1/accounting/trial-balance',
      { token: token() },
    )
    const sum = groups.reduce((all, { provision }) => all + provision, 0)
    const of = (code: string) => balance.accounts.find((one) => one.code === code)?.balance
    expect([of('5300'), of('1300')]).toEqual([sum, -sum])
  })
})

describe('the role USER', () => {
  it.each(['par', 'roll-rates?from=2026-03-01', 'provisions'])('403 for GET /v1/portfolio/%s', async (path) => {
    expect((await service.get(`/v1/portfolio/${path}`)).status).toBe(403)
  })

  it('403 for a booking', async () => {
    expect((await service.post('/v1/portfolio/provisions/book', { body: {} })).status).toBe(403)
  })
})
