import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { walk } from '../../support/cursors.ts'
import { recordsOf } from '../../support/records.ts'
import { startService, type TestService } from '../../support/service.ts'

// A walk by cursor through each list, in both styles (contract 15).

let service: TestService
beforeAll(async () => {
  service = await startService()
  for (const name of ['asha', 'juma', 'neema']) await service.post('/v1/customers', { body: { externalId: name } })
  for (let number = 1; number <= 5; number++) {
    const body = { customerId: 'asha', productId: 3, principal: number * 1_000, externalId: `loan-${number}` }
    await service.post('/v1/loans', { body })
  }
  service.clock.set('2026-02-10')
  for (let number = 1; number <= 5; number++)
    await service.post('/v1/loans/external/loan-1/repayments', { body: { transactionAmount: number } })
})
afterAll(() => service.close())

const partner = (path: string) => service.get(path)
const operator = (path: string) => service.get(path, { token: service.tokens.operator })
const record = (path: string) => recordsOf(service).get(path)

const LISTS = [
  ['partner', '/v1/customers', partner],
  ['partner', '/v1/loans', partner],
  ['partner', '/v1/loans?status=Active,Overpaid', partner],
  ['partner', '/v1/loans?disbursedFrom=2026-01-01&overdue=false', partner],
  ['partner', '/v1/loan-products', partner],
  ['partner', '/v1/loans/external/loan-1/repayments', partner],
  ['partner', '/v1/transactions', partner],
  ['partner', '/v1/transactions?postedFrom=2026-01-01', partner],
  ['partner', '/v1/loans/external/loan-1/transactions', partner],
  ['partner', '/v1/audit-trail', operator],
  ['record', '/v1/borrowers', record],
  ['record', '/v1/loans', record],
  ['record', '/v1/repayments', record],
] as const

describe('a walk by cursor', () => {
  it.each(LISTS)(
    '%s style, %s: gives what the pages give, in their order, two at a time',
    async (_style, path, get) => {
      const more = path.includes('?') ? '&' : '?'
      const { body: page } = await get(path)
      expect(page.items.length).toBeGreaterThanOrEqual(3)
      expect(page.total).toBe(page.items.length)
      const steps = await walk<unknown>(get, `${path}${more}rows=2`)
      expect(steps.flat()).toEqual(page.items)
      expect(steps.at(-1)).toEqual([])
      expect(steps.slice(0, -2).every((step) => step.length === 2)).toBe(true)
    },
  )

  it.each(LISTS)(
    '%s style, %s: an answer of a walk has no total and no number of a page',
    async (_style, path, get) => {
      const more = path.includes('?') ? '&' : '?'
      const { body: first } = await get(`${path}${more}rows=1`)
      const { body } = await get(`${path}${more}rows=1&after=${first.next}`)
      const success = _style === 'record' ? ['success'] : []
      expect(Object.keys(body)).toEqual(['items', 'rowsPerPage', 'next', ...success])
    },
  )

  it('goes on after the last item with what has come since', async () => {
    const { body: page } = await service.get('/v1/customers')
    expect((await service.get(`/v1/customers?after=${page.next}`)).body).toEqual({ items: [], rowsPerPage: 100 })
    await service.post('/v1/customers', { body: { externalId: 'late' } })
    const { body: rest } = await service.get(`/v1/customers?after=${page.next}`)
    expect(rest.items.map(({ externalId }) => externalId)).toEqual(['late'])
  })
})

describe('a range that names no part of a list', () => {
  const cursorOf = async (path: string) => (await service.get(path)).body.next

  it.each([
    [
      '/v1/loans?after=nonsense',
      'after: must be the next of an answer of this list, with the same updatedSince or without it',
    ],
    ['/v1/loans?after=', 'after: must not be empty'],
    ['/v1/loans?page=1&after=bG9hbnMuMQ', 'page: cannot be given together with after: leave one of the two out'],
    ['/v1/loans?page=1&updatedSince=2026-01-01', 'page: cannot be given together with updatedSince: go on by after'],
    [
      '/v1/loans?orderBy=principal&after=bG9hbnMuMQ',
      'orderBy: cannot be given together with after, which has an order of its own',
    ],
    [
      '/v1/loans?sortOrder=DESC&updatedSince=2026-01-01',
      'sortOrder: cannot be given together with updatedSince, which has an order of its own',
    ],
    [`/v1/loans?after=${'A'.repeat(8_001)}`, 'after: must be at most 8000 characters long'],
    ['/v1/loans?status=Active,Open', /^status: must be one or several of Active, .*, separated by commas$/],
    ['/v1/loans?overdue=yes', 'overdue: must be true or false'],
    ['/v1/loans?dueBefore=2026-13-01', 'dueBefore: is not a date on the calendar'],
    ['/v1/transactions?type=Payment', /^type: must be one or several of Repayment, /],
    [
      '/v1/transactions?postedFrom=yesterday',
      'postedFrom: must be an instant such as 2026-11-20T14:30:00+03:00, or a date such as 2026-11-20',
    ],
    ['/v1/transactions?postedFrom=2026-01-01T25:00:00Z', /^postedFrom: must be an instant/],
    ['/v1/transactions?postedFrom=0003-01-01T00:00:00Z', 'postedFrom: must be between 1900-01-01 and 2999-12-31'],
    ['/v1/transactions?postedFrom=2026-02-30T00:00:00Z', /^postedFrom: must be an instant/],
    ['/v1/transactions?dateTo=3000-01-01', 'dateTo: must be between 1900-01-01 and 2999-12-31'],
    ['/v1/customers?status=Open', /^status: /],
  ])('400 invalid_argument: %s', async (path, message) => {
    const { status, body } = await service.get(path)
    const expected = typeof message === 'string' ? message : expect.stringMatching(message)
    expect([status, body.code, body.message]).toEqual([400, 'invalid_argument', expected])
  })

  it('400 invalid_argument: the cursor of another list, or of another order', async () => {
    const cursors = [await cursorOf('/v1/customers'), await cursorOf('/v1/loans?updatedSince=2026-01-01')]
    for (const cursor of cursors) expect((await service.get(`/v1/loans?after=${cursor}`)).status).toBe(400)
    const [records, own] = [recordsOf(service), await cursorOf('/v1/loans')]
    expect((await records.get(`/v1/loans?after=${own}&updated_since=2026-01-01`)).body.message).toBe(
      'after: must be the next of an answer of this list, with the same updated_since or without it',
    )
  })

  it('400 invalid_argument: the cursor of another loan', async () => {
    await service.post('/v1/loans/external/loan-2/repayments', { body: { transactionAmount: 1 } })
    for (const list of ['transactions', 'repayments', 'transactions?updatedSince=2026-01-01']) {
      const own = await cursorOf(`/v1/loans/external/loan-1/${list}`)
      const path = `/v1/loans/external/loan-2/${list}${list.includes('?') ? '&' : '?'}after=${own}`
      expect([list, (await service.get(path)).status]).toEqual([list, 400])
    }
  })

  it('404 not_found for the transactions of an unknown loan', async () => {
    expect((await service.get('/v1/loans/external/nobody/transactions')).status).toBe(404)
    expect((await service.get('/v1/loans/99/transactions')).status).toBe(404)
  })
})
