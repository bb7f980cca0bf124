import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { postTransaction } from '../../../src/services/loans/transactions.ts'
import { FIRST_DAY, startService, type TestService } from '../../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
})
afterAll(() => service.close())
beforeEach(() => service.clock.set(FIRST_DAY))

let loans = 0
async function lend(): Promise<string> {
  loans += 1
  const body = { customerId: 'asha', productId: 1, principal: 100_000, externalId: `loan-${loans}` }
  return (await service.post('/v1/loans', { body })).body.id
}
const repay = (id: string, body: object) => service.post(`/v1/loans/${id}/repayments`, { body })
const loanOf = async (id: string) => (await service.get(`/v1/loans/${id}`)).body

describe('POST /v1/loans/{id}/repayments', () => {
  it('takes interest first, closes the loan at 110,000, and keeps what is over as overpayment', async () => {
    const id = await lend()
    service.clock.stand('2026-02-10T09:30:00+03:00')
    const first = await repay(id, { transactionAmount: 10_000 })
    expect(first).toMatchObject({ status: 200 })
    expect(first.body).toEqual({
      id: expect.stringMatching(/^\d+$/),
      loanId: id,
      type: 'Repayment',
      date: '2026-02-10',
      transactionAt: '2026-02-10T09:30:00.000+03:00',
      amount: 10_000,
      interest: 10_000,
      status: 'posted',
      paymentMethod: 'Mobile Money',
      createdAt: '2026-02-10T09:30:00.000+03:00',
      updatedAt: '2026-02-10T09:30:00.000+03:00',
    })
    expect(await loanOf(id)).toMatchObject({ status: 'Active', interestPaid: 10_000, totalOutstanding: 100_000 })

    const last = await repay(id, { transactionAmount: 105_000 })
    expect(last.body).toMatchObject({ principal: 100_000, overpayment: 5_000 })
    expect(await loanOf(id)).toMatchObject({ status: 'Overpaid', totalOverpaid: 5_000, totalOutstanding: 0 })
  })

  it('closes the loan on the value date that paid it off', async () => {
    const id = await lend()
    service.clock.set('2026-02-20')
    await repay(id, { transactionAmount: 110_000, transactionDate: '2026-02-15' })
    const loan = await loanOf(id)
    expect(loan).toMatchObject({ status: 'Closed (obligations met)', closedOn: '2026-02-15', totalOutstanding: 0 })
    expect(loan).not.toHaveProperty('nextDueDate')
    expect(loan.repaymentSchedule[0]).toMatchObject({ complete: true, completedOn: '2026-02-15' })
  })

  it('answers identically in both address forms', async () => {
    const id = await lend()
    const { externalId } = await loanOf(id)
    const posted = await service.post(`/v1/loans/external/${externalId}/repayments`, {
      body: { transactionAmount: 500 },
    })
    expect(posted.status).toBe(200)
    for (const path of [`/v1/loans/${id}`, `/v1/loans/external/${externalId}`]) {
      expect((await service.get(`${path}/repayments/${posted.body.id}`)).body).toEqual(posted.body)
      expect((await service.get(`${path}/repayments`)).body).toEqual({
        items: [posted.body],
        total: 1,
        page: 1,
        rowsPerPage: 100,
        next: expect.any(String),
      })
      expect((await service.get(path)).body.repaymentHistory).toEqual([posted.body])
    }
  })

  it('back-dated: the loan is what its value dates make of it, in whatever order they arrive', async () => {
    const [one, other] = [await lend(), await lend()]
    service.clock.set('2026-02-20')
    await repay(one, { transactionAmount: 10_000, transactionDate: '2026-02-05' })
    await repay(one, { transactionAmount: 20_000, transactionDate: '2026-02-10' })
    await repay(other, { transactionAmount: 20_000, transactionDate: '2026-02-10' })
    await repay(other, { transactionAmount: 10_000, transactionDate: '2026-02-05' })
    const history = async (id: string) =>
      (await loanOf(id)).repaymentHistory
        .map(({ date, amount, interest, principal }) => ({
          date,
          amount,
          interest,
          principal,
        }))

        .sort((a, b) => a.date.localeCompare(b.date))
    expect(await history(other)).toEqual(await history(one))
    expect((await history(other))[0]).toMatchObject({ date: '2026-02-05', interest: 10_000 })
  })

  it('a token seen before on the loan answers the original, whatever the amount, and posts nothing', async () => {
    const id = await lend()
    const first = await repay(id, { transactionAmount: 1_000, idempotencyKey: 'tx-1' })
    service.clock.set('2026-02-02')
    const again = await repay(id, { transactionAmount: 2_000, idempotencyKey: 'tx-1' })
    expect(again).toMatchObject({ status: 200 })
    expect(again.body).toEqual(first.body)
    expect(again.headers['idempotency-mismatch']).toBe('transactionAmount')
    expect(await loanOf(id)).toMatchObject({ totalPaid: 1_000 })
    // The token belongs to its loan.
    const elsewhere = await repay(await lend(), { transactionAmount: 2_000, idempotencyKey: 'tx-1' })
    expect(elsewhere.body).toMatchObject({ amount: 2_000, idempotencyKey: 'tx-1' })
  })

  it('a refused repayment does not burn its token', async () => {
    const id = await lend()
    expect(await repay(id, { transactionAmount: 1.001, idempotencyKey: 'tx-1' })).toMatchObject({ status: 400 })
    expect(await repay(id, { transactionAmount: 1, idempotencyKey: 'tx-1' })).toMatchObject({ status: 200 })
  })

  it.each([
    [{ transactionAmount: 0 }, 'transactionAmount', 'must be greater than 0'],
    [{ transactionAmount: -1 }, 'transactionAmount', 'must be greater than 0'],
    [{ transactionAmount: '100' }, 'transactionAmount', 'must be a number, not a string'],
    [{ transactionAmount: 1_000_000_000_000 }, 'transactionAmount', 'must be at most 999999999999.99'],
    [{}, 'transactionAmount', 'is required'],
    [{ transactionAmount: 1, transactionDate: '2026-02-30' }, 'transactionDate', 'is not a date on the calendar'],
    [
      { transactionAmount: 1, transactionDate: '2026-02-01' },
      'transactionDate',
      'must not be in the future: today is 2026-01-31',
    ],
    [
      { transactionAmount: 1, transactionDate: '2026-01-30' },
      'transactionDate',
      'must be on or after the day of disbursement, 2026-01-31',
    ],
    [
      { transactionAmount: 1, idempotencyKey: 'x'.repeat(101) },
      'idempotencyKey',
      'must be at most 100 characters long',
    ],
    [
      { transactionAmount: 1, idempotencykey: 'x' },
      'idempotencykey',
      'is not a known field; did you mean idempotencyKey?',
    ],
  ])('400 invalid_argument: %j', async (body, field, message) => {
    const id = await lend()
    const { status, body: refusal } = await repay(id, body)
    expect(status).toBe(400)
    expect(refusal).toEqual({
      code: 'invalid_argument',
      message: `${field}: ${message}`,
      details: [{ field, message }],
    })
    expect(await loanOf(id)).toMatchObject({ totalPaid: 0, repaymentHistory: [] })
  })

  it.each(['[]', '"text"', 'null', '{"transactionAmount": 1', ''])(
    '400 invalid_argument: a body of %s',
    async (raw) => {
      const { status, body } = await service.post(`/v1/loans/${await lend()}/repayments`, {
        raw,
        headers: { 'content-type': 'application/json' },
      })
      expect(status).toBe(400)
      expect(body.code).toBe('invalid_argument')
    },
  )

  it('409 failed_precondition: more than there was on that day, in words that name it', async () => {
    const id = await lend()
    service.clock.set('2026-02-20')
    await repay(id, { transactionAmount: 500, transactionDate: '2026-02-10' })
    const refund = (transactionAmount: number, transactionDate: string) =>
      service.post(`/v1/loans/${id}/repayments/refund`, { body: { transactionAmount, transactionDate } })
    expect(await refund(50, '2026-02-06')).toMatchObject({
      status: 409,
      body: {
        code: 'failed_precondition',
        message: 'of what was paid in only 0.00 TZS was there on 2026-02-06; a later date may have more',
      },
    })
    expect(await refund(501, '2026-02-10')).toMatchObject({
      body: { message: '501.00 TZS is more than what was paid in, 500.00 TZS' },
    })
    expect((await refund(50, '2026-02-10')).status).toBe(200)
  })

  it('404 not_found: no loan has that id, no transaction of the loan has that id', async () => {
    expect(await repay('7', { transactionAmount: 1 })).toMatchObject({ status: 404, body: { code: 'not_found' } })
    const id = await lend()
    const { body } = await repay(await lend(), { transactionAmount: 1 })
    for (const transaction of [body.id, '7', 'abc'])
      expect(await service.get(`/v1/loans/${id}/repayments/${transaction}`)).toMatchObject({
        status: 404,
        body: { code: 'not_found', message: 'no transaction of this loan has that id' },
      })
  })

  it('lists newest first, with the true total past the end', async () => {
    const id = await lend()
    for (const transactionAmount of [1, 2, 3]) await repay(id, { transactionAmount })
    const page = async (query: string) => (await service.get(`/v1/loans/${id}/repayments?${query}`)).body
    expect((await page('rows=2')).items.map((item: { amount: number }) => item.amount)).toEqual([3, 2])
    expect(await page('page=3&rows=2')).toEqual({ items: [], total: 3, page: 3, rowsPerPage: 2 })
  })

  it('400 invalid_argument: a token in the query, where none is read', async () => {
    const id = await lend()
    const { status, body } = await service.post(`/v1/loans/${id}/repayments?idempotencyKey=x`, {
      body: { transactionAmount: 5 },
    })
    expect(status).toBe(400)
    expect(body).toMatchObject({ code: 'invalid_argument', details: [{ field: 'idempotencyKey' }] })
    expect(await loanOf(id)).toMatchObject({ totalPaid: 0 })
  })

  it('one after the other without a pause: each is answered', async () => {
    const ref = { id: BigInt(await lend()) }
    const identity = await service.deps.signIn.identify(service.tokens.partner)
    const caller = { ...identity, requestId: 'one-after-the-other' }
    const amount = { units: 1n, scale: 0 }
    const posting = { type: 'Repayment' as const, amount, valueDate: undefined, token: null, note: null }
    for (let index = 0; index < 20; index++) await postTransaction(service.deps, caller, ref, posting)
    expect(await loanOf(String(ref.id))).toMatchObject({ totalPaid: 20 })
  })
})
