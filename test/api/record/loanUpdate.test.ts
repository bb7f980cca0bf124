import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { aBasicLoan, aBorrower, anExtendedLoan, aRepayment } from '../../support/recordBodies.ts'
import { type Records, recordsOf } from '../../support/records.ts'
import { FIRST_DAY, startService, type TestService } from '../../support/service.ts'

let service: TestService
let records: Records
beforeAll(async () => {
  service = await startService()
  records = recordsOf(service)
  for (const id of [1, 2]) await records.post('/v1/borrowers', { body: { ...aBorrower, id } })
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
})
afterAll(() => service.close())
beforeEach(() => service.clock.set(FIRST_DAY))

let lastId = 1_000
const nextId = () => ++lastId

async function lend(template: object = aBasicLoan): Promise<number> {
  const loan_id = nextId()
  expect((await records.post('/v1/loans', { body: { ...template, loan_id } })).status).toBe(200)
  return loan_id
}
const update = (id: number, body: object) => records.put(`/v1/loans/${id}`, { body })
const repay = (loan_id: number, body: object = {}) =>
  records.post('/v1/repayments', { body: { ...aRepayment, repayment_id: nextId(), loan_id, ...body } })
/** The loan in both styles: what a refusal must leave alone. */
const both = async (id: number) => [
  (await records.get(`/v1/loans/${id}`)).text,
  (await service.get(`/v1/loans/${id}`)).text,
]

describe('PUT /v1/loans/{id}', () => {
  it('keeps what is left out, changes what is given, and keeps and gives back products to the last digit', async () => {
    const id = await lend()
    service.clock.set('2026-02-01')
    const products = '[{"stock_id":9223372036854775807,"quantity":1.50,"price":12345678901234567890.123456789}]'
    const { text, body } = await records.put(`/v1/loans/${id}`, { raw: `{"loan_type":"Tools","products":${products}}` })
    expect(text).toContain(`"products":${products}`)
    const { loan_id: _, ...told } = aBasicLoan
    expect(body.item).toMatchObject({ ...told, loan_type: 'Tools', updated_at: '2026-02-01T12:00:00.000+03:00' })
    expect((await records.get(`/v1/loans/${id}`)).text).toBe(text)
    expect((await records.get('/v1/loans')).text).toContain(products)
    const cleared = await update(id, { products: [], loan_type: '', description: '' })
    expect(cleared.body.item).toMatchObject({ loan_type: '', description: '' })
    expect(cleared.body.item).not.toHaveProperty('products')
  })

  it('other terms of a basic loan rebuild its one instalment and replay its repayments', async () => {
    const id = await lend()
    await repay(id, { amount: 400 })
    const changes = { principal_amount: 600, released_date: '2026-01-10', due_date: '2026-03-01' }
    expect((await update(id, changes)).body.item).toMatchObject({ ...aBasicLoan, loan_id: id, ...changes })
    expect((await service.get(`/v1/loans/${id}`)).body).toMatchObject({
      principal: 600,
      principalPaid: 400,
      totalOutstanding: 200,
      dueDate: '2026-03-01',
      disbursedAt: '2026-01-10T00:00:00.000+03:00',
      repaymentSchedule: [{ fromDate: '2026-01-10', dueDate: '2026-03-01', totalDue: 600, totalPaid: 400 }],
    })
    await update(id, { principal_amount: 400 })
    expect((await service.get(`/v1/loans/${id}`)).body).toMatchObject({
      status: 'Closed (obligations met)',
      closedOn: '2026-01-20',
    })
    await update(id, { principal_amount: 1000 })
    expect((await service.get(`/v1/loans/${id}`)).body).toMatchObject({ status: 'Active', totalOutstanding: 600 })
  })

  it('other terms of an extended loan are as if it had been sent with them', async () => {
    const id = await lend({ ...anExtendedLoan, loan_interest_method: 'flat_rate', loan_num_of_repayments: 4 })
    await repay(id, { collection_date: '2026-01-31', amount: 100 })
    const { body } = await update(id, { principal_amount: 2400, duration: 8, duration_period: 'month' })
    expect(body.item).toMatchObject({
      principal_amount: 2400,
      loan_principal_amount: 2400,
      duration: 8,
      loan_duration: 8,
      duration_period: 'month',
      loan_duration_period: 'month',
    })
    // 2,400 × 1 % × 8 = 192 in four parts of 48; interest first, so the 100 paid 48 and 52.
    expect((await service.get(`/v1/loans/${id}`)).body).toMatchObject({
      interestCharged: 192,
      interestPaid: 48,
      principalPaid: 52,
      interestRatePerPeriod: 2,
    })
    const fresh = await lend({ ...anExtendedLoan, loan_released_date: '2026-01-15', loan_principal_amount: 900 })
    const changed = await lend(anExtendedLoan)
    await update(changed, { released_date: '2026-01-15', principal_amount: 900 })
    const scheduleOf = async (loan: number) => (await service.get(`/v1/loans/${loan}`)).body.repaymentSchedule
    expect(await scheduleOf(changed)).toEqual(await scheduleOf(fresh))
  })

  it('released on the same day it keeps the moment of its release; moved to today it takes the present one', async () => {
    const id = await lend({ ...aBasicLoan, released_date: '2026-01-31' })
    const at = async () => (await service.get(`/v1/loans/${id}`)).body.disbursedAt
    service.clock.set('2026-01-31T18:00:00+03:00')
    await update(id, { principal_amount: 5 })
    expect(await at()).toBe('2026-01-31T09:30:00.000+03:00')
    await update(id, { released_date: '2026-01-30' })
    expect(await at()).toBe('2026-01-30T00:00:00.000+03:00')
    await update(id, { released_date: '2026-01-31' })
    expect(await at()).toBe('2026-01-31T18:00:00.000+03:00')
  })

  it('what is so already changes nothing, and every change is in the audit trail', async () => {
    const id = await lend()
    const { text } = await records.get(`/v1/loans/${id}`)
    service.clock.set('2026-02-01')
    for (const body of [{}, { ...aBasicLoan, loan_id: id }, { products: [] }])
      expect((await update(id, body)).text).toBe(text)
    await update(id, { principal_amount: 2000, products: [{ stock_id: 1, quantity: 1, price: 1 }] })
    const { rows } = await service.deps.db.pool.query(
      `SELECT action, before->>'principal' AS before, after->>'principal' AS after, account_id IS NOT NULL AS named
       FROM audit_entry WHERE entity = 'loan' AND entity_id = $1 ORDER BY id`,
      [String(id)],
    )
    expect(rows).toEqual([
      { action: 'create', before: null, after: null, named: true },
      { action: 'update', before: '100050', after: '200000', named: true },
    ])
  })

  it('may give the loan to another borrower', async () => {
    const id = await lend()
    expect((await update(id, { borrower_id: 2 })).body.item.borrower_id).toBe(2)
    expect((await service.get(`/v1/loans/${id}`)).body.customerId).toBe('2')
    expect(await update(id, { borrower_id: 99 })).toMatchObject({ status: 404, body: { code: 'not_found' } })
    const closed = nextId()
    await records.post('/v1/borrowers', { body: { ...aBorrower, id: closed } })
    await service.post(`/v1/customers/${closed}/close`)
    expect(await update(id, { borrower_id: closed })).toMatchObject({
      status: 409,
      body: { code: 'failed_precondition' },
    })
    expect((await records.get(`/v1/loans/${id}`)).body.item.borrower_id).toBe(2)
  })

  it('meets repayments that arrive at once: none is lost, none is replayed on the old terms', async () => {
    const id = await lend()
    const instance = recordsOf(await service.another())
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) => {
        if (index % 6 === 0) return records.put(`/v1/loans/${id}`, { body: { principal_amount: 1000 + index } })
        const body = { ...aRepayment, repayment_id: nextId(), loan_id: id, amount: 1 }
        return (index % 2 === 0 ? records : instance).post('/v1/repayments', { body })
      }),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const { body } = await service.get(`/v1/loans/${id}`)
    expect(body.totalPaid).toBe(50)
    expect(body.totalOutstanding).toBe(body.principal - 50)
    const { rows } = await service.deps.db.pool.query(
      'SELECT principal_outstanding FROM loan WHERE organization_id = 1 AND id = $1',
      [id],
    )
    expect(rows[0].principal_outstanding).toBe(BigInt(body.principal - 50) * 100n)
  })
})

describe('refusals leave everything as it was', () => {
  const refuse = async (id: number, body: object, status: number, refusal: object) => {
    const before = await both(id)
    const answer = await update(id, body)
    expect(answer.status).toBe(status)
    expect(answer.body).toMatchObject({ success: false, ...refusal })
    expect(await both(id)).toEqual(before)
  }

  it('409 failed_precondition: a principal below what was repaid of it', async () => {
    const id = await lend()
    await repay(id, { amount: 400 })
    await refuse(id, { principal_amount: 399.99 }, 409, {
      code: 'failed_precondition',
      message: 'principal_amount: must not be less than what was repaid of it, 400.00 TZS',
      details: [{ field: 'principal_amount' }],
    })
  })

  it('409 failed_precondition: released after a repayment, reversed ones not counted', async () => {
    const id = await lend()
    const { body: repayment } = await repay(id)
    await refuse(id, { released_date: '2026-01-21' }, 409, {
      code: 'failed_precondition',
      message: 'released_date: must not be after 2026-01-20, the day of a transaction on this loan',
    })
    const path = `/v1/loans/${id}/repayments/${repayment.item.repayment_id}/reverse`
    expect((await service.post(path, { token: service.tokens.operator })).status).toBe(200)
    expect((await update(id, { released_date: '2026-01-21' })).status).toBe(200)
  })

  it.each([
    ['charged off', 'repayments/charge-off'],
    ['written off', 'write-off'],
  ])('409 failed_precondition: the terms of a loan that is %s; its remarks may change', async (_, path) => {
    const id = await lend()
    await service.post(`/v1/loans/${id}/${path}`, { token: service.tokens.operator })
    for (const terms of [
      { principal_amount: 2000 },
      { released_date: '2026-01-16' },
      { due_date: '2026-05-01' },
      { duration: 4 },
      { duration_period: 'weeks' },
      { borrower_id: 2 },
    ])
      await refuse(id, terms, 409, { code: 'failed_precondition' })
    expect((await update(id, { description: 'x', borrower_id: 1 })).body.item.description).toBe('x')
  })

  it('409 failed_precondition: the terms of a loan that came from a product; its remarks may change', async () => {
    const loan = await service.post('/v1/loans', { body: { customerId: 'asha', productId: 3, principal: 6_000 } })
    const id = Number(loan.body.id)
    await refuse(id, { principal_amount: 7_000 }, 409, { code: 'failed_precondition' })
    await refuse(id, { duration: 7, description: 'x' }, 409, { code: 'failed_precondition' })
    const { body } = await update(id, { description: 'x', loan_type: 'Phone', products: [] })
    expect(body.item).toMatchObject({ description: 'x', loan_type: 'Phone', duration: 6, duration_period: 'Months' })
    expect((await update(id, { loan_type: '' })).body.item.loan_type).toBe('Flat 5% × 6 months')
    const { updated_at: _, ...rest } = (await service.get(`/v1/loans/${id}`)).body
    expect(rest).toEqual(loan.body)
  })

  it.each([
    [
      'charged off',
      async () => {
        const id = await lend()
        await service.post(`/v1/loans/${id}/repayments/charge-off`)
        return id
      },
    ],
    [
      'written off, extended',
      async () => {
        const id = await lend(anExtendedLoan)
        await service.post(`/v1/loans/${id}/write-off`, { token: service.tokens.operator })
        return id
      },
    ],
    [
      'of a product',
      async () => {
        const body = { customerId: 'asha', productId: 3, principal: 6_000 }
        return Number((await service.post('/v1/loans', { body })).body.id)
      },
    ],
  ])(
    '200 for all that is known of it, with other remarks, though no term may change: a loan that is %s',
    async (_, make) => {
      const id = await make()
      const { item } = (await records.get(`/v1/loans/${id}`)).body
      const fields = [
        'borrower_id',
        'loan_id',
        'principal_amount',
        'released_date',
        'due_date',
        'duration',
        'duration_period',
      ]
      const known = Object.fromEntries(fields.map((field) => [field, item[field]]))
      const { status, body } = await update(id, { ...known, description: 'all of it' })
      expect({ status, item: body.item }).toEqual({ status: 200, item: { ...item, description: 'all of it' } })
      // A unit is the same in any case, and keeps the words it was told in.
      const loud = { ...known, duration_period: String(item.duration_period).toUpperCase() }
      expect((await update(id, loud)).body.item).toEqual(body.item)
      await refuse(id, { ...known, principal_amount: 12_345 }, 409, { code: 'failed_precondition' })
    },
  )

  it.each([
    [aBasicLoan, { loan_id: 7 }, 'loan_id'],
    [aBasicLoan, { principal_amount: 0 }, 'principal_amount'],
    [aBasicLoan, { principal_amount: 1.001 }, 'principal_amount'],
    [aBasicLoan, { due_date: '2026-01-14' }, 'due_date'],
    [aBasicLoan, { released_date: '2026-04-16' }, 'released_date'],
    [aBasicLoan, { released_date: '2026-04-16', due_date: '2026-04-15' }, 'due_date'],
    [anExtendedLoan, { principal_amount: 1.001 }, 'principal_amount'],
    [anExtendedLoan, { duration: 731 }, 'duration'],
    [anExtendedLoan, { due_date: '2026-06-01' }, 'due_date'],
  ])('400 invalid_argument: of %o, %j', async (template, body, field) => {
    await refuse(await lend(template), body, 400, { code: 'invalid_argument', details: [{ field }] })
  })

  it('the due date of an extended loan may be named where it is right', async () => {
    const id = await lend(anExtendedLoan)
    const { body } = await records.get(`/v1/loans/${id}`)
    expect((await update(id, { principal_amount: 900, due_date: body.item.due_date })).status).toBe(200)
  })
})
