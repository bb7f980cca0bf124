import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { aBasicLoan, aBorrower, anExtendedLoan, aRepayment } from '../../support/recordBodies.ts'
import { openRecordBook } from '../../support/recordBook.ts'
import type { RecordId } from '../../support/recordIds.ts'
import { recordsOf } from '../../support/records.ts'
import { FIRST_DAY } from '../../support/service.ts'

const { service, records, nextId, lend, update, repay } = await openRecordBook()
afterAll(() => service.close())
beforeEach(() => service.clock.set(FIRST_DAY))

describe('PUT /v1/loans/{id}', () => {
  it('keeps what is left out, changes what is given, and keeps and gives back products to the last digit', async () => {
    const id = await lend()
    service.clock.stand('2026-02-01')
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
    const scheduleOf = async (loan: RecordId) => (await service.get(`/v1/loans/${loan}`)).body.repaymentSchedule
    expect(await scheduleOf(changed)).toEqual(await scheduleOf(fresh))
  })

  it('released on the same day it keeps the moment of its release; moved to today it takes the present one', async () => {
    service.clock.stand(FIRST_DAY)
    const id = await lend({ ...aBasicLoan, released_date: '2026-01-31' })
    const at = async () => (await service.get(`/v1/loans/${id}`)).body.disbursedAt
    service.clock.stand('2026-01-31T18:00:00+03:00')
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

  it.each([
    ['basic', aBasicLoan, []],
    ['extended', anExtendedLoan, ['loan_duration_period']],
  ])('keeps a duration_period as it was sent last, however it is spelt: a %s loan', async (_, template, other) => {
    service.clock.stand(FIRST_DAY)
    const id = await lend(template)
    const { item } = (await records.get(`/v1/loans/${id}`)).body
    for (const duration_period of ['MONTHS', 'month']) {
      const spelt = Object.fromEntries(other.map((field) => [field, duration_period]))
      const expected = { ...item, ...spelt, duration_period }
      expect((await update(id, { duration_period })).body.item).toEqual(expected)
      expect((await records.get(`/v1/loans/${id}`)).body.item).toEqual(expected)
    }
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
