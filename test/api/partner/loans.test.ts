import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { FIRST_DAY, startService, type TestService } from '../../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
})
afterAll(() => service.close())
beforeEach(() => service.clock.set(FIRST_DAY))

const lend = (body: object = {}) =>
  service.post('/v1/loans', { body: { customerId: 'asha', productId: 1, principal: 100_000, ...body } })

describe('POST /v1/loans', () => {
  it('answers the loan, Active, with one period due a month on', async () => {
    service.clock.stand(FIRST_DAY)
    const { status, body } = await lend({ externalId: 'first' })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      externalId: 'first',
      customerExternalId: 'asha',
      customerName: 'asha Customer',
      loanProductId: 1,
      loanProductName: 'Flat 10% monthly',
      status: 'Active',
      principal: 100_000,
      currencyCode: 'TZS',
      principalOutstanding: 100_000,
      interestCharged: 10_000,
      totalOutstanding: 110_000,
      totalPaid: 0,
      nextDueDate: '2026-02-28',
      nextDueAmount: 110_000,
      dueDate: '2026-02-28',
      dueDateTime: '2026-02-28T09:30:00.000+03:00',
      disbursedAt: '2026-01-31T09:30:00.000+03:00',
      overdue: false,
      repaymentSchedule: [
        {
          period: 1,
          fromDate: '2026-01-31',
          dueDate: '2026-02-28',
          principalDue: 100_000,
          interestDue: 10_000,
          totalDue: 110_000,
          principalBalance: 0,
          complete: false,
        },
      ],
    })
    expect(body.id).toMatch(/^\d+$/)
    expect(body.accountNo).toBe('000000001')
    const delinquency = { daysPastDue: 0, bucket: 'current', since: '2026-01-31' }
    const read = { ...body, delinquency, repaymentHistory: [] }
    expect((await service.get(`/v1/loans/${body.id}`)).body).toEqual(read)
    expect((await service.get('/v1/loans/external/first')).body).toEqual(read)
  })

  it('keeps the day of the month: 31 Jan, 28 Feb, 31 Mar', async () => {
    const { body } = await lend({ productId: 3 })
    expect(body.repaymentSchedule.map((period: { dueDate: string }) => period.dueDate)).toEqual([
      '2026-02-28',
      '2026-03-31',
      '2026-04-30',
      '2026-05-31',
      '2026-06-30',
      '2026-07-31',
    ])
  })

  it('404 not_found: no customer has that externalId, no product has that id', async () => {
    expect(await lend({ customerId: 'nobody' })).toMatchObject({ status: 404, body: { code: 'not_found' } })
    expect(await lend({ productId: 99 })).toMatchObject({ status: 404, body: { code: 'not_found' } })
  })

  it('409 already_exists: the externalId is taken', async () => {
    await lend({ externalId: 'taken' })
    const { status, body } = await lend({ externalId: 'taken', principal: 5_000 })
    expect(status).toBe(409)
    expect(body).toMatchObject({ code: 'already_exists', details: [{ field: 'externalId' }] })
  })

  it.each([
    ['0', 'must be greater than 0'],
    ['-5', 'must be greater than 0'],
    ['"100"', 'must be a number, not a string'],
    ['1e400', 'is too large, or has too many digits'],
    ['100.001', 'must have at most 2 decimals in TZS'],
    ['999.99', 'must be between 1000.00 TZS and 10000000.00 TZS for Flat 10% monthly'],
    ['10000000.01', 'must be between 1000.00 TZS and 10000000.00 TZS for Flat 10% monthly'],
    ['1000.0000000000000000000001', 'must have at most 2 decimals in TZS'],
    ['null', 'must not be null'],
  ])('400 invalid_argument: a principal of %s', async (principal, message) => {
    const before = (await service.get('/v1/loans')).body.total
    const { status, body } = await service.post('/v1/loans', {
      raw: `{"customerId":"asha","productId":1,"principal":${principal}}`,
    })
    expect(status).toBe(400)
    expect(body).toEqual({
      code: 'invalid_argument',
      message: `principal: ${message}`,
      details: [{ field: 'principal', message }],
    })
    expect((await service.get('/v1/loans')).body.total).toBe(before)
  })

  it('takes both bounds of the product, and cents', async () => {
    for (const principal of [1_000, 10_000_000, 1_234.56])
      expect((await lend({ principal })).body.principal).toBe(principal)
  })

  it.each(['', '   ', '.', '..', 'a\u0000b', 'x'.repeat(101), 42])(
    '400 invalid_argument: an externalId of %j',
    async (externalId) => {
      const { status, body } = await lend({ externalId })
      expect(status).toBe(400)
      expect(body).toMatchObject({ code: 'invalid_argument', details: [{ field: 'externalId' }] })
    },
  )

  it('400 invalid_argument: an unknown field, with the nearest known one', async () => {
    const { status, body } = await lend({ externalID: 'x' })
    expect(status).toBe(400)
    expect(body.message).toBe('externalID: is not a known field; did you mean externalId?')
  })
})

describe('GET /v1/loans', () => {
  it('pages with the true total on every page, past the end too', async () => {
    await service.post('/v1/customers', { body: { externalId: 'paged' } })
    for (const principal of [3_000, 1_000, 2_000]) await lend({ customerId: 'paged', principal })
    const page = async (query: string) => (await service.get(`/v1/loans?customerExternalId=paged&${query}`)).body
    const principals = (body: { readonly items: readonly { principal: number }[] }) =>
      body.items.map((item) => item.principal)

    expect(await page('rows=2')).toMatchObject({ total: 3, page: 1, rowsPerPage: 2 })
    expect(principals(await page('rows=2'))).toEqual([3_000, 1_000])
    expect(principals(await page('rows=2&page=2'))).toEqual([2_000])
    expect(await page('rows=2&page=9')).toEqual({ items: [], total: 3, page: 9, rowsPerPage: 2 })
    expect(principals(await page('orderBy=principal'))).toEqual([1_000, 2_000, 3_000])
    expect(principals(await page('orderBy=principal&sortOrder=DESC'))).toEqual([3_000, 2_000, 1_000])
    expect(await page('status=Overpaid')).toMatchObject({ items: [], total: 0 })
    expect((await page('status=Active')).items[0]).not.toHaveProperty('repaymentHistory')
    const { customerId } = (await page('rows=1')).items[0]!
    expect((await service.get(`/v1/loans?customerId=${customerId}`)).body.total).toBe(3)
  })

  it('of an unknown customer: an empty page', async () => {
    const empty = { items: [], total: 0, page: 1, rowsPerPage: 100 }
    expect((await service.get('/v1/loans?customerExternalId=nobody')).body).toEqual(empty)
    expect((await service.get('/v1/loans?customerId=1')).body).toEqual(empty)
  })

  it.each(['rows=0', 'rows=101', 'rows=abc', 'page=0', 'page=-1', 'page=1.5', 'rows=', 'page=1&page=2'])(
    '400 invalid_argument: %s',
    async (query) => {
      const { status, body } = await service.get(`/v1/loans?${query}`)
      expect(status).toBe(400)
      expect(body).toMatchObject({ code: 'invalid_argument', details: [{ field: query.split('=')[0] }] })
    },
  )

  it('400 invalid_argument: an unknown query field, status or order', async () => {
    expect((await service.get('/v1/loans?custmerId=1')).body.message).toContain('did you mean customerId?')
    expect((await service.get('/v1/loans?status=Late')).body).toMatchObject({ details: [{ field: 'status' }] })
    expect((await service.get('/v1/loans?orderBy=name')).body).toMatchObject({ details: [{ field: 'orderBy' }] })
  })
})

describe('GET /v1/loans/{id}', () => {
  it.each(['1', '0', 'abc', '-1', '9223372036854775807', '9223372036854775808', 'external/none', 'external/%20'])(
    '404 not_found: %s',
    async (address) => {
      const { status, body } = await service.get(`/v1/loans/${address}`)
      expect(status).toBe(404)
      expect(body.code).toBe('not_found')
    },
  )

  it('is overdue at 00:00:00 EAT of the day after, and not a second sooner', async () => {
    const { body: loan } = await lend()
    const at = async (moment: string) => {
      service.clock.set(moment)
      return (await service.get(`/v1/loans/${loan.id}`)).body
    }
    expect(await at('2026-02-28T23:59:59+03:00')).toMatchObject({ overdue: false, daysOverdue: 0, totalOverdue: 0 })
    expect(await at('2026-03-01T00:00:00+03:00')).toMatchObject({
      overdue: true,
      daysOverdue: 1,
      overdueSince: '2026-03-01',
      totalOverdue: 110_000,
    })
  })
})
