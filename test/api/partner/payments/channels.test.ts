import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isAllowedFrom } from '../../../../src/services/payments/channels.ts'
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

  it('that is not there is not found, whatever its number', async () => {
    for (const id of ['99', '2147483648', '9223372036854775807', '0'])
      expect([id, (await service.get(`${CHANNELS}/${id}`, operator)).status]).toEqual([id, 404])
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
