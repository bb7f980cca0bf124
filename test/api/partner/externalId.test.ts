import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aBasicLoan, aBorrower } from '../../support/recordBodies.ts'
import { recordsOf } from '../../support/records.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
  await recordsOf(service).post('/v1/borrowers', { body: aBorrower })
  await recordsOf(service).post('/v1/loans', { body: aBasicLoan })
  await service.post('/v1/customers', { body: { externalId: 'taken' } })
})
afterAll(() => service.close())

const assign = (id: string, externalId: string, headers: Record<string, string> = {}) =>
  service.post(`/v1/customers/${id}/external-id`, { body: { externalId }, headers })

describe('POST /v1/customers/{id}/external-id (contract 15)', () => {
  it('refuses one that another customer has, and changes nothing', async () => {
    const { status, body } = await assign('1', 'taken')
    expect([status, body.code, body.message]).toEqual([409, 'already_exists', 'another customer has that externalId'])
    expect((await service.get('/v1/customers/1')).body.externalId).toBeNull()
  })

  it('gives a borrower the externalId by which the partner style then lends, once', async () => {
    service.clock.stand('2026-02-01T08:00:00+03:00')
    const answers = await Promise.all(Array.from({ length: 6 }, () => assign('1', 'mama-asha')))
    for (const { status, body } of answers)
      expect([status, body]).toMatchObject([
        200,
        { id: '1', externalId: 'mama-asha', firstname: 'mama-asha', updatedAt: '2026-02-01T08:00:00.000+03:00' },
      ])
    const body = { customerId: 'mama-asha', productId: 1, principal: 5_000 }
    expect((await service.post('/v1/loans', { body })).status).toBe(200)
    expect((await service.get('/v1/loans?customerExternalId=mama-asha')).body.total).toBe(2)
    const trail = await service.get('/v1/audit-trail?entity=customer&entityId=1', { token: service.tokens.operator })
    expect(trail.body.items.map(({ action }) => action)).toEqual(['update', 'create'])
    expect((await recordsOf(service).get('/v1/borrowers/1')).body.item.business_name).toBe(aBorrower.business_name)
  })

  it('leaves a repeated POST /v1/borrowers the stored borrower (contract 5.1)', async () => {
    const again = await recordsOf(service).post('/v1/borrowers', { body: aBorrower })
    expect([again.status, again.headers['idempotency-replayed'], again.body.item.id]).toEqual([200, 'true', 1])
    const other = await recordsOf(service).post('/v1/borrowers', { body: { ...aBorrower, region: 'Arusha' } })
    expect([other.status, other.body.code]).toEqual([409, 'already_exists'])
  })

  it('is no reason to answer a POST /v1/borrowers with the id of a customer that a partner made', async () => {
    const records = recordsOf(service)
    const { id } = (await service.post('/v1/customers', { body: { externalId: 'a-partners' } })).body
    const { body: read } = await records.get(`/v1/borrowers/${id}`)
    const body = { ...aBorrower, id: Number(id), business_name: read.item.business_name }
    for (const sent of [body, { ...aBorrower, id: Number(id) }]) {
      const { status, body: refused } = await records.post('/v1/borrowers', { body: sent })
      expect([status, refused.code]).toEqual([409, 'already_exists'])
    }
    const { id: _, ...details } = aBorrower
    expect((await records.put(`/v1/borrowers/${id}`, { body: details })).status).toBe(200)
    const same = await records.post('/v1/borrowers', { body: { ...aBorrower, id: Number(id) } })
    expect([same.status, same.headers['idempotency-replayed']]).toEqual([200, 'true'])
  })

  it('refuses another one afterwards, also of a customer that a partner made', async () => {
    const { status, body } = await assign('1', 'other')
    expect([status, body.code, body.message]).toEqual([
      409,
      'failed_precondition',
      'the customer has an externalId already, mama-asha',
    ])
    const { body: taken } = await service.get('/v1/customers/external/taken')
    expect((await assign(taken.id, 'other')).status).toBe(409)
    expect((await assign(taken.id, 'taken')).status).toBe(200)
  })

  it('404 not_found for an unknown customer; 400 for an externalId that no path can name', async () => {
    expect((await assign('99', 'x')).status).toBe(404)
    expect((await assign('abc', 'x')).status).toBe(404)
    expect((await assign('1', '..')).body.code).toBe('invalid_argument')
  })

  it('answers a repeated Idempotency-Key with the customer', async () => {
    await recordsOf(service).post('/v1/borrowers', { body: { ...aBorrower, id: 3 } })
    const first = await assign('3', 'third', { 'idempotency-key': 'k' })
    const again = await assign('3', 'third', { 'idempotency-key': 'k' })
    expect([again.status, again.text, again.headers['idempotency-replayed']]).toEqual([200, first.text, 'true'])
  })
})
