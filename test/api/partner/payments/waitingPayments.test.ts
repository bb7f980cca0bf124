import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkBook } from '../../../../src/services/book/bookCheck.ts'
import { anAccount, lend, letWaitAbove } from '../../../support/approvals.ts'
import { keepJournal } from '../../../support/journal.ts'
import { startService, type TestService } from '../../../support/service.ts'

let service: TestService
let maker: string
let checker: string
let channelId: string
beforeAll(async () => {
  service = await startService()
  maker = service.tokens.operator
  checker = await anAccount(service, 'checker')
  await letWaitAbove(service, 1_000)
  const channel = { name: 'Wallet', adapter: 'canonical' }
  channelId = (await service.post('/v1/payment-channels', { body: channel, token: maker })).body.id
})
afterAll(() => service.close())

let receipts = 0

/** Receives a payment. @returns its path */
async function receive(amount: number, reference?: string): Promise<string> {
  const paidAt = new Date(service.clock.now()).toISOString()
  const body = { channelId, receipt: `W-${++receipts}`, amount, paidAt, reference }
  return `/v1/payments/${(await service.post('/v1/payments', { body })).body.id}`
}

const ask = (path: string, body: object, headers?: Record<string, string>) =>
  service.post(path, { body, token: maker, ...(headers && { headers }) })
const decide = (id: string, act: string, token: string, body?: object) =>
  service.post(`/v1/pending-actions/${id}/${act}`, { token, ...(body && { body }) })
const waitingOn = async (payment: string) => {
  const paymentId = payment.split('/').at(-1)
  return (await service.get(`/v1/pending-actions?state=pending&paymentId=${paymentId}`, { token: maker })).body.items
}
const allocationsOf = async (payment: string) =>
  (await service.get(payment)).body.allocations as { transactionId: string; status: string }[]

describe('a return above the amount of the organization', () => {
  it('202: waits, changes nothing, and is booked once another ADMIN approves it', async () => {
    const payment = await receive(5_000)
    const before = (await service.get(payment)).body
    const waiting = await ask(`${payment}/return`, { note: 'Not ours' })
    expect(waiting).toMatchObject({
      status: 202,
      body: { state: 'pending', kind: 'return-payment', paymentId: before.id, amount: 5_000, note: 'Not ours' },
    })
    expect(waiting.body).not.toHaveProperty('loanId')
    expect((await service.get(payment)).body).toEqual(before)
    expect((await decide(waiting.body.id, 'approve', maker)).status).toBe(403)
    const approved = await decide(waiting.body.id, 'approve', checker)
    expect(approved).toMatchObject({ status: 200, body: { state: 'approved' } })
    expect(approved.body).not.toHaveProperty('postedTransactionId')
    expect((await service.get(payment)).body).toMatchObject({ status: 'returned', returned: 5_000, suspense: 0 })
    const { rows } = await service.deps.db.pool.query(
      `SELECT action, request_id FROM audit_entry WHERE entity = 'payment' AND entity_id = $1 ORDER BY id DESC LIMIT 1`,
      [before.id],
    )
    expect(rows).toEqual([{ action: 'return', request_id: `approval-${waiting.body.id}` }])
  })

  it('202: counts the returns of a payment together', async () => {
    const payment = await receive(1_500)
    expect((await ask(`${payment}/return`, { amount: 1_000, note: 'Paid too much' })).status).toBe(200)
    expect(await ask(`${payment}/return`, { amount: 500, note: 'The rest' })).toMatchObject({
      status: 202,
      body: { amount: 500, transactionAmount: 500 },
    })
  })

  it('202: is the same one when it is asked for again, also with the same Idempotency-Key', async () => {
    const payment = await receive(3_000)
    const key = { 'idempotency-key': 'return-3000' }
    const first = await ask(`${payment}/return`, { note: 'Once' }, key)
    expect(await ask(`${payment}/return`, { note: 'Again' })).toMatchObject({
      status: 202,
      body: { id: first.body.id, note: 'Once' },
    })
    expect(await ask(`${payment}/return`, { note: 'Once' }, key)).toMatchObject({
      status: 202,
      body: { id: first.body.id },
    })
    expect(await waitingOn(payment)).toMatchObject([{ id: first.body.id }])
    await decide(first.body.id, 'reject', checker, { reason: 'Ours after all' })
    expect(await waitingOn(payment)).toEqual([])
    expect((await service.get(payment)).body.suspense).toBe(3_000)
  })

  it('409: is not approved once its money is with a loan, and waits on', async () => {
    const payment = await receive(2_000)
    const { body } = await ask(`${payment}/return`, { note: 'Not ours' })
    const loan = await lend(service, 'meanwhile')
    const allocations = [{ loanId: loan.split('/').at(-1), amount: 2_000 }]
    expect((await ask(`${payment}/allocations`, { allocations })).status).toBe(200)
    expect(await decide(body.id, 'approve', checker)).toMatchObject({
      status: 409,
      body: { code: 'failed_precondition', message: expect.stringContaining('is more than what is in suspense') },
    })
    expect(await waitingOn(payment)).toHaveLength(1)
  })

  it('is decided once by two ADMINs at once', async () => {
    const other = await anAccount(service, 'other-checker')
    const payment = await receive(4_000)
    const { body } = await ask(`${payment}/return`, { note: 'Not ours' })
    const both = await Promise.all([checker, other].map((token) => decide(body.id, 'approve', token)))
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
    expect((await service.get(payment)).body.returned).toBe(4_000)
  })
})

describe('a reversal of allocations above the amount of the organization', () => {
  it('202: waits, and takes exactly these repayments from their loans once it is approved', async () => {
    const loan = await lend(service, 'reversed')
    const payment = await receive(5_000, 'loan-reversed')
    const before = (await service.get(loan)).body
    const waiting = await ask(`${payment}/allocations/reverse`, { note: 'Wrong loan' })
    expect(waiting).toMatchObject({ status: 202, body: { kind: 'reverse-allocations', amount: 5_000 } })
    expect((await service.get(loan)).body).toEqual(before)
    expect(await allocationsOf(payment)).toMatchObject([{ status: 'posted' }])
    expect((await decide(waiting.body.id, 'approve', checker)).body).toMatchObject({ state: 'approved' })
    expect(await allocationsOf(payment)).toMatchObject([{ status: 'reversed' }])
    expect((await service.get(payment)).body).toMatchObject({ suspense: 5_000, status: 'unmatched' })
    expect((await service.get(loan)).body.totalPaid).toBe(0)
  })

  it('200: up to the amount, at once', async () => {
    await lend(service, 'small')
    const payment = await receive(1_000, 'loan-small')
    expect(await ask(`${payment}/allocations/reverse`, {})).toMatchObject({ status: 200, body: { suspense: 1_000 } })
  })

  it('409: is not approved once one of the repayments does not stand any more', async () => {
    const loan = await lend(service, 'twice')
    const payment = await receive(2_000)
    const loanId = loan.split('/').at(-1)
    const allocations = [
      { loanId, amount: 600 },
      { loanId, amount: 1_400 },
    ]
    await ask(`${payment}/allocations`, { allocations })
    const { body } = await ask(`${payment}/allocations/reverse`, {})
    const [part] = await allocationsOf(payment)
    expect((await ask(`${payment}/allocations/reverse`, { transactionIds: [part?.transactionId] })).status).toBe(200)
    expect((await decide(body.id, 'approve', checker)).body.message).toBe(
      'not all of these are repayments of the payment that stand',
    )
    expect((await decide(body.id, 'withdraw', maker)).body.state).toBe('withdrawn')
  })

  it('is refused at once where nothing stands, also above the amount', async () => {
    const payment = await receive(9_000)
    expect((await ask(`${payment}/allocations/reverse`, {})).status).toBe(409)
    expect(await waitingOn(payment)).toEqual([])
  })
})

it('the book is in order', async () => {
  await keepJournal(service.deps)
  expect((await checkBook(service.deps)).differences).toEqual([])
})
