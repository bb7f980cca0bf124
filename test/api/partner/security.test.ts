import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operator as byHand } from '../../../src/services/access/caller.ts'
import { checkBook } from '../../../src/services/book/bookCheck.ts'
import { exportBook } from '../../../src/services/book/bookExport.ts'
import { DEMO_AUDITOR } from '../../../src/services/organizations/seedDemo.ts'
import { keepJournal } from '../../support/journal.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
let operator: { token: string }
let auditor: { token: string }
beforeAll(async () => {
  service = await startService()
  service.clock.set('2026-02-10T09:30:00+03:00')
  operator = { token: service.tokens.operator }
  const { email, password } = DEMO_AUDITOR
  auditor = { token: await service.deps.signIn.issueToken(email, password, '127.0.0.1') }
})
afterAll(() => service.close())

const SISTER = {
  identity: { firstName: 'Neema', lastName: 'Kweka', phone: '0788 555 444' },
  relationship: 'Sister',
  amount: 50_000.5,
  from: '2026-02-01',
  until: '2026-12-31',
}
const VEHICLE = {
  kind: 'vehicle',
  description: 'Motorcycle, red',
  value: 2_500_000,
  valuedOn: '2026-02-09',
  registration: 'MC 123 ABC',
  owner: 'Juma Bakari',
}

let loans = 0

/** Makes a customer with a loan. @returns the path of the loan */
async function aLoan(): Promise<string> {
  const externalId = `secured-${++loans}`
  await service.post('/v1/customers', { body: { externalId } })
  const body = { customerId: externalId, productId: 1, principal: 100_000, externalId }
  const made = await service.post('/v1/loans', { body })
  expect(made.status, made.text).toBe(200)
  return `/v1/loans/${made.body.id}`
}

const post = (path: string, body: object, call = {}) => service.post(path, { body, ...call })
const guarantors = async (loan: string, call = {}) => (await service.get(`${loan}/guarantors`, call)).body
const collateral = async (loan: string, call = {}) => (await service.get(`${loan}/collateral`, call)).body

describe('a guarantor of a loan', () => {
  it('who is no customer is recorded by a USER, and read by an ADMIN alone', async () => {
    const loan = await aLoan()
    const { status, body } = await post(`${loan}/guarantors`, SISTER)
    const { identity, ...told } = SISTER
    expect([status, body]).toEqual([200, expect.objectContaining(told)])
    expect(body).not.toHaveProperty('identity')
    expect((await guarantors(loan)).items).toEqual([body])
    expect((await guarantors(loan, auditor)).items).toEqual([body])
    expect((await guarantors(loan, operator)).items).toEqual([{ ...body, identity }])
    expect((await guarantors(`/v1/loans/external/secured-${loans}`)).total).toBe(1)
  })

  it('who is a customer is named by the externalId, once a loan', async () => {
    const loan = await aLoan()
    const { body: customer } = await service.post('/v1/customers', { body: { externalId: `friend-${loans}` } })
    const friend = { customerId: `friend-${loans}`, relationship: 'Friend' }
    const { body } = await post(`${loan}/guarantors`, friend)
    expect(body).toMatchObject({ customerId: customer.id, from: '2026-02-10' })
    expect(body).not.toHaveProperty('amount')
    const again = await post(`${loan}/guarantors`, friend)
    expect([again.status, again.body.message]).toEqual([409, 'is a guarantor of the loan already'])
    await post(`${loan}/guarantors/${body.id}/release`, { reason: 'Repaid' })
    expect((await post(`${loan}/guarantors`, friend)).status).toBe(200)
  })

  it('is released once, on a day and for a reason', async () => {
    const loan = await aLoan()
    const { id } = (await post(`${loan}/guarantors`, SISTER)).body
    const release = (body: object) => post(`${loan}/guarantors/${id}/release`, body)
    const early = await release({ reason: 'Repaid', releasedOn: '2026-01-31' })
    expect([early.status, early.body.details[0]!.field]).toEqual([400, 'releasedOn'])
    expect((await release({ reason: 'Repaid', releasedOn: '2026-02-11' })).status).toBe(400)
    expect((await release({})).status).toBe(400)
    const released = await release({ reason: 'Repaid', releasedOn: '2026-02-09' })
    expect(released.body).toMatchObject({ releasedOn: '2026-02-09', releaseReason: 'Repaid' })
    expect((await release({ reason: 'Repaid' })).body).toEqual(released.body)
    expect((await release({ reason: 'Another' })).status).toBe(409)
  })

  it.each([
    [{ identity: undefined }, 'customerId'],
    [{ customerId: 'asha' }, 'customerId'],
    [{ identity: { phone: '0788' } }, 'identity'],
    [{ identity: { firstName: 'Neema', dateOfBirth: '2999-01-01' } }, 'dateOfBirth'],
    [{ relationship: 'x'.repeat(101) }, 'relationship'],
    [{ amount: 0 }, 'amount'],
    [{ amount: 1.001 }, 'amount'],
    [{ from: '2026-02-11' }, 'from'],
    [{ until: '2026-01-31' }, 'until'],
    [{ note: 'x' }, 'note'],
  ])('400: %j', async (change, field) => {
    const loan = await aLoan()
    const refused = await post(`${loan}/guarantors`, { ...SISTER, ...change })
    expect([refused.status, refused.body.details[0]!.field]).toEqual([400, field])
    expect((await guarantors(loan)).total).toBe(0)
  })

  it('is not the borrower, nor a customer who is not there', async () => {
    const loan = await aLoan()
    const own = await post(`${loan}/guarantors`, { customerId: `secured-${loans}`, relationship: 'Self' })
    expect([own.status, own.body.details[0]!.field]).toEqual([400, 'customerId'])
    const nobody = await post(`${loan}/guarantors`, { customerId: 'nobody', relationship: 'Friend' })
    expect([nobody.status, nobody.body.message]).toEqual([404, 'no customer has that externalId, given as customerId'])
  })

  it('409 where the loan has twenty, also of several at once', async () => {
    const loan = await aLoan()
    const add = () => post(`${loan}/guarantors`, SISTER)
    const answers = await Promise.all(Array.from({ length: 22 }, add))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20)
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.map(({ status, body }) => [status, body.message])).toEqual(
      Array(2).fill([409, 'the loan has 20 guarantors, the most that there may be; release one first']),
    )
    await post(`${loan}/guarantors/${answers[0]!.body.id ?? ''}/release`, { reason: 'Repaid' })
    expect((await guarantors(loan)).total).toBe(20)
  })
})

describe('collateral of a loan', () => {
  it('is recorded by a USER; an ADMIN alone reads what it is', async () => {
    const loan = await aLoan()
    const { status, body } = await post(`${loan}/collateral`, VEHICLE)
    const { description, registration, owner, ...told } = VEHICLE
    expect([status, body]).toEqual([200, expect.objectContaining(told)])
    for (const call of [{}, auditor]) expect((await collateral(loan, call)).items).toEqual([body])
    expect((await collateral(loan, operator)).items).toEqual([{ ...body, description, registration, owner }])
  })

  it('is encrypted by the key of a customer who has one, whose identity stays readable', async () => {
    const loan = await aLoan()
    const customer = `/v1/customers/external/secured-${loans}`
    await service.put(`${customer}/identity`, { body: { firstName: 'Asha' } })
    await post(`${loan}/collateral`, VEHICLE)
    expect((await collateral(loan, operator)).items[0]).toMatchObject({ owner: 'Juma Bakari' })
    expect((await service.get(`${customer}/identity`, operator)).body).toEqual({ firstName: 'Asha' })
  })

  it('comes before the identity of a customer: both have the same key', async () => {
    const loan = await aLoan()
    await post(`${loan}/collateral`, VEHICLE)
    const customer = `/v1/customers/external/secured-${loans}`
    expect((await service.put(`${customer}/identity`, { body: { firstName: 'Asha' } })).status).toBe(200)
    expect((await collateral(loan, operator)).items[0]).toMatchObject({ owner: 'Juma Bakari' })
  })

  it('is released, and is not read once the key of the customer is gone', async () => {
    const loan = await aLoan()
    const { id } = (await post(`${loan}/collateral`, VEHICLE)).body
    const released = await post(`${loan}/collateral/${id}/release`, { reason: 'Repaid' })
    expect(released.body).toMatchObject({ releasedOn: '2026-02-10', releaseReason: 'Repaid' })
    const { pool } = service.owner
    const of = [`secured-${loans}`]
    const { rows } = await pool.query<{ key: string }>(
      'SELECT person_key AS key FROM customer WHERE external_id = $1',
      of,
    )
    await pool.query('UPDATE customer SET person_key = NULL WHERE external_id = $1', of)
    const [read] = (await collateral(loan, operator)).items
    expect(read).toEqual(released.body)
    await pool.query('UPDATE customer SET person_key = $2 WHERE external_id = $1', [...of, rows[0]!.key])
  })

  it.each([
    [{ kind: 'boat' }, 'kind'],
    [{ description: '' }, 'description'],
    [{ description: 'x'.repeat(501) }, 'description'],
    [{ value: -1 }, 'value'],
    [{ value: 0 }, 'value'],
    [{ valuedOn: '2026-02-11' }, 'valuedOn'],
    [{ owner: 'x'.repeat(201) }, 'owner'],
    [{ registration: ' ' }, 'registration'],
  ])('400: %j', async (change, field) => {
    const loan = await aLoan()
    const refused = await post(`${loan}/collateral`, { ...VEHICLE, ...change })
    expect([refused.status, refused.body.details[0]!.field]).toEqual([400, field])
    expect((await collateral(loan)).total).toBe(0)
  })
})

describe('a loan of somebody else', () => {
  it('404, of a loan that is not there, and of what is of another loan', async () => {
    const [one, other] = [await aLoan(), await aLoan()]
    const guarantor = (await post(`${one}/guarantors`, SISTER)).body
    const thing = (await post(`${one}/collateral`, VEHICLE)).body
    const why = { reason: 'Repaid' }
    const refused = [
      await post(`${other}/guarantors/${guarantor.id}/release`, why),
      await post(`${other}/collateral/${thing.id}/release`, why),
      await post('/v1/loans/999999/guarantors', SISTER),
      await post('/v1/loans/external/nothing/collateral', VEHICLE),
      await service.get('/v1/loans/999999/collateral'),
    ]
    expect(refused.map(({ status }) => status)).toEqual(Array(5).fill(404))
  })

  it('403: an AUDITOR changes nothing', async () => {
    const loan = await aLoan()
    expect((await post(`${loan}/guarantors`, SISTER, auditor)).status).toBe(403)
    expect((await post(`${loan}/collateral`, VEHICLE, auditor)).status).toBe(403)
  })
})

describe('an Idempotency-Key', () => {
  it.each([
    ['guarantors', SISTER],
    ['collateral', VEHICLE],
  ])('answers the first of %s again, also after the answer was lost', async (things, body) => {
    const loan = await aLoan()
    const headers = { 'idempotency-key': `secure-${things}` }
    const first = await post(`${loan}/${things}`, body, { headers })
    expect((await post(`${loan}/${things}`, body, { headers })).body).toEqual(first.body)
    await service.owner.pool.query('UPDATE idempotency_key SET status = NULL, response = NULL WHERE key = $1', [
      headers['idempotency-key'],
    ])
    expect((await post(`${loan}/${things}`, body, { headers })).body).toEqual(first.body)
    expect((await service.get(`${loan}/${things}`)).body.total).toBe(1)
  })
})

describe('the words of a guarantor, and of collateral', () => {
  it('are in no table and no row of the trail, and the book is in order', async () => {
    const words = ['Fatuma', 'Abdallah', 'AB7654321', 'Tractor, green', 'T 999 XYZ', 'Rehema Said']
    const [firstName, lastName, idNumber, description, registration, owner] = words
    const loan = await aLoan()
    const person = { ...SISTER, identity: { firstName, lastName, idNumber } }
    const { id } = (await post(`${loan}/guarantors`, person)).body
    await post(`${loan}/guarantors/${id}/release`, { reason: 'Repaid' })
    await post(`${loan}/collateral`, { ...VEHICLE, description, registration, owner })
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
    const trail = (await service.get(`/v1/audit-trail?entity=guarantor&entityId=${id}`, operator)).body.items
    expect(trail.map(({ action }) => action).sort()).toEqual(['create', 'release'])
    expect((await checkBook(service.deps)).differences).toEqual([])
  })

  it('of one guarantor are not read by the key of another', async () => {
    const loan = await aLoan()
    const [one, other] = [await post(`${loan}/guarantors`, SISTER), await post(`${loan}/guarantors`, SISTER)]
    const swap = `UPDATE guarantor SET (person_key, identity) = (SELECT person_key, identity FROM guarantor WHERE id = $1) WHERE id = $2`
    const before = await service.owner.pool.query('SELECT person_key, identity FROM guarantor WHERE id = $1', [
      other.body.id,
    ])
    await service.owner.pool.query(swap, [one.body.id, other.body.id])
    expect((await service.get(`${loan}/guarantors`, operator)).status).toBe(500)
    const { person_key, identity } = before.rows[0]!
    const back = 'UPDATE guarantor SET (person_key, identity) = ($1, $2) WHERE id = $3'
    await service.owner.pool.query(back, [person_key, identity, other.body.id])
  })
})

describe('an export of the book', () => {
  it('has consents, guarantors and collateral, and no word of a person', async () => {
    const loan = await aLoan()
    const externalId = `secured-${loans}`
    const consent = { purpose: 'marketing', channel: 'web', givenAt: '2026-02-01T10:00:00.000+03:00' }
    await post(`/v1/customers/external/${externalId}/consents`, consent)
    await post(`${loan}/guarantors`, SISTER)
    await post(`${loan}/collateral`, VEHICLE)
    const rows: object[] = []
    const sink = {
      begin: async () => undefined,
      write: async (kind: string, records: readonly object[]) =>
        void rows.push(...records.map((record) => ({ kind, ...record }))),
      end: async () => undefined,
    }
    const kinds = ['consents', 'guarantors', 'collateral'] as const
    const { signal } = new AbortController()
    const counts = await exportBook(service.deps, byHand(1, 'test'), { kinds, sink, stopping: signal })
    expect(counts.guarantors).toBeGreaterThan(0)
    const own = rows.slice(-1)
    expect(own).toMatchObject([{ loanExternalId: externalId, value: { text: '2500000.00' }, valuedOn: '2026-02-09' }])
    expect(rows).toContainEqual(expect.objectContaining({ customerId: externalId, ...consent }))
    expect(rows).toContainEqual(
      expect.objectContaining({ loanExternalId: externalId, amount: { text: '50000.50' }, from: '2026-02-01' }),
    )
    expect(JSON.stringify(rows)).not.toMatch(/Kweka|Motorcycle|Juma Bakari/)
  })
})
