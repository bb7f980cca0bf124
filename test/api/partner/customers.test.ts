import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { operator } from '../../../src/services/access/caller.ts'
import { createOrganization } from '../../../src/services/organizations/organizations.ts'
import { addAccount } from '../../support/accounts.ts'
import { FIRST_DAY, startService, type TestService } from '../../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
  service.damages('a customer is made Pending by SQL: no request leaves one so')
})
afterAll(() => service.close())
beforeEach(() => service.clock.set(FIRST_DAY))

let made = 0
async function create(): Promise<{ id: string; externalId: string }> {
  made += 1
  return (await service.post('/v1/customers', { body: { externalId: `customer-${made}` } })).body
}

describe('POST /v1/customers', () => {
  it('answers the customer, Active at once, and the three look-ups answer the same', async () => {
    service.clock.stand(FIRST_DAY)
    const { status, body } = await service.post('/v1/customers', { body: { externalId: 'wallet 7/ö' } })
    expect(status).toBe(200)
    expect(body).toEqual({
      id: expect.stringMatching(/^\d+$/),
      accountNo: expect.stringMatching(/^0000000\d\d$/),
      externalId: 'wallet 7/ö',
      status: 'Active',
      active: true,
      officeId: '1',
      officeName: 'Head Office',
      firstname: 'wallet 7/ö',
      lastname: 'Customer',
      displayName: 'wallet 7/ö Customer',
      activationDate: '2026-01-31',
      createdAt: '2026-01-31T09:30:00.000+03:00',
      updatedAt: '2026-01-31T09:30:00.000+03:00',
    })
    const name = encodeURIComponent('wallet 7/ö')
    expect((await service.get(`/v1/customers/external/${name}`)).body).toEqual(body)
    expect((await service.get(`/v1/customers/${body.id}`)).body).toEqual(body)
    const page = { items: [body], total: 1, page: 1, rowsPerPage: 100, next: expect.any(String) }
    expect((await service.get(`/v1/customers?externalId=${name}`)).body).toEqual(page)
  })

  it("has the office of the caller's own organization, in every answer", async () => {
    const author = operator(7, 'test')
    const umoja = { id: 7, name: 'Umoja', currency: 'UGX', officeId: '7', officeName: 'Kampala' }
    await createOrganization(service.deps, author, umoja)
    const account = { email: 'partner@umoja.example', password: 'a long enough secret', roles: ['USER'] } as const
    await addAccount(service.deps, author, account)
    const token = await service.deps.signIn.issueToken(account.email, account.password, '127.0.0.1')
    const office = { officeId: '7', officeName: 'Kampala' }
    const { body } = await service.post('/v1/customers', { token, body: { externalId: 'asha' } })
    expect(body).toMatchObject(office)
    expect((await service.get('/v1/customers', { token })).body.items).toEqual([body])
    const path = '/v1/customers/external/asha'
    expect((await service.get(path, { token })).body).toEqual(body)
    expect((await service.post(`${path}/close`, { token, body: {} })).body).toMatchObject(office)
  })

  it('takes an externalId of 100 characters, of whatever script, also in a path', async () => {
    const externalId = '👛'.repeat(100)
    const { body } = await service.post('/v1/customers', { body: { externalId } })
    expect(body.externalId).toBe(externalId)
    expect((await service.get(`/v1/customers/external/${encodeURIComponent(externalId)}`)).body).toEqual(body)
  })

  it('409 already_exists: the externalId is taken', async () => {
    const { externalId } = await create()
    expect(await service.post('/v1/customers', { body: { externalId } })).toMatchObject({
      status: 409,
      body: { code: 'already_exists', details: [{ field: 'externalId', message: 'is taken' }] },
    })
  })

  it.each([
    [{}, 'externalId: is required'],
    [{ externalId: '' }, 'externalId: must not be empty'],
    [{ externalId: '  ' }, 'externalId: must not be only spaces'],
    [{ externalId: 'a\u0000' }, 'externalId: must not contain control characters'],
    [{ externalId: 'x'.repeat(101) }, 'externalId: must be at most 100 characters long'],
    [{ externalId: 7 }, 'externalId: must be a string'],
    [{ externalId: '.' }, 'externalId: must not be . or .., which no path can name'],
    [{ externalId: '..' }, 'externalId: must not be . or .., which no path can name'],
    [{ external_id: 'x' }, 'external_id: is not a known field; did you mean externalId?'],
  ])('400 invalid_argument: %j', async (body, message) => {
    expect(await service.post('/v1/customers', { body })).toMatchObject({
      status: 400,
      body: { code: 'invalid_argument', message },
    })
  })
})

describe('GET /v1/customers', () => {
  it('lists all in the order in which they came, with the true total on every page', async () => {
    const { total } = (await service.get('/v1/customers')).body
    const [one, two] = [await create(), await create()]
    const last = await service.get(`/v1/customers?rows=1&page=${total + 2}`)
    expect(last.body).toMatchObject({ items: [{ id: two.id }], total: total + 2 })
    expect((await service.get(`/v1/customers?rows=1&page=${total + 1}`)).body.items[0]?.id).toBe(one.id)
    // 42,949,673 pages of 100 are more than fit into 32 bits.
    for (const page of [50, 42_949_674, 1_000_000_000])
      for (const path of ['customers', 'loan-products', 'loans'])
        expect((await service.get(`/v1/${path}?rows=100&page=${page}`)).body).toMatchObject({ items: [], page })
    expect((await service.get('/v1/customers?rows=100&page=42949674')).body.total).toBe(total + 2)
  })

  it('of an externalId: that one, on the first page', async () => {
    const { id, externalId } = await create()
    const path = `/v1/customers?externalId=${externalId}`
    expect((await service.get(path)).body).toMatchObject({ items: [{ id, externalId }], total: 1 })
    expect((await service.get(`${path}&page=2`)).body).toMatchObject({ items: [], total: 1 })
  })

  it('of an unknown externalId: 200 and none; by a path: 404 not_found', async () => {
    expect((await service.get('/v1/customers?externalId=nobody')).body).toMatchObject({ items: [], total: 0 })
    for (const path of ['external/nobody', '7', 'abc', '99999999999999999999'])
      expect(await service.get(`/v1/customers/${path}`)).toMatchObject({ status: 404, body: { code: 'not_found' } })
  })
})

describe('POST /v1/customers/{id}/close', () => {
  it('closes in both address forms; a Closed customer takes no new loan', async () => {
    const [one, two] = [await create(), await create()]
    expect(await service.post(`/v1/customers/${one.id}/close`)).toMatchObject({
      status: 200,
      body: { status: 'Closed', active: false },
    })
    const body = { closureDate: '2026-01-31', reason: 'Moved abroad' }
    expect(await service.post(`/v1/customers/external/${two.externalId}/close`, { body })).toMatchObject({
      status: 200,
    })
    const application = { customerId: one.externalId, productId: 1, principal: 5_000 }
    expect(await service.post('/v1/loans', { body: application })).toMatchObject({
      status: 409,
      body: { code: 'failed_precondition', message: expect.stringContaining('Closed') },
    })
  })

  it('409 failed_precondition: while a loan is open, and when it is closed already', async () => {
    const { id, externalId } = await create()
    const application = { customerId: externalId, productId: 1, principal: 5_000 }
    const { body: loan } = await service.post('/v1/loans', { body: application })
    const refusal = { status: 409, body: { code: 'failed_precondition' } }
    expect(await service.post(`/v1/customers/${id}/close`)).toMatchObject(refusal)
    await service.post(`/v1/loans/${loan.id}/repayments`, { body: { transactionAmount: 5_500 } })
    expect(await service.post(`/v1/customers/${id}/close`)).toMatchObject({ status: 200 })
    expect(await service.post(`/v1/customers/${id}/close`)).toMatchObject(refusal)
    expect((await service.get(`/v1/customers/${id}`)).body.status).toBe('Closed')
  })

  it('400 invalid_argument: a date that is yet to come, before the activation, or before a loan was closed', async () => {
    service.clock.set('2026-01-20')
    const { id, externalId } = await create()
    const application = { customerId: externalId, productId: 1, principal: 5_000 }
    const { body: loan } = await service.post('/v1/loans', { body: application })
    service.clock.set('2026-02-10')
    await service.post(`/v1/loans/${loan.id}/repayments`, { body: { transactionAmount: 5_500 } })
    for (const closureDate of ['2026-02-11', '2026-01-19', '2026-02-09'])
      expect(await service.post(`/v1/customers/${id}/close`, { body: { closureDate } })).toMatchObject({
        status: 400,
        body: { code: 'invalid_argument', details: [{ field: 'closureDate' }] },
      })
    expect((await service.get(`/v1/customers/${id}`)).body.status).toBe('Active')
  })

  it('at once with a new loan: either it is closed or it has the loan, never both', async () => {
    for (let round = 0; round < 20; round++) {
      const { id, externalId } = await create()
      const application = { customerId: externalId, productId: 1, principal: 5_000 }
      const [closed, lent] = await Promise.all([
        service.post(`/v1/customers/${id}/close`),
        service.post('/v1/loans', { body: application }),
      ])
      expect([closed.status, lent.status].sort()).toEqual([200, 409])
    }
  })
})

describe('POST /v1/customers/{id}/activate', () => {
  const pending = async () => {
    const customer = await create()
    await service.deps.db.pool.query(`UPDATE customer SET status = 'Pending', activation_date = NULL WHERE id = $1`, [
      customer.id,
    ])
    return customer
  }

  it('Pending → Active, from today by default', async () => {
    service.clock.stand(FIRST_DAY)
    const [one, two] = [await pending(), await pending()]
    expect((await service.get(`/v1/customers/${one.id}`)).body).toMatchObject({ status: 'Pending', active: false })
    expect((await service.post(`/v1/customers/${one.id}/activate`)).body).toMatchObject({
      status: 'Active',
      activationDate: '2026-01-31',
      createdAt: '2026-01-31T09:30:00.000+03:00',
      updatedAt: '2026-01-31T09:30:00.000+03:00',
    })
    const body = { activationDate: '2026-01-15' }
    expect((await service.post(`/v1/customers/external/${two.externalId}/activate`, { body })).body).toMatchObject(body)
  })

  it('409 failed_precondition: it is Active already; 400 invalid_argument: a date that is yet to come', async () => {
    const { id } = await create()
    expect(await service.post(`/v1/customers/${id}/activate`)).toMatchObject({ status: 409 })
    const body = { activationDate: '2026-02-01' }
    expect(await service.post(`/v1/customers/${(await pending()).id}/activate`, { body })).toMatchObject({
      status: 400,
    })
    expect(await service.post('/v1/customers/7/activate')).toMatchObject({ status: 404 })
  })
})
