import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { FIRST_DAY, startService, type TestService } from '../../../support/service.ts'
import { type Lent, lendBy, repay } from '../terms/lent.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())
beforeEach(() => service.clock.set(FIRST_DAY))

interface Shown {
  readonly spans: readonly { readonly from: string; readonly bucket: string; readonly daysPastDueTo: number }[]
}
const read = async ({ path }: Pick<Lent, 'path'>, query = '') =>
  (await service.get<Shown>(`${path}/delinquency${query}`)).body
const bucketsOf = async (lent: Lent, query?: string) =>
  (await read(lent, query)).spans.map(({ from, bucket, daysPastDueTo }) => [from, bucket, daysPastDueTo])

describe('GET /v1/loans/{id}/delinquency', () => {
  it('has the buckets of each day, and what began and ended them', async () => {
    const lent = await lendBy(service, {})
    service.clock.set('2026-04-02')
    const { spans, ...whole } = await read(lent, '?policy=cbk')
    expect(whole).toMatchObject({
      loanId: lent.loan.id,
      asOf: '2026-04-02',
      policy: 'cbk',
      source: expect.stringMatching(/CBK\/PG\/04/),
    })
    expect(spans).toEqual([
      {
        ...{ from: '2026-01-31', to: '2026-03-30', bucket: 'normal', class: 'Normal', daysPastDueFrom: 0 },
        ...{ daysPastDueTo: 30, began: ['disbursement'], ended: ['days passed'] },
      },
      {
        ...{ from: '2026-03-31', bucket: 'watch', class: 'Watch', daysPastDueFrom: 31, daysPastDueTo: 33 },
        ...{ began: ['days passed'], ended: [] },
      },
    ])
  })

  it('answers for any day, and as the loan was known at any instant', async () => {
    const lent = await lendBy(service, {})
    service.clock.set('2026-03-10')
    const then = [
      ['2026-01-31', 'current', 0],
      ['2026-03-01', '1-30', 10],
    ]
    expect(await bucketsOf(lent)).toEqual(then)
    expect(await bucketsOf(lent, '?asOf=2026-02-28')).toEqual([['2026-01-31', 'current', 0]])
    service.clock.set('2026-03-20')
    const { transaction } = await repay(service, lent, 30_000, '2026-02-27')
    expect(await bucketsOf(lent, '?asOf=2026-03-10')).toEqual([['2026-01-31', 'current', 0]])
    expect(await bucketsOf(lent, '?knownAt=2026-03-10T12:00:00%2B03:00')).toEqual(then)
    expect(await bucketsOf(lent, '?asOf=2026-03-10&knownAt=2026-03-19')).toEqual(then)
    service.clock.set('2026-03-25')
    await service.post(`${lent.path}/repayments/${transaction.id}/reverse`, { token: service.tokens.operator })
    expect(await bucketsOf(lent, '?asOf=2026-03-10')).toEqual(then)
    expect(await bucketsOf(lent, '?asOf=2026-03-10&knownAt=2026-03-20')).toEqual([['2026-01-31', 'current', 0]])
  })

  it('is the number of days that the loan itself says', async () => {
    const lent = await lendBy(service, {})
    for (const day of ['2026-02-28', '2026-03-01', '2026-03-31', '2026-05-30']) {
      service.clock.set(day)
      const { daysOverdue } = (await service.get(lent.path)).body
      expect((await read(lent)).spans.at(-1)).toMatchObject({ daysPastDueTo: daysOverdue })
    }
  })

  it.each([
    ['?asOf=2026-01-30', 'asOf'],
    ['?asOf=2026-02-02', 'asOf'],
    ['?knownAt=2026-01-30', 'knownAt'],
    ['?knownAt=2026-02-02T00:00:00Z', 'knownAt'],
    ['?policy=mine', 'policy'],
    ['?day=2026-02-01', 'day'],
  ])('%s is refused, naming the field', async (query, field) => {
    const lent = await lendBy(service, {})
    service.clock.set('2026-02-01')
    const { status, body } = await service.get(`${lent.path}/delinquency${query}`)
    expect([status, body.details[0]!.field]).toEqual([400, field])
  })
})
