import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Records, recordsOf } from '../../support/records.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
let records: Records
let operator: { token: string }
beforeAll(async () => {
  service = await startService()
  records = recordsOf(service)
  operator = { token: service.tokens.operator }
})
afterAll(() => service.close())

const aBorrower = (id: number) => ({
  id,
  business_name: 'Duka',
  phone: '1',
  address: 'A',
  type: 'Shop',
  region: 'R',
})

const IDENTITY = {
  first_name: 'Juma',
  last_name: 'Bakari',
  date_of_birth: '1980-01-02',
  id_type: 'passport',
  id_number: 'AB 12',
  verification: { by: 'A clerk', on: '2026-01-30', result: 'verified' },
}

const identityOf = async (id: number) => (await records.get(`/v1/borrowers/${id}`, operator)).body.item.identity

describe('the identity of a borrower', () => {
  it('comes with a new borrower, is read by an ADMIN alone, and is the same content when it is sent again', async () => {
    const body = { ...aBorrower(1), identity: IDENTITY }
    const made = await records.post('/v1/borrowers', { body })
    expect([made.status, made.text]).toEqual([200, expect.not.stringContaining('Bakari')])
    expect(await identityOf(1)).toEqual(IDENTITY)
    expect((await records.get('/v1/borrowers/1')).text).not.toContain('Bakari')
    expect((await records.get('/v1/borrowers', operator)).text).not.toContain('Bakari')
    expect((await records.post('/v1/borrowers', { body })).headers['idempotency-replayed']).toBe('true')
    const other = { ...body, identity: { ...IDENTITY, last_name: 'Juma' } }
    expect((await records.post('/v1/borrowers', { body: other })).status).toBe(409)
    expect(await identityOf(1)).toEqual(IDENTITY)
  })

  it('is replaced by an update that has one, and stays with one that has none', async () => {
    await records.post('/v1/borrowers', { body: { ...aBorrower(2), identity: IDENTITY } })
    await records.put('/v1/borrowers/2', { body: { region: 'Arusha' } })
    expect(await identityOf(2)).toEqual(IDENTITY)
    const updated = await records.put('/v1/borrowers/2', {
      body: { region: 'Mwanza', identity: { last_name: 'Said' } },
    })
    expect(updated.body.item).toMatchObject({ region: 'Mwanza' })
    expect(await identityOf(2)).toEqual({ last_name: 'Said' })
  })

  it('400 in the words of the style', async () => {
    const identity = { date_of_birth: '2999-01-01' }
    const refused = await records.post('/v1/borrowers', { body: { ...aBorrower(3), identity } })
    expect([refused.status, refused.body.message]).toEqual([
      400,
      expect.stringContaining('identity.date_of_birth: must not be in the future'),
    ])
  })
})
