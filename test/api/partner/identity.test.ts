import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkBook } from '../../../src/services/book/bookCheck.ts'
import { keepJournal } from '../../support/journal.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
let operator: { token: string }
beforeAll(async () => {
  service = await startService()
  operator = { token: service.tokens.operator }
})
afterAll(() => service.close())

const ASHA = {
  firstName: 'Asha',
  middleName: 'Neema',
  lastName: "N'Dour-Mushi",
  dateOfBirth: '1990-05-17',
  gender: 'female',
  nationality: 'TZ',
  idType: 'national_id',
  idNumber: '19900517-12345-00001-23',
  phone: '+255 700 123 456',
  email: 'Asha.Mushi@example.com',
  address: 'Plot 12\nKariakoo',
  verification: { by: 'NIDA', on: '2026-01-30', result: 'verified', reference: 'NV-4711' },
}

let names = 0

/** Makes a customer. @returns its path */
async function aCustomer(identity?: object): Promise<string> {
  const body = { externalId: `person-${++names}`, ...(identity && { identity }) }
  const made = await service.post('/v1/customers', { body })
  expect(made.status, made.text).toBe(200)
  return `/v1/customers/${made.body.id}`
}

const identify = (customer: string, body: object) => service.put(`${customer}/identity`, { body })
const identityOf = async (customer: string) => (await service.get(`${customer}/identity`, operator)).body
const found = async (person: string) =>
  (await service.get(`/v1/customers?person=${encodeURIComponent(person)}`, operator)).body.items.map(({ id }) => id)

describe('who a customer is', () => {
  it('is told with a new customer, or later, and is read as it was told', async () => {
    expect(await identityOf(await aCustomer(ASHA))).toEqual(ASHA)
    const customer = await aCustomer()
    expect(await identityOf(customer)).toEqual({})
    const told = await identify(customer, ASHA)
    expect(told.status).toBe(200)
    expect(JSON.stringify(told.body)).not.toContain('Mushi')
    expect(await identityOf(customer)).toEqual(ASHA)
  })

  it('is replaced as a whole: what is left out, null or empty is unknown', async () => {
    const customer = await aCustomer(ASHA)
    await identify(customer, { firstName: 'Asha', lastName: null, email: '' })
    expect(await identityOf(customer)).toEqual({ firstName: 'Asha' })
    await identify(customer, {})
    expect(await identityOf(customer)).toEqual({})
  })

  it('by the externalId of the customer, too', async () => {
    await aCustomer()
    const path = `/v1/customers/external/person-${names}`
    await identify(path, { lastName: 'Juma' })
    expect(await identityOf(path)).toEqual({ lastName: 'Juma' })
  })

  it('changes nothing when it is told again', async () => {
    const customer = await aCustomer(ASHA)
    const { body: before } = await service.get(customer)
    service.clock.set(new Date(service.clock.now() + 60_000).toISOString())
    expect((await identify(customer, ASHA)).body.updatedAt).toBe(before.updatedAt)
    expect((await identify(customer, { ...ASHA, phone: '0700' })).body.updatedAt).not.toBe(before.updatedAt)
  })

  it.each([
    [{ dateOfBirth: '2999-01-01' }, 'dateOfBirth: must not be in the future'],
    [{ nationality: 'Tanzania' }, 'nationality: must be the two letters of a country'],
    [{ gender: 'x' }, 'gender'],
    [{ firstName: 'x'.repeat(101) }, 'firstName'],
    [{ verification: { ...ASHA.verification, on: '2999-01-01' } }, 'must not be in the future'],
    [{ verification: { by: 'NIDA' } }, 'verification.on: is required'],
    [{ surname: 'Mushi' }, 'surname'],
  ])('400: %j', async (body, message) => {
    const customer = await aCustomer(ASHA)
    const refused = await identify(customer, body)
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(message)])
    expect(await identityOf(customer)).toEqual(ASHA)
  })

  it('404 for a customer that is not there', async () => {
    expect((await identify('/v1/customers/999999', {})).status).toBe(404)
    expect((await service.get('/v1/customers/999999/identity', operator)).status).toBe(404)
  })
})

describe('a search for a person', () => {
  it.each([
    'asha',
    "n'dour MUSHI",
    'Neema  Asha',
    '0700123456',
    '255700123456',
    '199005171234500001 23',
    'asha.mushi@EXAMPLE.com',
  ])('finds by whole words of the name, the phone, the e-mail or the number of the document: %s', async (person) => {
    const customer = await aCustomer(ASHA)
    expect(await found(person)).toContain(customer.split('/').at(-1))
  })

  it('finds nobody by a part of a word, by another word beside one, and by what was replaced', async () => {
    const customer = await aCustomer({ firstName: 'Zawadi', lastName: 'Kweka', phone: '0711999888' })
    const id = customer.split('/').at(-1)
    expect(await found('zawadi kweka')).toEqual([id])
    expect(await found('zawad')).toEqual([])
    expect(await found('zawadi juma')).toEqual([])
    await identify(customer, { firstName: 'Zawadi', lastName: 'Juma' })
    expect(await found('zawadi juma')).toEqual([id])
    expect(await found('kweka')).toEqual([])
    expect(await found('0711999888')).toEqual([])
  })

  it('400 for a text that no person is found by', async () => {
    expect((await service.get('/v1/customers?person=1', operator)).status).toBe(200)
    expect((await service.get(`/v1/customers?person=${encodeURIComponent('- .')}`, operator)).status).toBe(400)
  })
})

describe('who may read it', () => {
  it('403: no USER, though a USER may tell it', async () => {
    const customer = await aCustomer(ASHA)
    expect((await service.get(`${customer}/identity`)).status).toBe(403)
    expect((await service.get('/v1/customers?person=asha')).status).toBe(403)
    for (const path of [customer, '/v1/customers']) expect((await service.get(path)).text).not.toContain('Mushi')
  })
})

describe('the words of a person', () => {
  it('are in no table, no event and no row of the trail, and the book is in order', async () => {
    const words = ['Fatuma', 'Abdallah', '1985-03-02', 'AB1234567', '0788555444', 'fatuma@example.com', 'Plot 99']
    const [firstName, lastName, dateOfBirth, idNumber, phone, email, address] = words
    const customer = await aCustomer({ firstName, lastName, dateOfBirth, idNumber, phone, email, address })
    await identify(customer, { firstName, lastName, idNumber })
    await keepJournal(service.deps)
    const { pool } = service.owner
    const { rows: tables } = await pool.query<{ name: string }>(
      `SELECT quote_ident(table_name) AS name FROM information_schema.tables WHERE table_schema = current_schema()`,
    )
    for (const { name } of tables)
      for (const word of words) {
        const { rowCount } = await pool.query(`SELECT FROM ${name} t WHERE t::text ILIKE '%' || $1 || '%'`, [word])
        expect([name, word, rowCount]).toEqual([name, word, 0])
      }
    const events = await service.get('/v1/events?types=customer.*', operator)
    expect(events.body.items.at(-1)).toMatchObject({ type: 'customer.updated' })
    for (const word of words) expect(events.text).not.toContain(word)
    expect((await checkBook(service.deps)).differences).toEqual([])
  })

  it('are not read by the key of another customer', async () => {
    const [one, other] = [await aCustomer({ firstName: 'Eins' }), await aCustomer({ firstName: 'Zwei' })]
    const ids = [one, other].map((path) => path.split('/').at(-1))
    await service.owner.pool.query(
      `UPDATE customer SET (person_key, identity) = (SELECT person_key, identity FROM customer WHERE id = $1) WHERE id = $2`,
      ids,
    )
    service.damages('a customer has the key of another')
    expect((await service.get(`${other}/identity`, operator)).status).toBe(500)
    expect(await identityOf(one)).toEqual({ firstName: 'Eins' })
  })
})
