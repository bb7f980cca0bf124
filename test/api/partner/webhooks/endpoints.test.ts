import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { operator as callerOf } from '../../../../src/services/access/caller.ts'
import { sequencerJob } from '../../../../src/services/events/sequencer.ts'
import { drain } from '../../../../src/services/jobs/job.ts'
import { createTrimmer } from '../../../../src/services/webhooks/attempts.ts'
import { addAccount } from '../../../support/accounts.ts'
import { anotherLender } from '../../../support/lenders.ts'
import { type Receiver, startReceiver } from '../../../support/receiver.ts'
import { startService, type TestService } from '../../../support/service.ts'
import { deliverAll, deliveryOf, type EndpointWire, lendTo, operatorOf } from '../../../support/webhooks.ts'

// The management of endpoints over HTTP, with the settings of production: only addresses of the internet.

const URL_OF_PARTNER = 'https://198.41.0.4/hook'
const PATH = '/v1/webhook-endpoints'

let service: TestService
let operator: ReturnType<typeof operatorOf>
const made: string[] = []

beforeAll(async () => {
  service = await startService()
  operator = operatorOf(service)
  await lendTo(service, ['asha'])
  await drain(sequencerJob(service.deps))
})
afterAll(() => service.close())
afterEach(async () => {
  for (const id of made.splice(0)) await service.delete(`${PATH}/${id}`, { token: service.tokens.operator })
})

const post = <Body = EndpointWire>(path: string, body: object, headers: Record<string, string> = {}) =>
  service.post<Body>(path, { token: service.tokens.operator, body, headers })

async function create(more: object = {}): Promise<EndpointWire> {
  const endpoint = await operator.create(URL_OF_PARTNER, more)
  made.push(endpoint.id)
  return endpoint
}

const rowOf = async (id: string) =>
  (await service.owner.pool.query('SELECT * FROM webhook_endpoint WHERE id = $1', [id])).rows[0]

/** Returns a token of an ADMIN of another lender. */
async function adminOfAnother(): Promise<string> {
  await anotherLender(service, 7, 'KES')
  const [email, password] = ['admin@lender-7.example', 'a long enough secret']
  await addAccount(service.deps, callerOf(7, 'test'), { email, password, roles: ['ADMIN'] })
  return service.deps.signIn.issueToken(email, password, '127.0.0.1')
}

describe('an endpoint', () => {
  it('is created with a secret that is shown once, and stored encrypted', async () => {
    const endpoint = await create({ types: ['loan.*', 'repayment.posted'], description: 'Wallet' })
    expect(endpoint).toMatchObject({
      ...{ url: URL_OF_PARTNER, types: ['loan.*', 'repayment.posted'], style: 'partner', description: 'Wallet' },
      ...{ state: 'active', stateReason: null, behind: 0, oldestUndeliveredAt: null, previousSecretUntil: null },
    })
    expect(endpoint.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(await operator.endpoint(endpoint.id)).not.toHaveProperty('secret')
    expect(JSON.stringify(await rowOf(endpoint.id), (_, value) => String(value))).not.toContain(endpoint.secret)
    const trail = await service.get(`/v1/audit-trail?entityId=${endpoint.id}`, { token: service.tokens.operator })
    expect(trail.text).toContain('webhook endpoint')
    expect(trail.text).not.toContain(endpoint.secret.slice(6))
  })

  it('begins now, at the beginning, or after a cursor', async () => {
    const { body } = await service.get<{ next: string }>('/v1/events?rows=1')
    expect(await create()).toMatchObject({ behind: 0 })
    expect(await create({ from: 'beginning' })).toMatchObject({ behind: 2, oldestUndeliveredAt: expect.any(String) })
    expect(await create({ from: body.next })).toMatchObject({ behind: 1 })
    expect(await create({ from: 'beginning', types: ['loan.disbursed'] })).toMatchObject({ behind: 1 })
    const wrong = await post(PATH, { url: URL_OF_PARTNER, from: 'yesterday' })
    expect(wrong).toMatchObject({ status: 400, body: { code: 'invalid_argument', details: [{ field: 'from' }] } })
  })

  it.each([
    ['http://198.41.0.4/', 'must begin with https:'],
    ['https://10.1.2.3/', 'must lead to an address of the internet'],
    ['https://localhost/', 'must lead to an address of the internet'],
    ['https://user:pw@198.41.0.4/', 'must have no user and no password'],
    ['hooks', 'must be a URL'],
  ])('is refused for the URL %s, new or changed', async (url, message) => {
    const { id } = await create()
    for (const answer of [
      await post(PATH, { url }),
      await service.patch(`${PATH}/${id}`, { token: service.tokens.operator, body: { url } }),
    ]) {
      expect(answer).toMatchObject({ status: 400, body: { details: [{ field: 'url' }] } })
      expect(answer.text).toContain(message)
    }
  })

  it.each([
    { types: ['loan.lost'] },
    { types: 'loan.closed' },
    { style: 'auth' },
    { description: 'x'.repeat(201) },
    { secret: 'whsec_mine' },
  ])('is refused with %j', async (more) => {
    expect(await post(PATH, { url: URL_OF_PARTNER, ...more })).toMatchObject({ status: 400 })
  })

  it('is changed: what is left out stays, and each change is in the audit trail', async () => {
    const { id } = await create({ description: 'before' })
    expect(await operator.change(id, { types: ['customer.*'], state: 'disabled' })).toMatchObject({
      ...{ types: ['customer.*'], description: 'before', url: URL_OF_PARTNER },
      ...{ state: 'disabled', stateReason: 'disabled by an operator' },
    })
    expect(await operator.change(id, { state: 'active' })).toMatchObject({ state: 'active', stateReason: null })
    await operator.change(id, { state: 'active' })
    await operator.rotate(id)
    await operator.remove(id)
    const { body } = await service.get(`/v1/audit-trail?entityId=${id}`, { token: service.tokens.operator })
    const actions = body.items.filter(({ entity }) => entity === 'webhook endpoint').map(({ action }) => action)
    expect(actions).toEqual(['delete', 'rotate', 'update', 'update', 'create'])
    expect((await service.get(`${PATH}/${id}`, { token: service.tokens.operator })).status).toBe(404)
  })

  it('is one of 20 at most', async () => {
    for (let index = 0; index < 20; index++) await create()
    const { status, body } = await post<{ code: string }>(PATH, { url: URL_OF_PARTNER })
    expect([status, body.code]).toEqual([409, 'failed_precondition'])
    const all = await service.get(`${PATH}?rows=15`, { token: service.tokens.operator })
    expect([all.body.items.length, all.body.total]).toEqual([15, 20])
    const rest = await service.get(`${PATH}?rows=15&after=${all.body.next}`, { token: service.tokens.operator })
    expect(rest.body.items).toHaveLength(5)
  })

  it('is seen by no USER and by no other lender', async () => {
    const { id } = await create()
    const paths = ['', '/rotate-secret', '/test', '/recover'].map((path) => `${PATH}/${id}${path}`)
    const token = await adminOfAnother()
    for (const [index, path] of paths.entries()) {
      const method = index === 0 ? 'get' : 'post'
      const body = path.endsWith('recover') ? { body: { since: '2026-01-01T00:00:00Z' } } : {}
      expect((await service[method](path, body)).status).toBe(403)
      expect([path, (await service[method](path, { ...body, token })).status]).toEqual([path, 404])
    }
  })
})

describe('a request that is repeated with its Idempotency-Key', () => {
  it('gets the endpoint and its secret again, without a second endpoint and without a stored secret', async () => {
    const key = { 'idempotency-key': 'make-1' }
    const first = await post(PATH, { url: URL_OF_PARTNER }, key)
    made.push(first.body.id)
    const again = await post(PATH, { url: URL_OF_PARTNER }, key)
    expect(again.body).toEqual(first.body)
    expect(again.headers['idempotency-replayed']).toBe('true')
    const rotated = await post(`${PATH}/${first.body.id}/rotate-secret`, {}, { 'idempotency-key': 'turn-1' })
    const twice = await post(`${PATH}/${first.body.id}/rotate-secret`, {}, { 'idempotency-key': 'turn-1' })
    expect(twice.body.secret).toBe(rotated.body.secret)
    expect(rotated.body.secret).not.toBe(first.body.secret)
    const { rows } = await service.owner.pool.query('SELECT response FROM idempotency_key WHERE response IS NOT NULL')
    expect(JSON.stringify(rows)).not.toContain('whsec_')
  })

  it('gets the answer of a recovery that was stored, and aborted where it was lost', async () => {
    const { id } = await create()
    const key = { 'idempotency-key': 'again-1' }
    // By the time of the machine, at which events are numbered.
    const since = { since: new Date(service.deps.machineNow() - 30 * 86_400_000).toISOString() }
    expect((await post(`${PATH}/${id}/recover`, since, key)).body).toEqual({ queued: 2 })
    expect((await post(`${PATH}/${id}/recover`, since, key)).body).toEqual({ queued: 2 })
    await service.owner.pool.query(`UPDATE idempotency_key SET status = NULL, response = NULL WHERE key = 'again-1'`)
    expect(await post(`${PATH}/${id}/recover`, since, key)).toMatchObject({ status: 409, body: { code: 'aborted' } })
    expect((await post(`${PATH}/${id}/recover`, { since: 'last week' })).status).toBe(400)
  })
})

describe('the deliveries of an endpoint', () => {
  let receiver: Receiver
  let local: TestService
  beforeAll(async () => {
    receiver = await startReceiver()
    local = await startService({ WEBHOOKS_TO_PRIVATE: 'true' })
  })
  afterAll(async () => {
    await local.close()
    await receiver.close()
  })

  it('are listed by page, by cursor and by state, and the oldest are deleted', async () => {
    const { create: createHere, deliveries } = operatorOf(local)
    const { id } = await createHere(receiver.url)
    const delivery = deliveryOf(local)
    await lendTo(local, ['one', 'two', 'three'])
    await deliverAll(local, delivery)
    await delivery.stop()
    const call = { token: local.tokens.operator }
    const first = await local.get(`${PATH}/${id}/deliveries?rows=4`, call)
    expect([first.body.total, first.body.items.length]).toEqual([6, 4])
    const rest = await local.get(`${PATH}/${id}/deliveries?rows=4&after=${first.body.next}`, call)
    const ids = [...first.body.items, ...rest.body.items].map((one) => Number(one.id))
    expect(ids).toEqual(ids.toSorted((a, b) => b - a))
    expect(await deliveries(id, '?state=delivered')).toHaveLength(6)
    expect(await deliveries(id, '?state=exhausted')).toHaveLength(0)
    expect((await local.get(`${PATH}/${id}/deliveries?state=lost`, call)).status).toBe(400)
    await createTrimmer(local.deps.db, 2)({ organizationId: 1, id: BigInt(id) }, 1_000)
    expect((await deliveries(id)).map((one) => one.eventId)).toEqual(
      first.body.items.slice(0, 2).map((one) => one.eventId),
    )
  })
})
