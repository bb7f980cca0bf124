import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEMO_AUDITOR, DEMO_OPERATOR } from '../../../src/services/organizations/seedDemo.ts'
import { opsOn } from '../../support/ops.ts'
import { FIRST_DAY, startService, type TestService } from '../../support/service.ts'

let service: TestService
let other: TestService
let ops: ReturnType<typeof opsOn>
beforeAll(async () => {
  service = await startService()
  other = await service.another()
  ops = opsOn(service)
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
})
afterAll(() => service.close())

const later = (ms: number) => service.clock.set(new Date(service.clock.now() + ms).toISOString())
const tokenOf = ({ email, password }: typeof DEMO_AUDITOR) =>
  service.deps.signIn.issueToken(email, password, '127.0.0.1')
const statusesOf = (path: string, token: string) =>
  Promise.all([service, other].map(async (one) => (await one.get(path, { token })).status))

describe('an AUDITOR', () => {
  it('reads a scorecard that is not kept as a decision; a USER reads the same, and it is kept', async () => {
    service.clock.stand(FIRST_DAY)
    const decisions = async () =>
      (await service.deps.db.pool.query('SELECT count(*)::int AS kept FROM credit_decision')).rows[0].kept
    const token = await tokenOf(DEMO_AUDITOR)
    const read = await service.get('/v1/credit-scorecard/asha', { token })
    expect([read.status, await decisions()]).toEqual([200, 0])
    expect((await service.get('/v1/credit-scorecard/asha')).body).toEqual(read.body)
    expect(await decisions()).toBe(1)
  })

  it('passes the rules any and auditor of a gateway; an ADMIN passes auditor, too, and a USER does not', async () => {
    const statusOf = async (rule: string, token: string) =>
      (await service.post('/v1/auth/authorize', { host: 'auth.localhost', token, body: { rule } })).status
    const [auditor, admin, user] = [await tokenOf(DEMO_AUDITOR), await tokenOf(DEMO_OPERATOR), service.tokens.partner]
    const rules = ['any', 'user', 'admin', 'auditor']
    expect(await Promise.all(rules.map((rule) => statusOf(rule, auditor)))).toEqual([204, 403, 403, 204])
    expect(await Promise.all(rules.map((rule) => statusOf(rule, admin)))).toEqual([204, 204, 204, 204])
    expect(await Promise.all(rules.map((rule) => statusOf(rule, user)))).toEqual([204, 204, 403, 403])
  })

  it('whose role is taken away reads nothing of it after 5 s, on every instance, with the same token', async () => {
    const made = await ops('accounts create reader@lender.example --role AUDITOR', { stdin: 'twelve letters\n' })
    expect(made).toMatchObject({ code: 0, out: expect.stringContaining('AUDITOR of organization 1') })
    const token = await tokenOf({ email: 'reader@lender.example', password: 'twelve letters' })
    expect(await statusesOf('/v1/audit-trail', token)).toEqual([200, 200])
    expect((await ops('accounts roles reader@lender.example USER')).code).toBe(0)
    later(5_000)
    expect(await statusesOf('/v1/audit-trail', token)).toEqual([403, 403])
    expect((await ops('accounts roles reader@lender.example AUDITOR')).code).toBe(0)
    later(5_000)
    expect(await statusesOf('/v1/audit-trail', token)).toEqual([200, 200])
    const body = { externalId: 'baraka' }
    expect((await service.post('/v1/customers', { token, body })).body).toMatchObject({ code: 'permission_denied' })
  })
})
