import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { anotherLender } from '../support/lenders.ts'
import { opsOn } from '../support/ops.ts'
import { readStatementsHere } from '../support/readHere.ts'
import { startService, type TestService } from '../support/service.ts'
import { smallStatement } from '../support/statementPdf.ts'
import { showing } from '../support/upload.ts'
import type { Wire } from '../support/wire.ts'

let service: TestService
let ops: ReturnType<typeof opsOn>
let folder: string
beforeAll(async () => {
  service = await startService()
  readStatementsHere(service)
  ops = opsOn(service)
  folder = await mkdtemp(join(tmpdir(), 'mkopo-policy-'))
})
afterAll(async () => {
  await service.close()
  await rm(folder, { recursive: true })
})

const file = async (policy: unknown): Promise<string> => {
  const path = join(folder, 'policy.json')
  await writeFile(path, typeof policy === 'string' ? policy : JSON.stringify(policy))
  return path
}
const set = async (policy: unknown) => ops(['credit-policy', 'set', await file(policy), '-o', '1', '--yes'])
const show = async (organization = '1') =>
  (await ops<{ score: { base: number } }>(['credit-policy', 'show', '-o', organization, '--json'])).json

describe('credit-policy', () => {
  it('show: the default, in the currency of the organization', async () => {
    expect(await show()).toMatchObject({ version: 'default-1', currency: 'TZS', step: '1000.00' })
    await anotherLender(service, 2, 'UGX')
    expect(await show('2')).toMatchObject({ version: 'default-1', currency: 'UGX', step: '1000' })
  })

  it('set: is in force from the next request on, of that organization; earlier decisions are made again as they were', async () => {
    await service.post('/v1/customers', { body: { externalId: 'asha' } })
    const body = { customerId: 'asha', productId: 1, principal: 100_000 }
    const { body: loan } = await service.post('/v1/loans', { body })
    await service.post(`/v1/loans/${loan.id}/repayments`, { body: { transactionAmount: 110_000 } })
    const card = async () => (await service.get('/v1/credit-scorecard/asha')).body
    const before = await card()
    const policy = await show()
    const own = { ...policy, version: '2026-02', score: { ...policy.score, base: 200 } }
    expect(await set(own)).toMatchObject({ code: 0, out: 'Credit policy 2026-02 of organization 1 is in force.\n' })
    expect(await show()).toEqual(own)
    expect(await show('2')).toMatchObject({ version: 'default-1' })
    expect((await card()).creditScore).toBe(before.creditScore - 100)
    const decisions = await ops<Wire[]>(['credit-decisions', 'list', 'asha', '--external', '-o', '1', '--json'])
    expect(decisions.json).toMatchObject([{ policyVersion: '2026-02' }, { policyVersion: 'default-1' }])
    for (const { id, result } of decisions.json)
      expect(await ops(['credit-decisions', 'show', id, '-o', '1', '--json'])).toMatchObject({
        code: 0,
        json: { same: true, again: result },
      })
    const trail = await ops(['audit', '--entity', 'organization', '-o', '1', '--json'])
    expect(trail.out).toContain('set credit policy')
  })

  it('set again, with the same figures: nothing changes', async () => {
    expect(await set(await show())).toMatchObject({ code: 0 })
    const { rows } = await service.deps.db.pool.query('SELECT count(*)::int AS total FROM credit_policy')
    expect(rows).toEqual([{ total: 1 }])
  })

  it('set: a policy that takes anonymous statements; by any other, one needs a name or a number', async () => {
    const policy = await show()
    service.clock.set('2026-07-02')
    await service.post('/v1/customers', { body: { externalId: 'juma' } })
    const pdf = await smallStatement('2026-05-01', '2026-06-30')
    const boost = () => service.post('/v1/credit-scorecard/juma/boost', showing(pdf, {}))
    expect(await boost()).toMatchObject({ status: 400, body: { code: 'invalid_argument' } })
    const { statement } = policy as unknown as { statement: object }
    expect(statement).toMatchObject({ anonymous: false })
    await set({ ...policy, version: '2026-07', statement: { ...statement, anonymous: true } })
    expect(await boost()).toMatchObject({
      status: 200,
      body: { boostStatus: 'raised', statement: { nameChecked: false, mobileNumberChecked: false } },
    })
    await set({ ...policy, version: '2026-08' })
    expect(await boost()).toMatchObject({ status: 400, body: { code: 'invalid_argument' } })
  })

  it.each([
    [
      'a version that stands for other figures',
      { step: '2000.00' },
      1,
      /a credit policy of that version exists already/,
    ],
    ['a version of the service', { version: 'default-2' }, 1, /policy.version: must not begin with default-/],
    ['another currency', { version: 'x', currency: 'KES' }, 1, /policy.currency: must be TZS/],
    ['a figure that is none', { version: 'x', step: 5 }, 1, /policy.step: must be an amount as text/],
    ['an unknown figure', { version: 'x', bonus: 5 }, 1, /policy.bonus: is not a figure/],
  ])('set: %s', async (_what, change, code, message) => {
    const run = await set({ ...(await show()), ...change })
    expect(run.code).toBe(code)
    expect(run.err).toMatch(message)
  })

  it('set: no such file, or none of JSON', async () => {
    expect(await ops(['credit-policy', 'set', join(folder, 'none'), '--yes', '-o', '1'])).toMatchObject({ code: 2 })
    expect(await set('{')).toMatchObject({ code: 2, err: expect.stringContaining('is not JSON') })
  })
})
