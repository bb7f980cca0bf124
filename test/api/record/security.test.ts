import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aBasicLoan, aBorrower } from '../../support/recordBodies.ts'
import { type Records, recordsOf } from '../../support/records.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
let records: Records
let operator: { token: string }
beforeAll(async () => {
  service = await startService()
  service.clock.set('2026-02-10T09:30:00+03:00')
  records = recordsOf(service)
  operator = { token: service.tokens.operator }
  for (const id of [1, 2]) await records.post('/v1/borrowers', { body: { ...aBorrower, id } })
  await records.post('/v1/loans', { body: { ...aBasicLoan, borrower_id: 1, loan_id: 1 } })
})
afterAll(() => service.close())

describe('in the record style', () => {
  it('a consent is given, listed and withdrawn', async () => {
    const body = { purpose: 'scoring', channel: 'ussd', given_at: '2026-02-01T10:00:00.000+03:00' }
    const { item } = (await records.post('/v1/borrowers/1/consents', { body })).body
    expect(item).toMatchObject({ ...body, borrower_id: 1 })
    const ended = await records.post(`/v1/borrowers/1/consents/${item.id}/withdraw`, {})
    expect(ended.body.item).toMatchObject({ withdrawn_at: expect.stringContaining('2026-02-10T09:3') })
    expect((await records.get('/v1/borrowers/1/consents')).body).toMatchObject({ items: [ended.body.item], total: 1 })
    const late = { ...body, given_at: '2026-03-01T00:00:00Z' }
    const refused = await records.post('/v1/borrowers/1/consents', { body: late })
    expect([refused.status, refused.body.details[0]!.field]).toEqual([400, 'given_at'])
    expect((await records.get('/v1/borrowers/9/consents')).body.message).toBe('no borrower has that id')
  })

  it('a guarantor is a borrower or another person, whose identity an ADMIN reads', async () => {
    const identity = { first_name: 'Neema', last_name: 'Kweka' }
    const { item } = (
      await records.post('/v1/loans/1/guarantors', { body: { identity, relationship: 'Sister', amount: 10 } })
    ).body
    expect(item).toMatchObject({ loan_id: 1, relationship: 'Sister', amount: 10, from: '2026-02-10' })
    const known = { borrower_id: 2, relationship: 'Friend' }
    expect((await records.post('/v1/loans/1/guarantors', { body: known })).body.item).toMatchObject(known)
    const both = await records.post('/v1/loans/1/guarantors', { body: { ...known, identity } })
    expect([both.status, both.body.details[0]!.field]).toEqual([400, 'borrower_id'])
    const own = await records.post('/v1/loans/1/guarantors', { body: { ...known, borrower_id: 1 } })
    expect([own.status, own.body.details[0]!.field]).toEqual([400, 'borrower_id'])
    const nobody = await records.post('/v1/loans/1/guarantors', { body: { ...known, borrower_id: 9 } })
    expect([nobody.status, nobody.body.message]).toEqual([404, 'no borrower has that id, given as borrower_id'])
    expect((await records.get('/v1/loans/1/guarantors')).text).not.toContain('Kweka')
    expect((await records.get('/v1/loans/1/guarantors', operator)).body.items[0]).toMatchObject({ identity })
    const release = { reason: 'Repaid', released_on: '2026-02-10' }
    const path = `/v1/loans/1/guarantors/${item.id}/release`
    expect((await records.post(path, { body: release })).body.item).toMatchObject({ release_reason: 'Repaid' })
  })

  it('collateral is recorded and released; an ADMIN reads what it is', async () => {
    const body = { kind: 'land', description: 'Plot 12', value: 900, valued_on: '2026-02-01', owner: 'Asha' }
    const { item } = (await records.post('/v1/loans/1/collateral', { body })).body
    expect(item).toMatchObject({ kind: 'land', value: 900, valued_on: '2026-02-01' })
    expect(item).not.toHaveProperty('owner')
    expect((await records.get('/v1/loans/1/collateral', operator)).body.items[0]).toMatchObject(body)
    const late = await records.post('/v1/loans/1/collateral', { body: { ...body, valued_on: '2026-03-01' } })
    expect([late.status, late.body.details[0]!.field]).toEqual([400, 'valued_on'])
    const path = `/v1/loans/1/collateral/${item.id}/release`
    const future = await records.post(path, { body: { reason: 'Repaid', released_on: '2026-03-01' } })
    expect([future.status, future.body.details[0]!.field]).toEqual([400, 'released_on'])
    const released = await records.post(path, { body: { reason: 'Repaid' } })
    expect(released.body.item).toMatchObject({ released_on: '2026-02-10', release_reason: 'Repaid' })
  })
})
