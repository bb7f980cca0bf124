import { constants, createHash, createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { httpbis } from 'http-message-signatures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { providersOf, type TestChannel } from '../../../support/providers.ts'
import { startService, type TestService } from '../../../support/service.ts'

let service: TestService
let operator: { token: string }
let providers: ReturnType<typeof providersOf>
beforeAll(async () => {
  service = await startService()
  operator = { token: service.tokens.operator }
  providers = providersOf(service)
})
afterAll(() => service.close())

const pem = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' }).toString()

/** Sends a message, and returns the state and the outcome that it has once it is decided on. */
async function send(channel: TestChannel, body: string, headers: Record<string, string>) {
  expect((await providers.send(channel.path, body, { headers })).status).toBe(200)
  await providers.decide()
  const { state, outcome } = (await providers.messagesOf(channel)).at(-1)!
  return { state, outcome }
}

const received = (receipt: string) => ({ state: 'done', outcome: `payment ${receipt} was received` })
const unread = (outcome: string) => ({ state: 'unreadable', outcome })
const NOT_SIGNED = 'it is not signed, and the channel has a key by which its messages are signed'
const WRONG = 'its signature is not by the key of the channel'

describe('Selcom', () => {
  const SECRET = 'a secret that we share'
  const FIELDS = ['transid', 'utilityref', 'amount', 'msisdn']
  const told = (transid: string) => ({ transid, utilityref: 'nobody', amount: '500', msisdn: '255682000001' })

  function signedBy(
    body: Record<string, string>,
    { fields = FIELDS, method = 'HS256', key = SECRET as string | KeyObject } = {},
  ): Record<string, string> {
    const timestamp = '2026-01-31T09:00:00+03:00'
    const text = [`timestamp=${timestamp}`, ...fields.map((name) => `${name}=${body[name] ?? ''}`)].join('&')
    const digest =
      typeof key === 'string' ? createHmac('sha256', key).update(text).digest() : sign('sha256', Buffer.from(text), key)
    const named = { 'digest-method': method, 'signed-fields': fields.join(','), digest: digest.toString('base64') }
    return { ...named, timestamp, authorization: 'SELCOM a2V5' }
  }

  it('is read where its fields are signed by the secret that is shared', async () => {
    const channel = await providers.makeChannel({ adapter: 'selcom', signingKey: SECRET })
    const body = told('S-1')
    expect(await send(channel, JSON.stringify(body), signedBy(body))).toEqual(received('S-1'))
  })

  it('is kept and not read where it is not signed, or by another secret, or changed since', async () => {
    const channel = await providers.makeChannel({ adapter: 'selcom', signingKey: SECRET })
    const body = told('S-2')
    const text = JSON.stringify(body)
    expect(await send(channel, text, {})).toEqual(unread(NOT_SIGNED))
    expect(await send(channel, text, signedBy(body, { key: 'another secret of ours' }))).toEqual(unread(WRONG))
    expect(await send(channel, text, signedBy(body, { method: 'RS256' }))).toEqual(unread(WRONG))
    const changed = JSON.stringify({ ...body, amount: '50000' })
    expect(await send(channel, changed, signedBy(body))).toEqual(unread(WRONG))
    expect((await send(channel, 'no JSON', signedBy(body))).state).toBe('unreadable')
    expect(await send(channel, text, signedBy(body))).toEqual(received('S-2'))
  })

  it.each(['amount', 'Amount'])('is not read where its signature leaves out %s', async (name) => {
    const channel = await providers.makeChannel({ adapter: 'selcom', signingKey: SECRET })
    const { amount, ...rest } = told('S-3')
    const body = { ...rest, [name]: amount }
    const headers = signedBy(body, { fields: ['transid', 'utilityref', 'msisdn'] })
    expect(await send(channel, JSON.stringify(body), headers)).toEqual(unread(`its signature does not cover ${name}`))
  })

  it('is read where it is signed by the private key of a public one (RS256)', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const channel = await providers.makeChannel({ adapter: 'selcom', signingKey: pem(publicKey) })
    const body = told('S-4')
    const text = JSON.stringify(body)
    expect(await send(channel, text, signedBy(body, { key: privateKey, method: 'RS256' }))).toEqual(received('S-4'))
    // A public key is no secret: a digest by it proves nothing.
    expect(await send(channel, text, signedBy(body, { key: pem(publicKey) }))).toEqual(unread(WRONG))
  })
})

describe('pawaPay', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const told = (depositId: string, amount = '500') =>
    JSON.stringify({ depositId, status: 'COMPLETED', amount, currency: 'TZS', created: '2026-01-31T06:00:00Z' })
  const COVERED = ['@method', '@authority', '@path', 'signature-date', 'content-digest', 'content-type']

  async function signed(
    channel: TestChannel,
    body: string,
    {
      encoding = 'der' as 'der' | 'ieee-p1363',
      fields = COVERED,
      key = privateKey,
      expires = Date.now() + 60_000,
      digest = 'sha512',
      by = (data: Buffer): Buffer => sign('sha256', data, { key, dsaEncoding: encoding }),
    } = {},
  ): Promise<Record<string, string>> {
    const name = digest.replace('sha', 'sha-')
    const headers = {
      'content-type': 'application/json',
      'content-digest': `${name}=:${createHash(digest).update(body).digest('base64')}:`,
      'signature-date': '2026-01-31T06:00:00Z',
    }
    const signer = { id: 'HTTP_EC_P256_KEY:1', alg: 'ecdsa-p256-sha256' }
    const asked = {
      key: { ...signer, sign: async (data: Buffer) => by(data) },
      name: 'sig-pp',
      fields,
      paramValues: { created: new Date(expires - 60_000), expires: new Date(expires) },
      params: ['created', 'expires', 'alg', 'keyid'],
    }
    const request = { method: 'POST', url: new URL(channel.path, service.deps.config.baseUrl).href, headers }
    return (await httpbis.signMessage(asked, request)).headers as Record<string, string>
  }

  it.each(['der', 'ieee-p1363'] as const)('is read where its request is signed, as %s', async (encoding) => {
    const channel = await providers.makeChannel({ adapter: 'pawapay', signingKey: pem(publicKey) })
    const body = told(`P-${encoding}`)
    expect(await send(channel, body, await signed(channel, body, { encoding }))).toEqual(received(`P-${encoding}`))
  })

  it.each([
    ['P-384', generateKeyPairSync('ec', { namedCurve: 'P-384' }), 'sha384', undefined],
    ['Ed25519', generateKeyPairSync('ed25519'), null, undefined],
    ['RSA', generateKeyPairSync('rsa', { modulusLength: 2_048 }), 'sha256', undefined],
    ['RSA-PSS', generateKeyPairSync('rsa', { modulusLength: 2_048 }), 'sha512', constants.RSA_PKCS1_PSS_PADDING],
  ] as const)(
    'is read where its request is signed by a key of %s, and by no other',
    async (name, pair, hash, padding) => {
      const channel = await providers.makeChannel({ adapter: 'pawapay', signingKey: pem(pair.publicKey) })
      const by = (data: Buffer) => sign(hash, data, padding ? { key: pair.privateKey, padding } : pair.privateKey)
      const body = told(`P-${name}`)
      expect(await send(channel, body, await signed(channel, body))).toEqual(unread(WRONG))
      expect(await send(channel, body, await signed(channel, body, { by }))).toEqual(received(`P-${name}`))
    },
  )

  it('is kept and not read where it is not signed, by another key, for another channel, or changed since', async () => {
    const channel = await providers.makeChannel({ adapter: 'pawapay', signingKey: pem(publicKey) })
    const other = await providers.makeChannel({ adapter: 'pawapay', signingKey: pem(publicKey) })
    const body = told('P-1')
    expect(await send(channel, body, {})).toEqual(unread(NOT_SIGNED))
    const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    expect(await send(channel, body, await signed(channel, body, { key: stranger }))).toEqual(unread(WRONG))
    expect(await send(channel, body, await signed(other, body))).toEqual(unread(WRONG))
    expect(await send(channel, told('P-1', '50000'), await signed(channel, body))).toEqual(
      unread('its Content-Digest is not that of the body'),
    )
  })

  it('is not read where its signature leaves out the body, has expired, or is no signature at all', async () => {
    const channel = await providers.makeChannel({ adapter: 'pawapay', signingKey: pem(publicKey) })
    const body = told('P-2')
    const open = await signed(channel, body, { fields: ['@method', '@path'] })
    expect((await send(channel, body, open)).state).toBe('unreadable')
    const old = await signed(channel, body, { expires: Date.now() - 3_600_000 })
    expect((await send(channel, body, old)).state).toBe('unreadable')
    const broken = { ...(await signed(channel, body)), 'signature-input': 'sig-pp=(' }
    expect((await send(channel, body, broken)).state).toBe('unreadable')
  })
})

describe('the key of a channel', () => {
  const make = (body: object) =>
    service.post('/v1/payment-channels', { body: { name: 'Wallet', ...body }, ...operator })

  it.each([
    [{ adapter: 'mtn_collection', signingKey: 'a secret that we share' }, 'are not signed'],
    [{ adapter: 'pawapay', signingKey: 'a secret that we share' }, 'must be the public key of the provider, in PEM'],
    [{ adapter: 'selcom', signingKey: pem(generateKeyPairSync('ed25519').publicKey) }, 'must be a public key of rsa'],
    [{ adapter: 'pawapay', signingKey: pem(generateKeyPairSync('x25519').publicKey) }, 'of rsa, ec, ed25519, in PEM'],
    [{ adapter: 'selcom', signingKey: 'short' }, 'of 16 characters or more'],
    [{ adapter: 'selcom', signingKey: '-----BEGIN PUBLIC KEY-----\nnone\n-----END PUBLIC KEY-----' }, 'in PEM'],
  ])('400: %j', async (body, message) => {
    const { status, body: answer } = await make(body)
    expect([status, answer.message]).toEqual([400, expect.stringContaining(message)])
  })

  it('is in no answer and no row of the trail, and can be taken away', async () => {
    const signingKey = 'a secret that nobody else has'
    const { body: channel } = await make({ adapter: 'selcom', signingKey })
    expect(channel).toMatchObject({ signed: true })
    const path = `/v1/payment-channels/${channel.id}`
    const renamed = await service.patch(path, { body: { name: 'Renamed' }, ...operator })
    expect(renamed.body).toMatchObject({ signed: true, name: 'Renamed' })
    const open = await service.patch(path, { body: { signingKey: null }, ...operator })
    expect(open.body.signed).toBe(false)
    const { rows } = await service.owner.pool.query(
      `SELECT action, after -> 'signed' AS signed, after::text LIKE '%' || $1 || '%' OR after ? 'signingKey' AS told
       FROM audit_entry WHERE entity = 'payment channel' AND entity_id = $2 ORDER BY id`,
      [signingKey, channel.id],
    )
    expect(rows).toEqual([
      { action: 'create', signed: true, told: false },
      { action: 'update', signed: true, told: false },
      { action: 'update', signed: false, told: false },
    ])
    expect(JSON.stringify([channel, renamed.body, open.body])).not.toContain(signingKey)
  })
})
