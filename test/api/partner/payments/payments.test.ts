import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { drain } from '../../../../src/services/jobs/job.ts'
import { paymentsJob } from '../../../../src/services/payments/paymentsJob.ts'
import { keepJournal } from '../../../support/journal.ts'
import { FIRST_DAY, startService, type TestService } from '../../../support/service.ts'

let service: TestService
let operator: { token: string }
let channelId: string

beforeAll(async () => {
  service = await startService()
  operator = { token: service.tokens.operator }
  service.clock.set(FIRST_DAY)
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  channelId = (await makeChannel({})).id
})
afterAll(async () => {
  await keepJournal(service.deps)
  await service.close()
})

async function makeChannel(body: object): Promise<{ readonly id: string }> {
  const made = await service.post('/v1/payment-channels', {
    body: { name: 'Wallet 400200', adapter: 'canonical', ...body },
    ...operator,
  })
  expect(made.status).toBe(200)
  return made.body
}

let receipts = 0

const paymentOf = (body: object) => ({
  channelId,
  receipt: `R-${++receipts}`,
  amount: 1_000,
  paidAt: new Date(service.clock.now()).toISOString(),
  ...body,
})

const receive = (body: object) => service.post('/v1/payments', { body: paymentOf(body) })

async function lend(externalId: string, principal = 100_000, customerId = 'asha'): Promise<string> {
  const lent = await service.post('/v1/loans', { body: { customerId, productId: 1, principal, externalId } })
  expect(lent.status).toBe(200)
  return lent.body.id
}

const totalPaid = async (id: string): Promise<number> => (await service.get(`/v1/loans/${id}`)).body.totalPaid

/** Returns the balances of the accounts by code, once the journal has come to the last change. */
async function balances(): Promise<Readonly<Record<string, number>>> {
  await keepJournal(service.deps)
  const { body } = await service.get('/v1/accounting/trial-balance', operator)
  return Object.fromEntries(
    (body.accounts as { code: string; balance: number }[]).map(({ code, balance }) => [code, balance]),
  )
}

describe('a payment that is told', () => {
  it('goes to the loan whose externalId is its reference, however that is typed', async () => {
    const id = await lend('pay-101')
    const received = await receive({ reference: ' PAY IO1', payerPhone: '255700000009', payerName: 'Asha' })
    expect(received.status).toBe(200)
    expect(received.body).toMatchObject({
      ...{ status: 'allocated', amount: 1_000, allocated: 1_000, suspense: 0, cause: null },
      ...{ payerPhone: '255700000009', payerName: 'Asha' },
      allocations: [{ loanId: id, loanExternalId: 'pay-101', amount: 1_000, date: '2026-01-31', status: 'posted' }],
    })
    const loan = await service.get(`/v1/loans/${id}/repayments`)
    expect(loan.body.items).toMatchObject([
      { amount: 1_000, paymentMethod: 'Wallet 400200', idempotencyKey: `payment:${received.body.id}:1` },
    ])
  })

  it('goes to the loan whose account number is its reference', async () => {
    const id = await lend('pay-account')
    const { accountNo } = (await service.get(`/v1/loans/${id}`)).body
    const received = await receive({ reference: String(Number(accountNo)) })
    expect(received.body).toMatchObject({ status: 'allocated', allocations: [{ loanId: id }] })
  })

  it('goes to the one open loan of the customer that it names, and to none of two', async () => {
    await service.post('/v1/customers', { body: { externalId: 'juma-7' } })
    const id = await lend('juma-first', 50_000, 'juma-7')
    expect((await receive({ reference: 'Juma 7' })).body).toMatchObject({
      status: 'allocated',
      allocations: [{ loanId: id }],
    })
    const second = await lend('juma-second', 50_000, 'juma-7')
    const unmatched = await receive({ reference: 'JUMA7' })
    expect(unmatched.body).toMatchObject({
      ...{ status: 'unmatched', suspense: 1_000, cause: 'the customer of the reference fits 2 loans' },
      candidates: [
        { loanId: second, why: 'customer_reference', open: true },
        { loanId: id, why: 'customer_reference', open: true },
      ],
    })
  })

  it('is received once, whatever is told the second time', async () => {
    const id = await lend('pay-twice')
    const body = paymentOf({ reference: 'pay-twice' })
    const first = await service.post('/v1/payments', { body })
    const again = await service.post('/v1/payments', { body })
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect(again.body).toEqual(first.body)
    const other = await service.post('/v1/payments', { body: { ...body, amount: 2_000, reference: 'pay-101' } })
    expect(other.body).toEqual({ ...first.body, mismatch: ['amount', 'reference'] })
    expect(await totalPaid(id)).toBe(1_000)
  })

  it('is received once of many at a time', async () => {
    const id = await lend('pay-many')
    const body = paymentOf({ reference: 'pay-many' })
    const all = await Promise.all(Array.from({ length: 30 }, () => service.post('/v1/payments', { body })))
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 200))
    expect(new Set(all.map(({ body: { id: payment } }) => payment)).size).toBe(1)
    await drain(paymentsJob(service.deps))
    expect(await totalPaid(id)).toBe(1_000)
  })

  it('keeps the penalty of its day away, where it was paid before midnight and told after', async () => {
    service.clock.set('2026-03-01T00:03:00+03:00')
    const id = await lend('pay-late')
    service.clock.set('2026-04-01T00:03:00+03:00')
    const received = await receive({ reference: 'pay-late', amount: 110_000, paidAt: '2026-03-31T23:59:00+03:00' })
    expect(received.body).toMatchObject({ valueDate: '2026-03-31', status: 'allocated' })
    const loan = await service.get(`/v1/loans/${id}`)
    expect(loan.body).toMatchObject({ status: 'Closed (obligations met)', penaltyCharged: 0 })
  })

  it('counts from now where the provider says a time to come', async () => {
    await lend('pay-ahead')
    const received = await receive({ reference: 'pay-ahead', paidAt: '2026-05-01T00:00:00+03:00' })
    expect(received.body).toMatchObject({ valueDate: '2026-04-01', status: 'allocated' })
  })

  it('is taken at once by a channel that was just made, also where it was asked for before', async () => {
    const missing = await receive({ channelId: String(Number(channelId) + 1) })
    expect(missing.status).toBe(404)
    const { id } = await makeChannel({ name: 'Next' })
    expect(id).toBe(String(Number(channelId) + 1))
    expect((await receive({ channelId: id })).status).toBe(200)
  })

  it('goes to the one open loan of a customer whose identity has the phone number, where that may decide', async () => {
    const identity = { firstName: 'Neema', phone: '+255 (0)712-345-678' }
    await service.post('/v1/customers', { body: { externalId: 'neema-phone', identity } })
    const id = await lend('phone-1', 50_000, 'neema-phone')
    const told = { payerPhone: '0712345678' }
    expect((await receive(told)).body).toMatchObject({
      status: 'unmatched',
      candidates: [{ loanId: id, why: 'phone' }],
    })
    const byPhone = (await makeChannel({ name: 'By phone', matchPhone: true })).id
    expect((await receive({ ...told, channelId: byPhone })).body).toMatchObject({
      status: 'allocated',
      allocations: [{ loanId: id }],
    })
    await lend('phone-2', 50_000, 'neema-phone')
    expect((await receive({ ...told, channelId: byPhone })).body.status).toBe('unmatched')
  })

  it('is refused where the channel does not take it', async () => {
    const refused = async (body: object) => (await receive(body)).body.message
    expect(await refused({ channelId: '77' })).toBe('no payment channel has that id, given as channelId')
    expect(await refused({ currencyCode: 'KES' })).toBe('currencyCode: must be TZS, the currency of the channel')
    expect(await refused({ amount: 0 })).toBe('amount: must be greater than 0')
    expect(await refused({ amount: 1.005 })).toBe('amount: must have at most 2 decimals in TZS')
    const { id } = await makeChannel({ name: 'Old' })
    await service.patch(`/v1/payment-channels/${id}`, { body: { state: 'disabled' }, ...operator })
    expect((await service.get(`/v1/payment-channels/${id}`, operator)).body.state).toBe('disabled')
    expect(await refused({ channelId: id })).toBe('the payment channel is disabled')
  })
})

describe('money in suspense', () => {
  it('is allocated to several loans, all parts or none', async () => {
    const [a, b] = [await lend('split-a', 5_000), await lend('split-b', 5_000)]
    const { body } = await receive({ reference: 'nobody', amount: 3_000 })
    expect(body).toMatchObject({ status: 'unmatched', cause: 'no loan fits the reference', suspense: 3_000 })
    const allocate = (allocations: object[]) =>
      service.post(`/v1/payments/${body.id}/allocations`, { body: { allocations } })
    const missing = await allocate([
      { loanId: a, amount: 1_000 },
      { loanExternalId: 'split-x', amount: 1_000 },
    ])
    expect([missing.status, missing.body.message]).toEqual([404, 'no loan has that id, given as allocations[1].loan'])
    expect(await totalPaid(a)).toBe(0)
    const tooMuch = await allocate([{ loanId: a, amount: 3_000.01 }])
    expect(tooMuch.body.message).toBe('3000.01 TZS is more than what is in suspense of the payment, 3000.00 TZS')
    const done = await allocate([
      { loanId: a, amount: 1_000 },
      { loanExternalId: 'split-b', amount: 500 },
    ])
    expect(done.body).toMatchObject({
      ...{ status: 'partly_allocated', allocated: 1_500, suspense: 1_500 },
      allocations: [
        { loanId: a, amount: 1_000 },
        { loanId: b, amount: 500 },
      ],
    })
    expect([await totalPaid(a), await totalPaid(b)]).toEqual([1_000, 500])
    expect((await allocate([{ loanId: b, amount: 1_500 }])).body).toMatchObject({ status: 'allocated', suspense: 0 })
  })

  it('comes back when an allocation is reversed, and then goes back to the payer', async () => {
    const id = await lend('back')
    const { body } = await receive({ reference: 'back', amount: 110_000 })
    expect((await service.get(`/v1/loans/${id}`)).body.status).toBe('Closed (obligations met)')
    const path = `/v1/payments/${body.id}`
    const byUser = await service.post(`${path}/allocations/reverse`, { body: { note: 'wrong loan' } })
    expect(byUser.status).toBe(403)
    const reversed = await service.post(`${path}/allocations/reverse`, { body: { note: 'wrong loan' }, ...operator })
    expect(reversed.body).toMatchObject({
      ...{ status: 'unmatched', suspense: 110_000, cause: 'wrong loan' },
      allocations: [{ status: 'reversed' }],
    })
    expect((await service.get(`/v1/loans/${id}`)).body).toMatchObject({ status: 'Active', totalPaid: 0 })
    const part = await service.post(`${path}/return`, { body: { amount: 10_000, note: 'sent back' }, ...operator })
    expect(part.body).toMatchObject({ status: 'unmatched', returned: 10_000, suspense: 100_000 })
    const rest = await service.post(`${path}/return`, { body: { note: 'sent back' }, ...operator })
    expect(rest.body).toMatchObject({ status: 'returned', returned: 110_000, suspense: 0 })
    const none = await service.post(`${path}/return`, { body: { note: 'again' }, ...operator })
    expect([none.status, none.body.message]).toEqual([409, 'nothing of the payment is in suspense'])
  })

  it('is not taken out of a loan past the payment', async () => {
    const id = await lend('through')
    await receive({ reference: 'through' })
    const [repayment] = (await service.get(`/v1/loans/${id}/repayments`)).body.items
    const path = `/v1/loans/${id}/repayments/${repayment!.id}`
    const message = /^the Repayment was allocated from payment \d+: reverse the allocations of the payment$/
    for (const [action, body] of [
      ['reverse', {}],
      ['adjust', { transactionAmount: 500 }],
    ] as const) {
      const refused = await service.post(`${path}/${action}`, { body, ...operator })
      expect([refused.status, refused.body.message]).toEqual([409, expect.stringMatching(message)])
    }
  })

  it('is in the journal on the account of the channel and in suspense, and with the loans in place of cash', async () => {
    const before = await balances()
    const own = await makeChannel({ name: 'Bank', account: '1000' })
    await lend('journal')
    const { body } = await receive({ channelId: own.id, reference: 'elsewhere', amount: 7_000 })
    const received = await balances()
    expect([received['1000']! - before['1000']!, received['2300']! - before['2300']!]).toEqual([7_000 - 100_000, 7_000])
    const allocations = [{ loanExternalId: 'journal', amount: 7_000 }]
    await service.post(`/v1/payments/${body.id}/allocations`, { body: { allocations } })
    const allocated = await balances()
    expect([allocated['1000']! - received['1000']!, allocated['2300']! - received['2300']!]).toEqual([0, -7_000])
    const position = await service.get(`/v1/payment-channels/${own.id}/position`, operator)
    expect(position.body).toMatchObject({ received: 7_000, allocated: 7_000, suspense: 0, payments: 1 })
    const { body: postings } = await service.get('/v1/accounting/journal?from=2026-01-01&to=2026-12-31', operator)
    expect(postings.items.find((one) => 'paymentId' in one && one.paymentId === body.id)).toMatchObject({
      kind: 'payment_received',
      lines: [
        { account: '1000', debit: 7_000 },
        { account: '2300', credit: 7_000 },
      ],
    })
  })
})
