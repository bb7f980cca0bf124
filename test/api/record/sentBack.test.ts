import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aBasicLoan, aBorrower, anExtendedLoan, aRepayment } from '../../support/recordBodies.ts'
import { type Records, recordsOf, without } from '../../support/records.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
let records: Records
beforeAll(async () => {
  service = await startService()
  records = recordsOf(service)
  await records.post('/v1/borrowers', { body: aBorrower })
  await records.post('/v1/loans', { body: aBasicLoan })
  await records.post('/v1/loans', { body: anExtendedLoan })
  await records.post('/v1/repayments', { body: aRepayment })
})
afterAll(() => service.close())

const refused = (field: string) => ({ status: 400, body: { code: 'invalid_argument', details: [{ field }] } })

describe('an item that is read, changed and sent back (contract 5)', () => {
  const OF_EACH: [what: string, path: string][] = [
    ['a borrower', '/v1/borrowers/1'],
    ['a basic loan', '/v1/loans/1'],
    ['an extended loan', '/v1/loans/2'],
  ]

  it.each(OF_EACH)('%s: unchanged, it is answered as it is stored', async (_, path) => {
    const read = await records.get(path)
    service.clock.set('2026-02-01')
    expect((await records.put(path, { body: read.body.item })).text).toBe(read.text)
    expect((await records.post(path.replace(/\/\d+$/, ''), { body: read.body.item })).text).toBe(read.text)
  })

  it('a repayment: sent again, it is answered as it is stored, and nothing is posted', async () => {
    const read = await records.get('/v1/repayments/1')
    expect((await records.post('/v1/repayments', { body: read.body.item })).text).toBe(read.text)
    expect((await records.get('/v1/repayments?loan_id=1')).body.total).toBe(1)
  })

  it('a field that only answers have is ignored, whatever its value', async () => {
    const { created_at } = (await records.get('/v1/borrowers/1')).body.item
    const { body } = await records.put('/v1/borrowers/1', {
      body: { region: 'Mwanza', credit_score: 'high', created_at: null, updated_at: 1 },
    })
    expect(body.item).toMatchObject({ region: 'Mwanza', credit_score: 0, created_at })
  })

  it('a change is taken with it', async () => {
    const { item: borrower } = (await records.get('/v1/borrowers/1')).body
    expect((await records.put('/v1/borrowers/1', { body: { ...borrower, phone: '255711' } })).body.item.phone).toBe(
      '255711',
    )
    const { item: loan } = (await records.get('/v1/loans/2')).body
    const changed = { ...without(loan, 'due_date'), principal_amount: 2400, description: 'more' }
    expect((await records.put('/v1/loans/2', { body: changed })).body.item).toMatchObject({
      principal_amount: 2400,
      loan_principal_amount: 2400,
      description: 'more',
    })
  })

  it('400 invalid_argument: a term of the extended body that an update cannot change, and where it can be', async () => {
    const { item } = (await records.get('/v1/loans/2')).body
    const send = (changes: object) => records.put('/v1/loans/2', { body: { ...item, ...changes } })
    expect(await send({ loan_interest: 99 })).toMatchObject(refused('loan_interest'))
    const answer = await send({ loan_principal_amount: 7 })
    expect(answer).toMatchObject(refused('loan_principal_amount'))
    expect(answer.body.message).toContain('change principal_amount instead')
    expect(await records.put('/v1/loans/1', { body: { loan_interest: 1 } })).toMatchObject(refused('loan_interest'))
    expect((await records.get('/v1/loans/2')).body.item).toEqual(item)
  })

  it('400 invalid_argument: an extended item whose fields contradict its terms', async () => {
    const { item } = (await records.get('/v1/loans/2')).body
    for (const [field, value] of Object.entries({
      principal_amount: 1,
      released_date: '2026-01-01',
      due_date: '2030-01-01',
      duration: 99,
      duration_period: 'Years',
    }))
      expect(await records.post('/v1/loans', { body: { ...item, loan_id: 91, [field]: value } })).toMatchObject(
        refused(field),
      )
    expect((await records.get('/v1/loans/91')).status).toBe(404)
  })

  it('an extended item with another id is another loan, with its remarks', async () => {
    await records.put('/v1/loans/2', { body: { products: [{ stock_id: 1, quantity: 2, price: 3.5 }] } })
    const { item } = (await records.get('/v1/loans/2')).body
    const copy = await records.post('/v1/loans', { body: { ...item, loan_id: 92 } })
    const own = ['loan_id', 'created_at', 'updated_at']
    const plain = (loan: object) => own.reduce(without, loan)
    expect(plain(copy.body.item)).toEqual(plain(item))
  })

  it("a partner's loan and customer, as the record style shows them, change nothing", async () => {
    const { body: customer } = await service.post('/v1/customers', { body: { externalId: 'asha' } })
    const { body: loan } = await service.post('/v1/loans', {
      body: { customerId: 'asha', productId: 3, principal: 6000 },
    })
    for (const path of [`/v1/borrowers/${customer.id}`, `/v1/loans/${loan.id}`]) {
      const read = await records.get(path)
      expect((await records.put(path, { body: read.body.item })).text).toBe(read.text)
    }
    expect((await service.get(`/v1/customers/${customer.id}`)).body.displayName).toBe('asha Customer')
  })
})

describe('null (contract 1.7)', () => {
  it('of an optional field is as left out', async () => {
    const optional = { email: null, country: null }
    const { status, body } = await records.post('/v1/borrowers', { body: { ...aBorrower, id: 7, ...optional } })
    expect(status).toBe(200)
    for (const field of Object.keys(optional)) expect(body.item).not.toHaveProperty(field)
    const loan = { ...anExtendedLoan, loan_id: 7, loan_application_id: null, loan_decimal_places: null }
    expect((await records.post('/v1/loans', { body: loan })).body.item).not.toHaveProperty('loan_application_id')
    const repayment = { ...aRepayment, repayment_id: 7, method: null, collected_by: null, description: null }
    expect((await records.post('/v1/repayments', { body: repayment })).body.item).toMatchObject({ collected_by: '' })
  })

  it('in a PUT clears what a new item may do without, and is refused of the rest', async () => {
    await records.put('/v1/loans/1', { body: { products: [{ stock_id: 1, quantity: 2, price: 3 }] } })
    expect(
      (await records.put('/v1/borrowers/1', { body: { email: null, country: null } })).body.item,
    ).not.toHaveProperty('email')
    const cleared = await records.put('/v1/loans/1', { body: { loan_type: null, description: null, products: null } })
    expect(cleared.body.item).toMatchObject({ loan_type: '', description: '' })
    expect(cleared.body.item).not.toHaveProperty('products')
    for (const field of ['business_name', 'phone', 'address', 'type', 'region'])
      expect(await records.put('/v1/borrowers/1', { body: { [field]: null } })).toMatchObject(refused(field))
    for (const field of ['borrower_id', 'principal_amount', 'released_date', 'due_date', 'duration', 'duration_period'])
      expect(await records.put('/v1/loans/1', { body: { [field]: null } })).toMatchObject(refused(field))
  })

  it('under an Idempotency-Key, a body with null is the same request as one that leaves the field out', async () => {
    const headers = { 'idempotency-key': 'null-or-nothing' }
    const body = { ...aBorrower, id: 8 }
    const first = await records.post('/v1/borrowers', { body: without(body, 'email'), headers })
    const again = await records.post('/v1/borrowers', { body: { ...body, email: null }, headers })
    expect([again.text, again.headers['idempotency-replayed']]).toEqual([first.text, 'true'])
  })
})

describe('loan_application_id', () => {
  it.each([
    ['"LA-2026-001"', 1001],
    ['71', 1002],
    ['""', 1003],
  ])('%s is answered as it was sent', async (json, id) => {
    const raw = JSON.stringify({
      ...anExtendedLoan,
      loan_id: id,
      loan_application_id: JSON.rawJSON(json),
    })
    const { status, text } = await records.post('/v1/loans', { raw })
    expect(status).toBe(200)
    expect(text).toContain(`"loan_application_id":${json},`)
  })
})
