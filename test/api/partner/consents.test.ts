import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { consentStands } from '../../../src/db/customers/consents.ts'
import { checkBook } from '../../../src/services/book/bookCheck.ts'
import { DEMO_AUDITOR } from '../../../src/services/organizations/seedDemo.ts'
import { keepJournal } from '../../support/journal.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
let auditor: { token: string }
beforeAll(async () => {
  service = await startService()
  service.clock.set('2026-02-10T09:30:00+03:00')
  const { email, password } = DEMO_AUDITOR
  auditor = { token: await service.deps.signIn.issueToken(email, password, '127.0.0.1') }
})
afterAll(() => service.close())

const BUREAU = { purpose: 'bureau', channel: 'app', givenAt: '2026-02-01T10:00:00+03:00' }

let customers = 0

/** Makes a customer. @returns its path */
async function aCustomer(): Promise<string> {
  const made = await service.post('/v1/customers', { body: { externalId: `agrees-${++customers}` } })
  return `/v1/customers/${made.body.id}`
}

const give = (customer: string, body: object, call = {}) => service.post(`${customer}/consents`, { body, ...call })
const withdraw = (customer: string, id: string, body: object = {}) =>
  service.post(`${customer}/consents/${id}/withdraw`, { body })
const list = async (customer: string) => (await service.get(`${customer}/consents`)).body

describe('a consent of a customer', () => {
  it('is recorded, listed and withdrawn, by the number and by the externalId', async () => {
    const customer = await aCustomer()
    const { status, body } = await give(customer, BUREAU)
    expect([status, body]).toEqual([200, expect.objectContaining({ purpose: 'bureau', channel: 'app' })])
    expect(body).toMatchObject({ givenAt: '2026-02-01T10:00:00.000+03:00', customerId: customer.split('/').at(-1) })
    expect(body).not.toHaveProperty('withdrawnAt')
    expect(await list(`/v1/customers/external/agrees-${customers}`)).toMatchObject({ items: [body], total: 1 })
    const by = { withdrawnAt: '2026-02-09T00:00:00+03:00', channel: 'call' }
    const ended = await withdraw(`/v1/customers/external/agrees-${customers}`, body.id, by)
    expect(ended.body).toMatchObject({ withdrawnAt: '2026-02-09T00:00:00.000+03:00', withdrawnBy: 'call' })
    expect((await list(customer)).items).toEqual([ended.body])
  })

  it('changes nothing when it is told again, also once it is withdrawn', async () => {
    const customer = await aCustomer()
    const first = await give(customer, BUREAU)
    expect((await give(customer, BUREAU)).body).toEqual(first.body)
    const ended = await withdraw(customer, first.body.id)
    expect((await withdraw(customer, first.body.id)).body).toEqual(ended.body)
    expect((await give(customer, BUREAU)).body).toEqual(ended.body)
    expect((await list(customer)).total).toBe(1)
  })

  it('409 while another for the purpose stands; one for another purpose may stand beside it', async () => {
    const customer = await aCustomer()
    await give(customer, BUREAU)
    const refused = await give(customer, { ...BUREAU, channel: 'paper' })
    expect([refused.status, refused.body.message]).toEqual([
      409,
      'another consent for bureau stands; withdraw it before another is given',
    ])
    expect((await give(customer, { ...BUREAU, purpose: 'marketing' })).status).toBe(200)
    expect((await list(customer)).total).toBe(2)
  })

  it('follows the one before it: not before that was withdrawn', async () => {
    const customer = await aCustomer()
    const { body } = await give(customer, BUREAU)
    await withdraw(customer, body.id, { withdrawnAt: '2026-02-05T00:00:00+03:00' })
    const early = await give(customer, { ...BUREAU, givenAt: '2026-02-04T00:00:00+03:00' })
    expect([early.status, early.body.details[0]!.field]).toEqual([400, 'givenAt'])
    expect((await give(customer, { ...BUREAU, givenAt: '2026-02-05T00:00:00+03:00' })).status).toBe(200)
  })

  it.each([
    [{ purpose: 'selling' }, 'purpose'],
    [{ channel: 'pigeon' }, 'channel'],
    [{ givenAt: '2026-02-30' }, 'givenAt'],
    [{ givenAt: '2026-02-11T00:00:00+03:00' }, 'givenAt'],
    [{ givenAt: undefined }, 'givenAt'],
    [{ note: 'Yes' }, 'note'],
  ])('400: %j', async (change, field) => {
    const customer = await aCustomer()
    const refused = await give(customer, { ...BUREAU, ...change })
    expect([refused.status, refused.body.details[0]!.field]).toEqual([400, field])
    expect((await list(customer)).total).toBe(0)
  })

  it('is withdrawn neither before it was given nor in the future, and at one time only', async () => {
    const customer = await aCustomer()
    const { id } = (await give(customer, BUREAU)).body
    for (const withdrawnAt of ['2026-01-31T00:00:00+03:00', '2026-02-11T00:00:00+03:00']) {
      const refused = await withdraw(customer, id, { withdrawnAt })
      expect([refused.status, refused.body.details[0]!.field]).toEqual([400, 'withdrawnAt'])
    }
    expect((await withdraw(customer, id, { withdrawnAt: '2026-02-02T00:00:00+03:00' })).status).toBe(200)
    expect((await withdraw(customer, id, { withdrawnAt: '2026-02-03T00:00:00+03:00' })).status).toBe(409)
  })

  it('404 of a customer who is not there, and of a consent of another customer', async () => {
    const [one, other] = [await aCustomer(), await aCustomer()]
    const { id } = (await give(one, BUREAU)).body
    const refused = await withdraw(other, id)
    expect([refused.status, refused.body.message]).toEqual([404, 'the customer has no consent with that id'])
    expect((await give('/v1/customers/999999', BUREAU)).body.message).toContain('no customer has that id')
    expect((await service.get('/v1/customers/external/nobody/consents')).status).toBe(404)
  })

  it('403: an AUDITOR reads and tells none', async () => {
    const customer = await aCustomer()
    expect((await give(customer, BUREAU, auditor)).status).toBe(403)
    expect((await service.get(`${customer}/consents`, auditor)).status).toBe(200)
  })

  it('has pages and a cursor', async () => {
    const customer = await aCustomer()
    for (const purpose of ['bureau', 'scoring', 'marketing']) await give(customer, { ...BUREAU, purpose })
    const first = (await service.get(`${customer}/consents?rows=2`)).body
    const rest = (await service.get(`${customer}/consents?rows=2&after=${first.next}`)).body
    expect([...first.items, ...rest.items].map(({ purpose }) => purpose)).toEqual(['bureau', 'scoring', 'marketing'])
    expect((await service.get(`${customer}/consents?rows=101`)).status).toBe(400)
  })
})

describe('two consents at once', () => {
  it('are one when they are the same', async () => {
    const customer = await aCustomer()
    const answers = await Promise.all(Array.from({ length: 6 }, () => give(customer, BUREAU)))
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200))
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
    expect((await list(customer)).total).toBe(1)
  })

  it('have one winner when they differ, and a clear refusal', async () => {
    const customer = await aCustomer()
    const both = ['ussd', 'paper'].map((channel) => give(customer, { ...BUREAU, channel }))
    const answers = await Promise.all(both)
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(answers.find(({ status }) => status === 409)!.body.message).toContain('another consent for bureau stands')
  })
})

describe('an Idempotency-Key', () => {
  it('answers the first consent again, also after the answer was lost', async () => {
    const customer = await aCustomer()
    const headers = { 'idempotency-key': 'agree-1' }
    const first = await give(customer, BUREAU, { headers })
    await service.owner.pool.query(`UPDATE idempotency_key SET status = NULL, response = NULL WHERE key = 'agree-1'`)
    expect((await give(customer, BUREAU, { headers })).body).toEqual(first.body)
  })
})

describe('which consents stand', () => {
  it('is answered for many customers, as of an instant', async () => {
    const [stands, ended, never] = [await aCustomer(), await aCustomer(), await aCustomer()]
    await give(stands, BUREAU)
    const { body } = await give(ended, BUREAU)
    await withdraw(ended, body.id, { withdrawnAt: '2026-02-05T00:00:00+03:00' })
    await give(never, { ...BUREAU, purpose: 'scoring' })
    const ids = [stands, ended, never].map((path) => BigInt(path.split('/').at(-1)!))
    const asOf = async (at: string) => {
      const asked = { purpose: 'bureau', asOf: Date.parse(at) } as const
      const found = await consentStands(service.deps.db, 1, ids, asked)
      return ids.map((id) => found.has(id))
    }
    expect(await asOf('2026-01-31T00:00:00Z')).toEqual([false, false, false])
    expect(await asOf('2026-02-03T00:00:00Z')).toEqual([true, true, false])
    expect(await asOf('2026-02-06T00:00:00Z')).toEqual([true, false, false])
  })
})

describe('the trail', () => {
  it('has who recorded a consent and who withdrew it, no event tells it, and the book is in order', async () => {
    const customer = await aCustomer()
    const { id } = (await give(customer, BUREAU)).body
    await withdraw(customer, id, { channel: 'sms' })
    await keepJournal(service.deps)
    const trail = await service.get('/v1/audit-trail?entity=consent', { token: service.tokens.operator })
    expect(trail.body.items.filter(({ entityId }) => entityId === id)).toMatchObject([
      { action: 'withdraw', before: { withdrawnAt: null }, after: { withdrawnBy: 'sms' } },
      { action: 'create', before: null, after: { purpose: 'bureau', channel: 'app' } },
    ])
    expect((await service.get('/v1/events?types=customer.*')).text).not.toContain('consent')
    expect((await checkBook(service.deps)).differences).toEqual([])
  })
})
