import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operator } from '../../src/services/access/caller.ts'
import { updateSignIn } from '../../src/services/signIn/settings.ts'
import { startService, type TestService } from '../support/service.ts'

const SECRET = 'a secret of the client'

let service: TestService
beforeAll(async () => {
  service = await startService({ SIGN_IN_TO_PRIVATE: 'true' })
})
afterAll(() => service.close())

describe('the settings of a provider', () => {
  const set = (provider: object) =>
    service.patch('/v1/office-sign-in', { body: { provider }, token: service.tokens.operator })
  const good = () => {
    const provider = { issuer: 'http://127.0.0.1:9/', clientId: 'mkopo-office', clientSecret: SECRET }
    return { ...provider, roleClaim: 'groups', roles: { admins: 'ADMIN' } }
  }

  it('never show the secret, and keep it encrypted', async () => {
    await set(good())
    const { body } = await service.get('/v1/office-sign-in', { token: service.tokens.operator })
    expect(body).toEqual({
      secondFactorRequired: false,
      provider: {
        issuer: 'http://127.0.0.1:9/',
        clientId: 'mkopo-office',
        roleClaim: 'groups',
        roles: { admins: 'ADMIN' },
      },
    })
    const stored = await service.deps.db.prisma.officeSignIn.findUniqueOrThrow({ where: { organizationId: 1 } })
    expect(stored.clientSecret).not.toContain(SECRET)
    const trail = await service.deps.db.prisma.auditEntry.findMany({ where: { entity: 'office sign-in' } })
    expect(JSON.stringify(trail, (_, value) => (typeof value === 'bigint' ? String(value) : value))).not.toContain(
      SECRET,
    )
  })

  it.each([
    ['issuer', { issuer: 'ftp://login.example.com' }],
    ['issuer', { issuer: 'https://user:secret@login.example.com' }],
    ['issuer', { issuer: 'https://login.example.com/?a=b' }],
    ['roles', { roles: {} }],
    ['roles', { roles: { admins: 'NOT-THERE' } }],
    ['clientSecret', { issuer: 'https://login.example.com', clientSecret: undefined }],
  ])('are refused by %s: %j', async (field, change) => {
    expect(await set({ ...good(), ...change })).toMatchObject({ status: 400, body: { details: [{ field }] } })
  })

  it('are refused for a private address, unless a setting allows it', async () => {
    const deps = { ...service.deps, config: { ...service.deps.config, signInToPrivate: false } }
    await expect(updateSignIn(deps, operator(1, 'test'), { provider: good() })).rejects.toThrow(
      /must begin with https:|address of the internet/,
    )
    const local = { ...good(), issuer: 'https://127.0.0.1' }
    await expect(updateSignIn(deps, operator(1, 'test'), { provider: local })).rejects.toThrow(
      'must lead to an address of the internet',
    )
  })

  it('keep the secret of before only for the same provider', async () => {
    const { clientSecret: _, ...kept } = good()
    await set(good())
    expect((await set(kept)).status).toBe(200)
    expect((await set({ ...kept, clientId: 'another' })).status).toBe(400)
  })
})
