import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { opsOn } from '../support/ops.ts'
import { FIRST_DAY, startService, type TestService } from '../support/service.ts'
import type { Wire } from '../support/wire.ts'

let service: TestService
let ops: ReturnType<typeof opsOn>
let folder: string
beforeAll(async () => {
  service = await startService()
  ops = opsOn(service)
  folder = await mkdtemp(join(tmpdir(), 'mkopo-arrears-'))
})
afterAll(async () => {
  await service.close()
  await rm(folder, { recursive: true })
})
beforeEach(async () => {
  service.clock.set(FIRST_DAY)
  await service.owner.pool.query('DELETE FROM delinquency_policy')
})

const own = {
  buckets: [
    { name: 'good', fromDays: 0, toDays: 7, class: 'Pass', stage: 1 },
    { name: 'lost', fromDays: 8, stage: 3, provisionRate: 33.3333 },
  ],
  countFrom: 'first_arrears',
  materiality: { amount: 500.25, percentOfPrincipal: 0.5 },
  cureDays: 14,
}

const file = async (policy: unknown): Promise<string> => {
  const path = join(folder, 'policy.json')
  await writeFile(path, typeof policy === 'string' ? policy : JSON.stringify(policy))
  return path
}
const set = async (policy: unknown) => ops(['delinquency-policy', 'set', await file(policy), '-o', '1', '--yes'])
const show = async (more = '') => ops<Wire>(`delinquency-policy show -o 1 --json${more}`)

describe('delinquency-policy', () => {
  it('show: the policy in force, and what it is; set takes it', async () => {
    const { out, err } = await ops('delinquency-policy show -o 1')
    expect(err).toContain('version 0, the preset par: CGAP')
    expect(JSON.parse(out)).toMatchObject({ buckets: expect.any(Array), countFrom: 'oldest_unpaid', cureDays: 0 })
    expect(await set(own)).toMatchObject({
      ...{ code: 0, out: 'The delinquency policy of organization 1 is version 1, its own.\n' },
    })
    expect((await show()).json).toEqual(own)
    expect((await service.get('/v1/delinquency-policy')).body).toMatchObject({ version: 1, ...own })
    expect((await set((await show()).json)).out).toContain('is version 1, its own')
    expect((await show(' --at 0')).json).toMatchObject({ cureDays: 0 })
    expect(await show(' --at 2')).toMatchObject({ code: 1, err: expect.stringContaining('0 to 1') })
  })

  it('set --preset, and versions: newest first', async () => {
    await set(own)
    const named = await ops('delinquency-policy set --preset cbk -o 1 --yes')
    expect(named.out).toBe('The delinquency policy of organization 1 is version 2, the preset cbk.\n')
    const { json } = await ops<Wire[]>('delinquency-policy versions -o 1 --json')
    expect(json).toEqual([
      {
        ...{ version: 2, setAt: '2026-01-31 09:30:00+03:00', preset: 'cbk' },
        buckets: ['normal', 'watch', 'substandard', 'doubtful', 'loss'],
      },
      { version: 1, setAt: '2026-01-31 09:30:00+03:00', preset: null, buckets: ['good', 'lost'] },
      { version: 0, setAt: null, preset: 'par', buckets: ['current', '1-30', '31-60', '61-90', 'over 90'] },
    ])
    const trail = await ops(['audit', '--entity', 'delinquency policy', '-o', '1', '--json'])
    expect(trail.out).toContain('"cbk"')
  })

  it.each<[what: string, policy: unknown, code: number, message: RegExp]>([
    ['no JSON', '{', 2, /is not JSON/],
    ['a list', [], 1, /policy: must be an object/],
    ['an unknown member', { ...own, grace: 1 }, 1, /policy: has the member "grace", and takes preset, buckets/],
    ['buckets that are none', { ...own, buckets: 5 }, 1, /buckets: must be a list/],
    ['a bucket that is none', { ...own, buckets: [5] }, 1, /buckets\[0\]: must be an object/],
    ['a name that is none', { ...own, buckets: [{ name: 5, fromDays: 0 }] }, 1, /buckets\[0\]\.name: must be a text/],
    ['no name', { ...own, buckets: [{ fromDays: 0 }] }, 1, /buckets\[0\]\.name: is required/],
    ['no first day', { ...own, buckets: [{ name: 'a' }] }, 1, /buckets\[0\]\.fromDays: is required/],
    ['days as text', { ...own, cureDays: '3' }, 1, /cureDays: must be a number/],
    ['half a day of cure', { ...own, cureDays: 0.5 }, 1, /cureDays: must be a whole number, 0 to 365/],
    ['stage 4', { ...own, buckets: [{ name: 'a', fromDays: 0, stage: 4 }] }, 1, /buckets\[0\]\.stage: must be 1, 2, 3/],
    ['a gap', { ...own, buckets: [own.buckets[0], { ...own.buckets[1], fromDays: 9 }] }, 1, /must be 8, one more than/],
    ['too large a number', { ...own, materiality: { amount: 1e300 } }, 1, /materiality\.amount: is too large/],
  ])('set: %s is refused, and nothing is set', async (_, policy, code, message) => {
    const run = await set(policy)
    expect([run.code, run.err]).toEqual([code, expect.stringMatching(message)])
    expect((await service.owner.pool.query('SELECT FROM delinquency_policy')).rowCount).toBe(0)
  })

  it('set: neither a file nor a preset, both, or no such file', async () => {
    const policy = await file(own)
    for (const rest of [[], [policy, '--preset', 'cbk'], [join(folder, 'none')], ['--preset', 'basel']])
      expect(await ops(['delinquency-policy', 'set', ...rest, '-o', '1', '--yes'])).toMatchObject({ code: 2 })
  })
})

describe('loans show', () => {
  it('has a line of how late the loan is, by the policy in force', async () => {
    await service.post('/v1/customers', { body: { externalId: 'asha' } })
    const body = { customerId: 'asha', productId: 1, principal: 100_000 }
    const { id } = (await service.post('/v1/loans', { body })).body
    service.clock.set('2026-04-02')
    await ops('delinquency-policy set --preset cbk -o 1 --yes')
    const shown = await ops(`loans show ${id} -o 1`)
    expect(shown.out).toContain('\ndelinquency watch (Watch), 33 days past due, since 2026-03-31, provision 3000.00\n')
    expect((await ops<Wire>(`loans show ${id} -o 1 --json`)).json.delinquency).toEqual({
      ...{ daysPastDue: 33, bucket: 'watch', since: '2026-03-31', class: 'Watch', stage: null, provision: '3000.00' },
    })
    await service.post(`/v1/loans/${id}/repayments`, { body: { transactionAmount: 200_000 } })
    expect((await ops<Wire>(`loans show ${id} -o 1 --json`)).json.delinquency).toBeNull()
  })
})
