import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PRESETS } from '../../../../src/domain/delinquency/policy.ts'
import { operator } from '../../../../src/services/access/caller.ts'
import { addAccount } from '../../../support/accounts.ts'
import { anotherLender } from '../../../support/lenders.ts'
import { FIRST_DAY, startService, type TestService } from '../../../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())
beforeEach(async () => {
  service.clock.set(FIRST_DAY)
  await service.owner.pool.query('DELETE FROM delinquency_policy')
})

const PATH = '/v1/delinquency-policy'

interface Policy {
  readonly version: number
  readonly preset?: string
  readonly source?: string
  readonly setAt?: string
}

const read = async (query = '') => (await service.get<Policy>(`${PATH}${query}`)).body
const put = (body: unknown, token = service.tokens.operator) => service.put<Policy>(PATH, { body, token })
const refuse = (body: unknown) => service.put(PATH, { body, token: service.tokens.operator })
const countVersions = async () => (await service.owner.pool.query('SELECT FROM delinquency_policy')).rowCount

const own = {
  buckets: [
    { name: 'good', fromDays: 0, toDays: 7, class: 'Pass', stage: 1, provisionRate: 0.5 },
    { name: 'late', fromDays: 8, toDays: 60, stage: 2, provisionRate: 12.3456 },
    { name: 'lost', fromDays: 61, stage: 3, provisionRate: 100 },
  ],
  countFrom: 'first_arrears',
  materiality: { amount: 500.25, percentOfPrincipal: 1 },
  cureDays: 14,
}

describe('GET /v1/delinquency-policy', () => {
  it('of a lender that has set none: par, version 0', async () => {
    expect(await read()).toEqual({
      version: 0,
      preset: 'par',
      source: PRESETS[0].source,
      buckets: [
        { name: 'current', fromDays: 0, toDays: 0 },
        { name: '1-30', fromDays: 1, toDays: 30 },
        { name: '31-60', fromDays: 31, toDays: 60 },
        { name: '61-90', fromDays: 61, toDays: 90 },
        { name: 'over 90', fromDays: 91 },
      ],
      countFrom: 'oldest_unpaid',
      cureDays: 0,
    })
  })

  it('?version= is an earlier one; 400 invalid_argument for one that there is not', async () => {
    service.clock.stand(FIRST_DAY)
    await put({ preset: 'cbk' })
    await put(own)
    expect(await read()).toMatchObject({ version: 2, ...own })
    expect(await read('?version=1')).toMatchObject({
      version: 1,
      preset: 'cbk',
      setAt: '2026-01-31T09:30:00.000+03:00',
    })
    expect(await read('?version=0')).toMatchObject({ version: 0, preset: 'par' })
    for (const version of ['3', '2147483647'])
      expect(await service.get(`${PATH}?version=${version}`)).toMatchObject({
        status: 400,
        body: { message: 'version: must be a version that there is: 0 to 2', details: [{ field: 'version' }] },
      })
  })
})

describe('PUT /v1/delinquency-policy', () => {
  it('a preset: answers its figures and its source; the trail says what it was and became', async () => {
    const { status, body } = await put({ preset: 'cbk' })
    expect(status).toBe(200)
    expect(body).toMatchObject({ version: 1, preset: 'cbk', source: expect.stringMatching(/CBK\/PG\/04/) })
    expect(body).toEqual(await read())
    const { body: trail } = await service.get('/v1/audit-trail?entity=delinquency%20policy&rows=1', {
      token: service.tokens.operator,
    })
    expect(trail.items[0]).toMatchObject({
      ...{ entityId: '1', action: 'set', before: { name: 'par' } },
      after: { name: 'cbk', rules: { cureDays: 0, buckets: expect.arrayContaining([]) } },
    })
  })

  it('a policy of its own: answers it as it was given, exactly', async () => {
    service.clock.stand(FIRST_DAY)
    const { body } = await put(own)
    expect(body).toEqual({ version: 1, setAt: '2026-01-31T09:30:00.000+03:00', ...own })
    expect(await read()).toEqual(body)
  })

  it('the same policy again makes no new version; a name that it did not have makes one', async () => {
    expect((await put({ preset: 'par' })).body).toMatchObject({ version: 0, preset: 'par' })
    expect((await put(own)).body.version).toBe(1)
    expect((await put(own)).body.version).toBe(1)
    const { preset, version, source, setAt, ...figures } = (await put({ preset: 'ifrs9' })).body
    expect([version, preset, source]).toEqual([2, 'ifrs9', expect.any(String)])
    expect(setAt).toBeDefined()
    // The figures of the preset without its name.
    expect((await put(figures)).body).toMatchObject({ version: 2, preset: 'ifrs9' })
    expect((await put({ preset: 'ifrs9' })).body.version).toBe(2)
    expect(await countVersions()).toBe(2)
  })

  it('the figures of a preset, and then its name: a new version', async () => {
    const { preset: _, version: __, source: ___, ...figures } = await read()
    await put({ preset: 'cbk' })
    expect((await put(figures)).body).not.toHaveProperty('preset')
    expect((await put({ preset: 'par' })).body).toMatchObject({ version: 3, preset: 'par' })
  })

  it('null stands for a member that is left out', async () => {
    const { materiality: _, ...without } = own
    const buckets = own.buckets.map((bucket) => ({ ...bucket, toDays: bucket.toDays ?? null }))
    const { body } = await put({
      ...without,
      preset: null,
      buckets,
      materiality: { amount: 0, percentOfPrincipal: null },
    })
    expect(body).toMatchObject({ version: 1, ...without, materiality: { amount: 0 } })
  })

  it('several at once: each is a version, and none is lost', async () => {
    const cures = [1, 2, 3, 4, 5]
    const answers = await Promise.all(cures.map((cureDays) => put({ ...own, cureDays })))
    expect(answers.map(({ body }) => body.version).toSorted()).toEqual(cures)
    expect(await read()).toMatchObject({ version: 5 })
    const again = await Promise.all(cures.map(() => put({ preset: 'cbk' })))
    expect(again.map(({ body }) => body.version)).toEqual([6, 6, 6, 6, 6])
    expect(await countVersions()).toBe(6)
  })

  it('is of one lender alone, in its currency', async () => {
    await anotherLender(service, 2, 'UGX')
    const [email, password] = ['admin@lender-2.example', 'a long enough secret']
    await addAccount(service.deps, operator(2, 'test'), { email, password, roles: ['ADMIN'] })
    const theirs = { token: await service.deps.signIn.issueToken(email, password, '127.0.0.1') }
    await put({ preset: 'cbk' })
    expect((await service.get(PATH, theirs)).body).toMatchObject({ version: 0, preset: 'par' })
    const refused = await service.put(PATH, { body: own, ...theirs })
    expect(refused.body.message).toBe('materiality.amount: must be a whole number: UGX has no decimals')
    const taken = await service.put(PATH, { body: { ...own, materiality: { amount: 500 } }, ...theirs })
    expect(taken.body).toMatchObject({ version: 1, materiality: { amount: 500 } })
    expect(await read()).toMatchObject({ version: 1, preset: 'cbk' })
  })

  it('403 permission_denied for a USER, who may read', async () => {
    expect(await put({ preset: 'cbk' }, service.tokens.partner)).toMatchObject({
      status: 403,
      body: { code: 'permission_denied' },
    })
    expect(await read()).toMatchObject({ version: 0 })
  })

  const [good, late, lost] = own.buckets
  it.each<[what: string, body: object, field: string, message: RegExp]>([
    ['nothing', {}, 'buckets', /is required, unless preset names one of par, cbk, ifrs9/],
    ['a preset that there is not', { preset: 'basel' }, 'preset', /must be one of|par/],
    ['a preset and more', { preset: 'cbk', cureDays: 3 }, 'cureDays', /cannot be given together with preset/],
    ['no first day', { ...own, countFrom: undefined }, 'countFrom', /is required/],
    ['a first day that there is not', { ...own, countFrom: 'today' }, 'countFrom', /oldest_unpaid/],
    ['no bucket', { ...own, buckets: [] }, 'buckets', /1/],
    [
      'too many buckets',
      { ...own, buckets: Array.from({ length: 21 }, (_, day) => ({ name: `b${day}`, fromDays: day, toDays: day })) },
      'buckets',
      /20/,
    ],
    [
      'two of one name',
      { ...own, buckets: [good, { ...late, name: 'good' }, lost] },
      'buckets[1].name',
      /buckets\[0\]/,
    ],
    ['a name of spaces', { ...own, buckets: [{ ...good, name: ' ' }, late, lost] }, 'buckets[0].name', /only spaces/],
    [
      'an invisible name',
      { ...own, buckets: [{ ...good, name: 'a\u200b' }, late, lost] },
      'buckets[0].name',
      /invisible/,
    ],
    ['a long name', { ...own, buckets: [{ ...good, name: 'x'.repeat(101) }, late, lost] }, 'buckets[0].name', /100/],
    [
      'a late beginning',
      { ...own, buckets: [{ ...good, fromDays: 1 }, late, lost] },
      'buckets[0].fromDays',
      /must be 0/,
    ],
    ['a gap', { ...own, buckets: [good, { ...late, fromDays: 9 }, lost] }, 'buckets[1].fromDays', /must be 8/],
    ['an overlap', { ...own, buckets: [good, { ...late, fromDays: 7 }, lost] }, 'buckets[1].fromDays', /must be 8/],
    ['days that fall', { ...own, buckets: [good, { ...late, toDays: 7 }, lost] }, 'buckets[1].toDays', /at least 8/],
    ['an end in the last', { ...own, buckets: [good, { ...late, toDays: 60 }] }, 'buckets[1].toDays', /left out/],
    [
      'no end before',
      { ...own, buckets: [{ ...good, toDays: undefined }, late, lost] },
      'buckets[0].toDays',
      /required/,
    ],
    ['too many days', { ...own, buckets: [{ ...good, toDays: 3_651 }, late, lost] }, 'buckets[0].toDays', /3650/],
    ['half a day', { ...own, buckets: [{ ...good, toDays: 7.5 }, late, lost] }, 'buckets[0].toDays', /whole number/],
    ['a stage 4', { ...own, buckets: [good, late, { ...lost, stage: 4 }] }, 'buckets[2].stage', /at most 3/],
    ['a stage that falls', { ...own, buckets: [good, late, { ...lost, stage: 1 }] }, 'buckets[2].stage', /below 2/],
    [
      '101 percent',
      { ...own, buckets: [good, late, { ...lost, provisionRate: 101 }] },
      'buckets[2].provisionRate',
      /100/,
    ],
    [
      'below 0',
      { ...own, buckets: [good, late, { ...lost, provisionRate: -1 }] },
      'buckets[2].provisionRate',
      /0 to 100/,
    ],
    [
      'five decimals',
      { ...own, buckets: [{ ...good, provisionRate: 0.00001 }, late, lost] },
      'buckets[0].provisionRate',
      /4 decimals/,
    ],
    [
      'an unknown member',
      { ...own, buckets: [{ ...good, days: 1 }, late, lost] },
      'buckets[0].days',
      /not a known field/,
    ],
    ['no limit', { ...own, materiality: {} }, 'materiality', /amount, percentOfPrincipal, or both/],
    ['an amount below 0', { ...own, materiality: { amount: -1 } }, 'materiality.amount', /negative/],
    ['three decimals', { ...own, materiality: { amount: 0.001 } }, 'materiality.amount', /2 decimals in TZS/],
    [
      'percent above 100',
      { ...own, materiality: { percentOfPrincipal: 100.1 } },
      'materiality.percentOfPrincipal',
      /0 to 100/,
    ],
    ['cure of 366 days', { ...own, cureDays: 366 }, 'cureDays', /365/],
    ['an unknown rule', { ...own, grace: 3 }, 'grace', /not a known field/],
  ])('400 invalid_argument: %s', async (_, body, field, message) => {
    const answer = await refuse(body)
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_argument'])
    expect(answer.body.details.map((one) => one.field)).toContain(field)
    expect(answer.body.message).toMatch(message)
    expect(await countVersions()).toBe(0)
  })

  it('400 invalid_argument names all that is at fault', async () => {
    const { body } = await refuse({
      ...own,
      buckets: [good, { ...late, fromDays: 9, stage: 1 }, { ...lost, fromDays: 60 }],
    })
    expect(body.details.map(({ field }) => field)).toEqual(['buckets[1].fromDays', 'buckets[2].fromDays'])
  })
})

it('a policy of the longest limits is taken', async () => {
  const buckets = Array.from({ length: 20 }, (_, index) => ({
    ...{ name: `${index}`.padStart(100, '·'), fromDays: index * 190, class: 'x'.repeat(100), stage: 3 },
    ...(index < 19 && { toDays: index * 190 + 189 }),
  }))
  const { status, body } = await put({ ...own, buckets, materiality: { percentOfPrincipal: 100 }, cureDays: 365 })
  expect([status, body]).toEqual([200, expect.objectContaining({ buckets, cureDays: 365 })])
})
