import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operator } from '../../../src/services/access/caller.ts'
import { createProduct } from '../../../src/services/organizations/products.ts'
import { anotherLender } from '../../support/lenders.ts'
import { readStatementsHere } from '../../support/readHere.ts'
import { recordsOf } from '../../support/records.ts'
import { startService, type TestService } from '../../support/service.ts'
import { fictionalStatement, statementPdf } from '../../support/statementPdf.ts'
import { showing } from '../../support/upload.ts'

/** Lends up to the credit limit only. */
const KEEPS = 5
const whole = (units: bigint) => ({ units, scale: 0 })

let service: TestService
let other: TestService
beforeAll(async () => {
  service = await startService()
  readStatementsHere(service)
  other = await service.another()
  const keeps = { principalMin: whole(1_000n), principalMax: whole(10_000_000n), interestRate: whole(10n) }
  const terms = { ...keeps, numberOfRepayments: 1, repayEvery: 1, repayUnit: 'months', enforceCreditLimit: true }
  await createProduct(service.deps, operator(1, 'test'), { ...terms, id: KEEPS, name: 'Up to the limit' })
  await createProduct(service.deps, operator(1, 'test'), { ...terms, id: 6, name: 'In Kenya', currency: 'KES' })
})
afterAll(() => service.close())

const lend = (customerId: string, principal: number, productId = KEEPS, at = service) =>
  at.post('/v1/loans', { body: { customerId, productId, principal } })
const repay = async (loan: { id: string; totalOutstanding: number }) =>
  service.post(`/v1/loans/${loan.id}/repayments`, { body: { transactionAmount: loan.totalOutstanding } })
const cardOf = async (customer: string, token?: string) =>
  (await service.get(`/v1/credit-scorecard/${customer}`, token === undefined ? {} : { token })).body

/** A customer whose limit is the amount of their repaid loan. */
async function proven(externalId: string, principal: number): Promise<void> {
  await service.post('/v1/customers', { body: { externalId } })
  service.clock.set('2026-02-01')
  const { body: loan } = await lend(externalId, principal, 1)
  service.clock.set('2026-02-20')
  await repay(loan)
  expect(await cardOf(externalId)).toMatchObject({ creditLimit: principal, availableCreditLimit: principal })
}

describe('a product that keeps to the credit limit', () => {
  it('says so; the others do not', async () => {
    const { items } = (await service.get('/v1/loan-products')).body
    expect(items.map((one: { enforceCreditLimit: boolean }) => one.enforceCreditLimit)).toEqual([
      ...[false, false, false, false],
      ...[true, true],
    ])
  })

  it('409 failed_precondition: who is unscored has nothing available', async () => {
    await service.post('/v1/customers', { body: { externalId: 'new' } })
    expect(await lend('new', 1_000)).toMatchObject({
      status: 409,
      body: {
        code: 'failed_precondition',
        message: "the principal is above the available credit limit of 0.00 TZS: the customer's grade is XX",
      },
    })
    expect((await service.get('/v1/loans?customerExternalId=new')).body.total).toBe(0)
    expect(await lend('new', 1_000, 1)).toMatchObject({ status: 200 })
  })

  it('lends a top-up up to the limit that is there once the other loan is paid off, and not a cent more', async () => {
    await proven('topped', 100_000)
    const first = { customerId: 'topped', productId: KEEPS, principal: 60_000, externalId: 'to-top-up' }
    expect((await service.post('/v1/loans', { body: first })).status).toBe(200)
    const more = { ...first, externalId: 'topped-up', settles: ['to-top-up'] }
    const beyond = await service.post('/v1/loans', { body: { ...more, principal: 100_000.01 } })
    expect([beyond.status, beyond.body.message]).toEqual([
      409,
      expect.stringMatching(/^the principal is above the available/),
    ])
    expect((await service.get('/v1/loans/external/to-top-up')).body).toMatchObject({ status: 'Active', totalPaid: 0 })
    const made = await service.post('/v1/loans', { body: { ...more, principal: 100_000 } })
    expect([made.status, made.body]).toMatchObject([
      200,
      { principal: 100_000, settled: [{ externalId: 'to-top-up' }] },
    ])
  })

  it('lends up to the limit and not a cent more, and nothing while anything is outstanding', async () => {
    await proven('asha', 100_000)
    expect((await lend('asha', 100_000.01)).body.message).toBe(
      "the principal is above the available credit limit of 100000.00 TZS: the customer's grade is C",
    )
    const { status, body: loan } = await lend('asha', 100_000)
    expect(status).toBe(200)
    expect((await lend('asha', 1_000)).body).toMatchObject({
      code: 'failed_precondition',
      message:
        'the principal is above the available credit limit of 0.00 TZS: the limit of 100000.00 TZS is available while nothing is outstanding',
    })
    await repay(loan)
    expect((await lend('asha', 100_000)).status).toBe(200)
  })

  it('a statement makes room', async () => {
    await service.post('/v1/customers', { body: { externalId: 'juma' } })
    service.clock.set('2026-07-02')
    expect((await lend('juma', 50_000)).status).toBe(409)
    const { movements } = fictionalStatement({ layout: 'bank', from: '2026-05-01' })
    const few = fictionalStatement({ layout: 'bank', from: '2026-05-01', movements: movements.slice(0, 40) })
    const pdf = await statementPdf(few)
    const { body } = await service.post('/v1/credit-scorecard/juma/boost', showing(pdf))
    expect(body).toMatchObject({ boostStatus: 'raised', grade: 'XX', originalCreditLimit: 0 })
    expect((await lend('juma', body.creditLimit + 1)).status).toBe(409)
    expect((await lend('juma', body.creditLimit)).status).toBe(200)
  })

  it('20 at once on two instances, with those of a product that does not keep to it: one', async () => {
    await proven('neema', 100_000)
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => lend('neema', 100_000, KEEPS, index % 2 === 0 ? service : other)),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    for (const { body } of answers.filter(({ status }) => status !== 200))
      expect(body).toMatchObject({ code: 'failed_precondition' })
    expect((await service.get('/v1/loans?customerExternalId=neema&status=Active')).body.total).toBe(1)
  })

  it('409 failed_precondition: limits are in another currency than the product', async () => {
    expect((await lend('asha', 1_000, 6)).body).toMatchObject({
      code: 'failed_precondition',
      message: 'the product lends in KES up to the credit limit, and limits here are in TZS',
    })
  })

  it('the Idempotency-Key of a loan that is refused is not burnt', async () => {
    await proven('keyed', 100_000)
    const call = { headers: { 'idempotency-key': 'limit-1' } }
    const body = { customerId: 'keyed', productId: KEEPS, principal: 100_000 }
    const { body: open } = await lend('keyed', 5_000)
    expect(await service.post('/v1/loans', { ...call, body })).toMatchObject({ status: 409 })
    await repay(open)
    const first = await service.post('/v1/loans', { ...call, body })
    expect(first.status).toBe(200)
    expect((await service.post('/v1/loans', { ...call, body })).text).toBe(first.text)
  })
})

describe('two organizations', () => {
  it('each has its own customers, currency, policy and statements', async () => {
    service.clock.set('2026-07-02')
    const token = await anotherLender(service, 2, 'KES')
    for (const call of [{}, { token }]) await service.post('/v1/customers', { ...call, body: { externalId: 'both' } })
    const mine = await cardOf('both')
    const theirs = await cardOf('both', token)
    expect([mine.currencyCode, theirs.currencyCode]).toEqual(['TZS', 'KES'])
    // Neither by externalId nor by number.
    await service.post('/v1/customers', { body: { externalId: 'mine' } })
    const { customerId } = await cardOf('mine')
    for (const path of ['mine', customerId])
      expect(await service.get(`/v1/credit-scorecard/${path}`, { token })).toMatchObject({ status: 404 })
    const pdf = await statementPdf(fictionalStatement({ layout: 'bank', from: '2026-05-01' }))
    const boost = (given: { token?: string }, path = 'both') =>
      service.post(`/v1/credit-scorecard/${path}/boost`, { ...showing(pdf), ...given })
    expect(await boost({ token }, 'mine')).toMatchObject({ status: 404 })
    expect(await boost({ token })).toMatchObject({
      status: 400,
      body: { details: [{ field: 'statement', message: 'is in TZS: limits here are in KES' }] },
    })
    // What raised a limit in one organization is not known in another.
    const umoja = await anotherLender(service, 3, 'TZS')
    await service.post('/v1/customers', { token: umoja, body: { externalId: 'both' } })
    for (const call of [{}, { token: umoja }])
      expect((await boost(call)).body).toMatchObject({ boostStatus: 'raised', statement: { usedBefore: false } })
  })
})

describe('credit_score of the record style', () => {
  it('is that of the scorecard, in the item and in the list; 0 while unscored', async () => {
    const records = recordsOf(service)
    await proven('scored', 100_000)
    const card = await cardOf('scored')
    expect((await records.get(`/v1/borrowers/${card.customerId}`)).body.item.credit_score).toBe(card.creditScore)
    const { items } = (await records.get('/v1/borrowers')).body
    for (const borrower of items) {
      const { grade, creditScore } = await cardOf(String(borrower.id))
      expect(borrower.credit_score).toBe(grade === 'XX' ? 0 : creditScore)
    }
    const scores = items.map((one) => Number(one.credit_score))
    expect([scores.includes(0), scores.some((score: number) => score > 0)]).toEqual([true, true])
  })

  it('counts loans of the record style, and is as fresh as the answer', async () => {
    const records = recordsOf(service)
    service.clock.set('2026-07-02')
    const borrower = { id: 77, business_name: 'Duka', phone: '255700000077', address: 'x', type: 'Shop', region: 'x' }
    await records.post('/v1/borrowers', { body: borrower })
    const loan = { borrower_id: 77, loan_id: 77, principal_amount: 1_000, duration: 1, duration_period: 'Months' }
    const dates = { released_date: '2026-06-02', due_date: '2026-07-02' }
    await records.post('/v1/loans', { body: { ...loan, ...dates } })
    const score = async () => (await records.get('/v1/borrowers/77')).body.item.credit_score
    expect(await score()).toBe(0)
    const repayment = { repayment_id: 77, loan_id: 77, amount: 1_000, collection_date: '2026-07-02' }
    await records.post('/v1/repayments', { body: repayment })
    const { creditScore, externalId } = await cardOf('77')
    expect(externalId).toBeNull()
    expect(creditScore).toBeGreaterThan(300)
    expect(await score()).toBe(creditScore)
    const again = await records.post('/v1/borrowers', { body: borrower })
    expect(again.body.item.credit_score).toBe(creditScore)
  })
})
