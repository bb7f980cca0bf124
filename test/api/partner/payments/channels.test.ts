import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isAllowedFrom, MOST_CHANNELS } from '../../../../src/services/payments/channels.ts'
import { startService, type TestService } from '../../../support/service.ts'

// Payment channels: what is refused of a request, what a change leaves as it is, and the networks of a channel.

let service: TestService
let operator: { token: string }
beforeAll(async () => {
  service = await startService()
  operator = { token: service.tokens.operator }
})
afterAll(() => service.close())

const CHANNELS = '/v1/payment-channels'
const create = (body: object) =>
  service.post(CHANNELS, { body: { name: 'Wallet', adapter: 'canonical', ...body }, ...operator })
const change = (id: string, body: object) => service.patch(`${CHANNELS}/${id}`, { body, ...operator })

describe('a payment channel', () => {
  it.each([
    [{ zone: 'Africa/Nowhere' }, 'zone', 'must be a zone of the IANA database, such as Africa/Nairobi'],
    [{ allowFrom: ['10.0.0.0/33'] }, 'allowFrom', 'must have addresses or networks such as 196.201.214.0/24'],
    [{ allowFrom: ['10.0.0.0/8/8'] }, 'allowFrom', 'must have addresses or networks such as 196.201.214.0/24'],
    [{ allowFrom: ['10.0.0.0/x'] }, 'allowFrom', 'must have addresses or networks such as 196.201.214.0/24'],
    [{ allowFrom: ['wallet.example'] }, 'allowFrom', 'must have addresses or networks such as 196.201.214.0/24'],
    [{ account: '4000' }, 'account', 'must be the code of an account of the chart that is an asset'],
    [{ account: '9999' }, 'account', 'must be the code of an account of the chart that is an asset'],
  ])('is refused with %j', async (wrong, field, message) => {
    const { status, body } = await create(wrong)
    expect([status, body.details]).toEqual([400, [{ field, message }]])
    if (field === 'account') return
    const { body: made } = await create({})
    const changed = await change(made.id, wrong)
    expect([changed.status, changed.body.details]).toEqual([400, [{ field, message }]])
  })

  it('keeps what a change leaves out, and gives up what the change takes away', async () => {
    const { body: made } = await create({ shortCode: '555', confirmAbove: 5_000, allowFrom: ['10.0.0.0/8'] })
    const { status, body } = await change(made.id, { name: 'The wallet', matchPhone: true })
    expect([status, body]).toMatchObject([
      200,
      { name: 'The wallet', matchPhone: true, shortCode: '555', confirmAbove: 5_000, allowFrom: ['10.0.0.0/8'] },
    ])
    const taken = (await change(made.id, { shortCode: null, confirmAbove: null, allowFrom: [] })).body
    expect(taken).toMatchObject({ name: 'The wallet', shortCode: null, confirmAbove: null, allowFrom: [] })
  })

  it.each([
    [{ currencyCode: 'ZZZ' }, 'currencyCode', /^must be one of /],
    [{ adapter: 'pigeon' }, 'adapter', /^must be one of canonical, /],
    [{ allowFrom: new Array(51).fill('10.0.0.1') }, 'allowFrom', /^must have at most 50 items$/],
  ])('is refused with %j, which has one of a few values, or a bound', async (wrong, field, message) => {
    const { status, body } = await create(wrong)
    expect([status, body.details]).toEqual([400, [{ field, message: expect.stringMatching(message) }]])
  })

  it('is disabled and active as a change says, and takes another limit and another key', async () => {
    const { body: made } = await create({ adapter: 'selcom' })
    const state = async (body: object) => (await change(made.id, body)).body.state
    expect([await state({ state: 'disabled' }), await state({ state: 'disabled' })]).toEqual(['disabled', 'disabled'])
    expect([await state({ name: 'Renamed' }), await state({ state: 'active' })]).toEqual(['disabled', 'active'])
    const changed = await change(made.id, { confirmAbove: 12.5, signingKey: 'a secret that we share' })
    expect(changed.body).toMatchObject({ confirmAbove: 12.5, signed: true, state: 'active' })
    expect((await change(made.id, { signingKey: null })).body).toMatchObject({ confirmAbove: 12.5, signed: false })
  })

  it('has another secret at once, where the one before gets no overlap, and 72 hours at most', async () => {
    const { body: made } = await create({})
    const rotate = (body: object) => service.post(`${CHANNELS}/${made.id}/rotate-secret`, { body, ...operator })
    expect((await rotate({ overlapHours: 73 })).body.details).toEqual([
      { field: 'overlapHours', message: 'must be at most 72' },
    ])
    const { body: rotated } = await rotate({ overlapHours: 0 })
    expect(rotated).toMatchObject({ id: made.id, previousSecretUntil: null })
    const statusOf = async (url: unknown) => (await service.post(new URL(String(url)).pathname, { raw: '{}' })).status
    expect([await statusOf(made.inboundUrl), await statusOf(rotated.inboundUrl)]).toEqual([404, 200])
  })

  it('that is not there is not found, whatever its number', async () => {
    for (const id of ['99', '2147483648', '9223372036854775807', '0'])
      expect([id, (await service.get(`${CHANNELS}/${id}`, operator)).status]).toEqual([id, 404])
  })
})

describe('the channels of an organization', () => {
  const all = async () => (await service.get(CHANNELS, operator)).body.items

  it('is one more for requests of one Idempotency-Key, however many come at once', async () => {
    const before = (await all()).length
    const call = { body: { name: 'Once', adapter: 'canonical' }, headers: { 'idempotency-key': 'once' }, ...operator }
    const answers = await Promise.all(Array.from({ length: 8 }, () => service.post(CHANNELS, call)))
    const made = answers.filter(({ status }) => status === 200)
    expect(new Set(made.map(({ body }) => body.id)).size).toBe(1)
    expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([])
    expect((await all()).length).toBe(before + 1)
  })

  it(`have numbers of their own, made at once or not, and are ${MOST_CHANNELS} at most`, async () => {
    const make = async () => {
      while ((await create({})).status === 200);
    }
    await Promise.all(Array.from({ length: 4 }, make))
    const { status, body } = await create({})
    expect([status, body.message]).toEqual([
      409,
      `the organization has ${MOST_CHANNELS} payment channels, the most that there may be`,
    ])
    expect(new Set((await all()).map(({ id }) => id)).size).toBe(MOST_CHANNELS)
  })
})

describe('a channel that takes messages from some networks', () => {
  it.each([
    [[], '203.0.113.9', true],
    [['196.201.214.0/24'], '196.201.214.200', true],
    [['196.201.214.0/24'], '196.201.215.1', false],
    [['196.201.214.0/24'], '::ffff:196.201.214.7', true],
    [['10.0.0.1', '2001:db8::/32'], '2001:db8::5', true],
    [['10.0.0.1', '2001:db8::/32'], '2001:db9::5', false],
    [['10.0.0.1'], '10.0.0.1', true],
    [['10.0.0.1'], '10.0.0.2', false],
    [['0.0.0.0/0'], '203.0.113.9', true],
    [['0.0.0.0/0'], '2001:db8::5', false],
  ])('%j: from %s, %s', (allowFrom, address, isAllowed) => {
    expect(isAllowedFrom({ allowFrom }, address)).toBe(isAllowed)
  })
})
