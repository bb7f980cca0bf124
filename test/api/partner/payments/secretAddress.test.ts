import { PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { unguarded } from '../../../../src/api/limits/overload.ts'
import { buildApp } from '../../../../src/app/app.ts'
import { makeLog } from '../../../../src/observability/log.ts'
import { createLimits, type Limits, MOST_MESSAGES } from '../../../../src/services/access/rateLimits.ts'
import type { Deps } from '../../../../src/services/deps.ts'
import { LONGEST_MESSAGE } from '../../../../src/services/payments/inbound/messageBody.ts'
import { providersOf, type TestChannel } from '../../../support/providers.ts'
import { startService, type TestService } from '../../../support/service.ts'

// The address of a payment channel is a secret: who does not know it learns nothing, and no log has it.

let service: TestService
let operator: { token: string }
let providers: ReturnType<typeof providersOf>
let channel: TestChannel

beforeAll(async () => {
  service = await startService()
  operator = { token: service.tokens.operator }
  providers = providersOf(service)
  channel = await providers.makeChannel()
})
afterAll(() => service.close())

const UNKNOWN = '/in/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
const SENT = '{"receipt":"S-1","amount":1,"paidAt":"2026-01-31T08:00:00+03:00"}'

const change = (id: string, body: object) => service.patch(`/v1/payment-channels/${id}`, { body, ...operator })

/** Sends a message to an app from an address. */
const sendTo = (app: FastifyInstance, url: string, { from = '127.0.0.1', headers = {}, payload = SENT } = {}) =>
  app.inject({
    method: 'POST',
    url,
    headers: { host: new URL(service.deps.config.baseUrl).host, 'content-type': 'text/plain', ...headers },
    payload,
    remoteAddress: from,
  })

async function withApp<T>(
  changes: Partial<Deps>,
  options: Parameters<typeof buildApp>[1],
  work: (app: FastifyInstance) => Promise<T>,
): Promise<T> {
  const app = await buildApp({ ...service.deps, ...changes }, options)
  try {
    return await work(app)
  } finally {
    await app.close()
  }
}

describe('the address of a channel', () => {
  it('answers one thing for an unknown secret, an old one, a disabled channel and a wrong address', async () => {
    const disabled = await providers.makeChannel()
    await change(disabled.id, { state: 'disabled' })
    const elsewhere = await providers.makeChannel({ allowFrom: ['196.201.214.0/24'] })
    const rotated = await providers.makeChannel()
    const path = `/v1/payment-channels/${rotated.id}/rotate-secret`
    const fresh = await service.post(path, { body: { overlapHours: 0 }, ...operator })
    const refused = [UNKNOWN, disabled.path, elsewhere.path, rotated.path].flatMap((one) => [one, `${one}/validate`])
    for (const one of refused) {
      const { status, body } = await providers.send(one, SENT)
      expect([status, body]).toEqual([404, { code: 'not_found', message: 'no such path' }])
    }
    expect((await providers.send(new URL(String(fresh.body.inboundUrl)).pathname, SENT)).status).toBe(200)
    expect((await sendTo(service.app, elsewhere.path, { from: '196.201.214.7' })).statusCode).toBe(200)
    expect((await sendTo(service.app, elsewhere.path, { from: '196.201.215.7' })).statusCode).toBe(404)
  })

  it('takes the one before until the overlap has ended, and is gone at once where the channel is disabled', async () => {
    const own = await providers.makeChannel()
    const path = `/v1/payment-channels/${own.id}/rotate-secret`
    expect((await service.post(path, { body: { overlapHours: 1 }, ...operator })).status).toBe(200)
    expect((await providers.send(own.path, SENT)).status).toBe(200)
    await change(own.id, { state: 'disabled' })
    expect((await providers.send(own.path, SENT)).status).toBe(404)
    await change(own.id, { state: 'active' })
    expect((await providers.send(own.path, SENT)).status).toBe(200)
    service.clock.set(new Date(service.clock.now() + 3_600_000).toISOString())
    expect((await providers.send(own.path, SENT)).status).toBe(404)
  })

  it.each(['GET', 'DELETE', 'PATCH'] as const)('takes no %s, whether it is known or not', async (method) => {
    for (const url of [channel.path, UNKNOWN]) {
      const { statusCode, headers } = await service.app.inject({
        method,
        url,
        headers: { host: new URL(service.deps.config.baseUrl).host },
      })
      expect([statusCode, headers.allow]).toEqual([405, 'POST, PUT, OPTIONS'])
    }
  })

  it.each([
    {},
    { 'content-type': 'application/x-www-form-urlencoded' },
    { 'content-type': 'no type at all' },
    { 'content-type': 'multipart/form-data' },
    { 'idempotency-key': 'x', authorization: 'Bearer x' },
    { 'content-type': 'application/json; charset=latin1' },
  ])('takes any body, with the headers %j', async (headers) => {
    expect((await sendTo(service.app, channel.path, { headers })).statusCode).toBe(200)
  })

  it(`takes ${LONGEST_MESSAGE} bytes, and no more`, async () => {
    const of = (length: number) => providers.send(channel.path, 'x'.repeat(length))
    expect((await of(LONGEST_MESSAGE)).status).toBe(200)
    const larger = await of(LONGEST_MESSAGE + 1)
    expect([larger.status, larger.body.code]).toEqual([413, 'payload_too_large'])
    const compressed = await providers.send(channel.path, 'x', { headers: { 'content-encoding': 'gzip' } })
    expect(compressed.status).toBe(415)
  })

  it('answers 503 where the message cannot be kept, so that its provider sends it again', async () => {
    const away = () => Promise.reject(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }))
    const paymentBatches = { ...service.deps.paymentBatches, keep: away }
    await withApp({ paymentBatches }, {}, async (app) => {
      const { statusCode, headers } = await sendTo(app, channel.path)
      expect([statusCode, headers['retry-after']]).toEqual([503, '2'])
    })
    await withApp({}, { guard: { ...unguarded, reachable: () => false } }, async (app) => {
      const { statusCode, headers } = await sendTo(app, channel.path)
      expect([statusCode, headers['retry-after']]).toEqual([503, '1'])
    })
  })
})

describe('the limits of messages', () => {
  const counting = (counted: string[], most: Readonly<Record<string, number>>): Limits => ({
    take(by, key) {
      counted.push(`${by} ${key}`)
      const used = counted.filter((one) => one === `${by} ${key}`).length
      const limit = most[by] ?? 1_000
      return { allowed: used <= limit, limit, remaining: Math.max(0, limit - used), reset: 7, window: 60 }
    },
    share: async () => undefined,
    stop: async () => undefined,
  })

  it('count guesses by their address, and stop these alone', async () => {
    const counted: string[] = []
    await withApp({}, { limits: counting(counted, { secret: 2 }) }, async (app) => {
      expect((await sendTo(app, channel.path, { from: '10.0.0.1' })).statusCode).toBe(200)
      const guesses = []
      for (let guess = 0; guess < 4; guess++)
        guesses.push((await sendTo(app, `/in/guess-${guess}`, { from: '10.0.0.1' })).statusCode)
      expect(guesses).toEqual([404, 404, 429, 429])
      expect((await sendTo(app, channel.path, { from: '10.0.0.1' })).statusCode).toBe(200)
      expect((await sendTo(app, '/in/guess', { from: '10.0.0.2' })).statusCode).toBe(404)
    })
    expect(new Set(counted)).toEqual(new Set(['secret 10.0.0.1', `channel 1/${channel.id}`, 'secret 10.0.0.2']))
  })

  it('take the first messages of a channel to an instance, however many come at once, for no guesses', async () => {
    const counted: string[] = []
    await withApp({}, { limits: counting(counted, { secret: 2 }) }, async (app) => {
      const sent = await Promise.all(Array.from({ length: 10 }, () => sendTo(app, channel.path)))
      expect(sent.map(({ statusCode }) => statusCode)).toEqual(Array(10).fill(200))
    })
    expect(new Set(counted)).toEqual(new Set([`channel 1/${channel.id}`]))
  })

  it('look for no secret of an address that has guessed too often, until it may again', async () => {
    const counted: string[] = []
    const most: Record<string, number> = { secret: 1 }
    const asked: string[] = []
    const channelSecrets = {
      ...service.deps.channelSecrets,
      get: (hash: string) => {
        asked.push(hash)
        return service.deps.channelSecrets.get(hash)
      },
    }
    await withApp({ channelSecrets }, { limits: counting(counted, most) }, async (app) => {
      const statuses = async (...secrets: readonly string[]) => {
        const all = []
        for (const secret of secrets) all.push((await sendTo(app, `/in/${secret}`)).statusCode)
        return all
      }
      expect(await statuses('one', 'two', 'three')).toEqual([404, 429, 429])
      expect(asked).toHaveLength(2)
      most.secret = 5
      expect(await statuses('four', 'five', 'six')).toEqual([404, 404, 429])
      expect((await sendTo(app, channel.path)).statusCode).toBe(429)
      most.secret = 100
      expect((await sendTo(app, channel.path)).statusCode).toBe(200)
    })
  })

  it('stop a channel that sends too many', async () => {
    await withApp({}, { limits: counting([], { channel: 1 }) }, async (app) => {
      expect((await sendTo(app, channel.path)).statusCode).toBe(200)
      const { statusCode, headers } = await sendTo(app, channel.path)
      expect([statusCode, headers['retry-after']]).toEqual([429, '7'])
      expect((await sendTo(app, channel.path)).json().message).toBe(
        'more than 1 requests a minute from this payment channel; try again in 7 s',
      )
    })
  })

  it('are shared by all instances, as those of accounts are', async () => {
    const limits = createLimits(service.deps)
    expect(limits.take('secret', '10.0.0.9')).toMatchObject({ allowed: true, limit: MOST_MESSAGES.secret })
    expect(limits.take('channel', '1/1')).toMatchObject({ allowed: true, limit: MOST_MESSAGES.channel })
    await limits.stop()
  })
})

describe('the log', () => {
  it('has no secret of a channel, and nothing of a message', async () => {
    const to = new PassThrough()
    let text = ''
    to.on('data', (chunk) => {
      text += chunk
    })
    const broken = () => Promise.reject(new Error('broken'))
    const paymentBatches = { ...service.deps.paymentBatches, keep: broken }
    const secret = channel.path.slice('/in/'.length)
    await withApp({ paymentBatches }, { logger: makeLog({ logLevel: 'trace' }, { to }) }, async (app) => {
      const answers = []
      for (const path of ['', '/validate', '/other', '/', '%zz', '?x=%zz', `${'x'.repeat(2_000)}`])
        answers.push((await sendTo(app, channel.path + path)).statusCode)
      expect(answers).toEqual([500, 200, 404, 404, 400, 400, 404])
    })
    await turn()
    expect(text).toContain('"route":"/in/:secret"')
    expect(text).toContain('"route":"/in/:secret/validate"')
    expect(text).not.toContain(secret)
    expect(text).not.toContain('S-1')
  })

  it('of changes has no secret of a channel either', async () => {
    const secret = channel.path.slice('/in/'.length)
    for (const path of ['/v1/audit-trail?rows=100', '/v1/events?limit=100', '/v1/payment-channels']) {
      const { text } = await service.get(path, operator)
      expect(text).not.toContain(secret)
    }
    expect((await service.get('/v1/audit-trail?rows=100', operator)).text).toContain('payment channel')
  })
})
