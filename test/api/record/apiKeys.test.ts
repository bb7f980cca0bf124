import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { service as theService } from '../../../src/db/audit/trail.ts'
import { insertOrganization } from '../../../src/db/organizations/organizations.ts'
import { createApiKey, listApiKeys, revokeApiKey } from '../../../src/services/access/accounts.ts'
import { type Records, recordsOf } from '../../support/records.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
let records: Records
beforeAll(async () => {
  service = await startService()
  records = recordsOf(service)
  await insertOrganization(service.deps.db, { id: 2, name: 'Other Lender', currency: 'KES' }, service.clock.now())
})
afterAll(() => service.close())

const make = (organizationId = 1) =>
  createApiKey(service.deps, theService(organizationId), { name: 'branch system', roles: ['USER'] })

const borrower = { id: 1, business_name: 'A', phone: '1', address: 'b', type: 'c', region: 'd' }

describe('an API key', () => {
  it('is taken by the record style as the Bearer value, and by no other', async () => {
    const { key } = await make()
    expect(key).toMatch(/^mk_[\w-]{43}$/)
    expect((await records.get('/v1/borrowers', { token: key })).status).toBe(200)
    // Remembered by now; still no token.
    for (const path of ['/v1/customers', '/v1/loans'])
      expect(await service.get(path, { token: key })).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
  })

  it('is bound to its organization', async () => {
    const { key } = await make(2)
    expect((await records.post('/v1/borrowers', { token: key, body: borrower })).status).toBe(200)
    expect((await records.get('/v1/borrowers', { token: key })).body.total).toBe(1)
    expect((await records.get('/v1/borrowers/1')).status).toBe(404)
  })

  it('is named by the audit trail by an id that no account has', async () => {
    const { key, apiKey } = await make()
    await records.post('/v1/borrowers', { token: key, body: { ...borrower, id: 2 } })
    const { rows } = await service.deps.db.pool.query(
      "SELECT account_id FROM audit_entry WHERE organization_id = 1 AND entity = 'customer' AND entity_id = '2'",
    )
    expect(rows).toEqual([{ account_id: apiKey.id }])
    const accounts = await service.deps.db.pool.query('SELECT id FROM account WHERE id = $1', [apiKey.id])
    expect(accounts.rows).toEqual([])
  })

  it('is stored hashed, and shown by its first characters only', async () => {
    const { key, apiKey } = await make()
    expect(key.startsWith(apiKey.prefix)).toBe(true)
    expect(apiKey.prefix).toHaveLength(9)
    const { rows } = await service.deps.db.pool.query(
      'SELECT api_key::text AS text FROM api_key UNION ALL SELECT audit_entry::text FROM audit_entry',
    )
    for (const { text } of rows) expect(text).not.toContain(key)
    expect(JSON.stringify(await listApiKeys(service.deps, 1))).not.toContain(key)
  })

  it('is refused on every instance within 5 seconds of its revocation, and only once it is revoked', async () => {
    const { key, apiKey } = await make()
    const other = recordsOf(await service.another())
    for (const instance of [records, other])
      expect((await instance.get('/v1/borrowers', { token: key })).status).toBe(200)
    const revoked = await revokeApiKey(service.deps, theService(1), apiKey.id)
    expect(revoked.revokedAt).toBe(service.clock.machineNow())
    service.clock.set(new Date(service.clock.now() + 5_000).toISOString())
    for (const instance of [records, other])
      expect(await instance.get('/v1/borrowers', { token: key })).toMatchObject({
        status: 401,
        body: { success: false, code: 'unauthenticated', message: 'the API key is unknown or was revoked' },
      })
    expect(await revokeApiKey(service.deps, theService(1), apiKey.id)).toEqual(revoked)
    expect((await listApiKeys(service.deps, 1)).find(({ id }) => id === apiKey.id)).toEqual(revoked)
  })

  it('of another organization cannot be revoked, and an empty name or an unknown organization is refused', async () => {
    const { apiKey } = await make(2)
    await expect(revokeApiKey(service.deps, theService(1), apiKey.id)).rejects.toMatchObject({ code: 'not_found' })
    await expect(make(3)).rejects.toMatchObject({ code: 'not_found' })
    await expect(createApiKey(service.deps, theService(1), { name: ' ', roles: ['USER'] })).rejects.toMatchObject({
      code: 'invalid_argument',
    })
  })

  it.each(['mk_', 'mk_unknown', `mk_${'x'.repeat(43)}`, 'MK_x', ''])('401 unauthenticated: %j', async (token) => {
    expect(await records.get('/v1/borrowers', { token })).toMatchObject({
      status: 401,
      body: { success: false, code: 'unauthenticated' },
    })
  })
})

describe('x-user-id', () => {
  const ask = (value: string) => records.get('/v1/borrowers', { headers: { 'x-user-id': value } })

  it("the caller's organization may be named, by a token's owner and a key's alike", async () => {
    expect((await ask('1')).status).toBe(200)
    const { key } = await make(2)
    expect((await records.get('/v1/borrowers', { token: key, headers: { 'x-user-id': '2' } })).status).toBe(200)
  })

  it.each(['2', '01', '1.0', 'abc', '', '1, 1', '-1'])('403 permission_denied: %j', async (value) => {
    expect(await ask(value)).toMatchObject({ status: 403, body: { success: false, code: 'permission_denied' } })
  })

  it('means nothing to the partner style', async () => {
    expect((await service.get('/v1/loans', { headers: { 'x-user-id': '2' } })).status).toBe(200)
  })
})
