import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { drain } from '../../../src/services/jobs/job.ts'
import { sweepJob } from '../../../src/services/loans/sweep.ts'
import { opsOn } from '../../support/ops.ts'
import { rawWith, recordsOf } from '../../support/records.ts'
import { FIRST_DAY, startService, type TestService } from '../../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

const trailOf = async (entity: string, entityId: string) =>
  (await service.get(`/v1/audit-trail?entity=${entity}&entityId=${entityId}`, { token: service.tokens.operator })).body

describe('the audit trail', () => {
  it('has a row for every change, with who, when, in which request, before and after', async () => {
    service.clock.stand(FIRST_DAY)
    const headers = { 'x-request-id': 'request-7' }
    const { body: customer } = await service.post('/v1/customers', { body: { externalId: 'asha' }, headers })
    expect(await trailOf('customer', customer.id)).toMatchObject({
      total: 1,
      items: [
        {
          at: '2026-01-31T09:30:00.000+03:00',
          accountId: expect.any(Number),
          requestId: 'caller:request-7',
          action: 'create',
          before: null,
          after: { externalId: 'asha', status: 'Active' },
        },
      ],
    })

    const application = { customerId: 'asha', productId: 2, principal: 100_000 }
    const { body: loan } = await service.post('/v1/loans', { body: application })
    const { body: repayment } = await service.post(`/v1/loans/${loan.id}/repayments`, {
      body: { transactionAmount: 500 },
    })
    const token = service.tokens.operator
    const path = `/v1/loans/${loan.id}/repayments/${repayment.id}/reverse`
    await service.post(path, { body: { note: 'wrong loan' }, token })
    service.clock.set('2026-02-28')
    await drain(sweepJob(service.deps))
    expect(await trailOf('loan', loan.id)).toMatchObject({
      total: 4,
      items: [
        { action: 'time', accountId: null, after: { totalOutstanding: 120_000_00 } },
        {
          action: 'reverse',
          before: { totalPaid: 500_00 },
          after: { totalPaid: 0, reversed: { reason: 'wrong loan' } },
        },
        { action: 'Repayment', before: { totalPaid: 0 }, after: { totalPaid: 500_00, posted: { amount: 500_00 } } },
        { action: 'create' },
      ],
    })
    expect(await trailOf('account', '1')).toMatchObject({ items: [{ action: 'create' }] })
    expect(JSON.stringify(await trailOf('account', '1'))).not.toContain('scrypt')
  })

  it('shows what was recovered of a write-off', async () => {
    const body = { customerId: 'asha', productId: 1, principal: 50_000 }
    const { id } = (await service.post('/v1/loans', { body })).body
    const token = service.tokens.operator
    await service.post(`/v1/loans/${id}/write-off`, { token })
    await service.post(`/v1/loans/${id}/repayments/recover`, { body: { transactionAmount: 700 } })
    const { items } = await trailOf('loan', id)
    expect(items).toMatchObject([
      { action: 'Recovery Repayment', before: { totalRecovered: 0 }, after: { totalRecovered: 700_00 } },
      { action: 'Write-off', after: { totalWrittenOff: 55_000_00, totalRecovered: 0 } },
      { action: 'create' },
    ])
    for (const side of [items[1]?.before, items[2]?.after]) expect(side).not.toHaveProperty('totalRecovered')
  })

  it('ids beyond 2^53 are exact to the last digit', async () => {
    const records = recordsOf(service)
    const [borrower, loan, repayment] = ['9223372036854775807', '9007199254740993', '9223372036854775805'] as const
    const told = { business_name: 'Duka', phone: '1', address: 'Arusha', type: 'shop', region: 'Arusha' }
    expect((await records.post('/v1/borrowers', { raw: rawWith(told, 'id', borrower) })).status).toBe(200)
    const terms = { principal_amount: 500, released_date: '2026-01-31', due_date: '2026-03-31', duration: 2 }
    const lent = { ...terms, duration_period: 'Months', loan_id: JSON.rawJSON(loan) }
    expect((await records.post('/v1/loans', { raw: rawWith(lent, 'borrower_id', borrower) })).status).toBe(200)
    const paid = { amount: 5, collection_date: '2026-01-31', loan_id: JSON.rawJSON(loan) }
    expect((await records.post('/v1/repayments', { raw: rawWith(paid, 'repayment_id', repayment) })).status).toBe(200)
    const token = service.tokens.operator
    const { text } = await service.get(`/v1/audit-trail?entity=loan&entityId=${loan}`, { token })
    expect(text).toContain(`"customerId":${borrower}`)
    expect(text).toContain(`"id":${repayment}`)
    const { out } = await opsOn(service)(`audit --entity loan --entity-id ${loan} --json`)
    expect(out).toContain(`"customerId":${borrower}`)
    expect(out).toContain(`"id":${repayment}`)
  })

  it('a refused change leaves none', async () => {
    const count = async () => (await service.get('/v1/audit-trail', { token: service.tokens.operator })).body.total
    const before = await count()
    await service.post('/v1/customers', { body: { externalId: 'asha' } })
    expect(await count()).toBe(before)
  })

  it('403 permission_denied: for operators only', async () => {
    expect(await service.get('/v1/audit-trail')).toMatchObject({ status: 403, body: { code: 'permission_denied' } })
  })
})
