import { expect } from 'vitest'
import { dateIn } from '../../src/domain/dates.ts'
import { recordsOf } from './records.ts'
import type { TestService } from './service.ts'

/** Twelve strings of a person, none of them part of anything else. */
export const WORDS = {
  externalId: '255799000111',
  firstName: 'Zawadixa',
  middleName: 'Kipchogexa',
  lastName: 'Wanjikuxa',
  dateOfBirth: '1971-03-04',
  idNumber: 'ID-77-XAQ-41',
  phone: '+255 788 123 987',
  email: 'zawadixa@posta.example',
  address: 'Nyumba 9Q, Mtaa wa Xuma',
  reference: 'NIDA-XQ-991',
  note: 'Paid by Zawadixa herself',
  payer: 'WANJIKUXA ZAWADIXA',
} as const

let made = 0

/** Makes a customer with an identity. @returns its number */
export async function aPersonOf(service: TestService, externalId: string = WORDS.externalId): Promise<string> {
  const { firstName, middleName, lastName, dateOfBirth, idNumber, phone, email, address, reference } = WORDS
  const verification = { by: 'NIDA', on: '2026-01-01', result: 'verified', reference }
  const identity = { firstName, middleName, lastName, dateOfBirth, idNumber, phone, email, address, verification }
  const answer = await service.post('/v1/customers', {
    body: { externalId, identity },
    headers: { 'Idempotency-Key': `make-${++made}` },
  })
  expect(answer.status, answer.text).toBe(200)
  return answer.body.id
}

let collected = 7_000

/**
 * Lends to a customer, secures the loan, has it paid on every way, with notes, compares a statement, and closes it.
 * @returns the number of the loan
 */
export async function aPaidLoanOf(service: TestService, customerId: string, externalId: string): Promise<string> {
  const maker = { token: service.tokens.operator }
  const body = { customerId: externalId, productId: 4, principal: 10_000, externalId: `loan-of-${customerId}` }
  const { body: loan, status, text } = await service.post('/v1/loans', { body })
  expect(status, text).toBe(200)
  const of = `/v1/loans/${loan.id}`
  const waived = await service.post(`${of}/repayments/waive-interest`, {
    body: { transactionAmount: 100, note: WORDS.note },
    ...maker,
  })
  expect(waived.status, waived.text).toBe(200)
  const paid = await service.post(`${of}/repayments`, { body: { transactionAmount: 100 } })
  const undone = await service.post(`${of}/repayments/${paid.body.id}/reverse`, {
    body: { note: WORDS.note },
    ...maker,
  })
  expect(undone.status, undone.text).toBe(200)
  const repayment = {
    repayment_id: ++collected,
    loan_id: JSON.rawJSON(loan.id),
    amount: 50,
    collection_date: '2026-01-31',
    description: WORDS.note,
  }
  expect((await recordsOf(service).post('/v1/repayments', { body: repayment })).status).toBe(200)
  expect((await service.get(`${of}/statement`)).status).toBe(200)
  const sister = { identity: { firstName: WORDS.middleName, lastName: WORDS.lastName }, relationship: 'Sister' }
  expect((await service.post(`${of}/guarantors`, { body: sister })).status).toBe(200)
  const vehicle = { kind: 'vehicle', description: WORDS.address, value: 900, owner: WORDS.payer }
  expect((await service.post(`${of}/collateral`, { body: vehicle })).status).toBe(200)
  const told = { channel: 'call', outcome: 'promised', note: WORDS.note, loanId: loan.id }
  expect((await service.post(`/v1/customers/${loan.customerId}/contacts`, { body: told })).status).toBe(200)
  const today = dateIn('Africa/Nairobi', service.deps.now(1))
  const promise = { amount: 1, by: today, note: WORDS.note }
  const { body: promised } = await service.post(`${of}/promises`, { body: promise })
  expect((await service.post(`${of}/promises/${promised.id}/cancel`, { body: { reason: WORDS.address } })).status).toBe(
    200,
  )
  const { body: hold } = await service.post(`${of}/holds`, {
    body: { what: 'listing', until: today, reason: WORDS.payer },
  })
  expect((await service.post(`${of}/holds/${hold.id}/release`, { body: { reason: WORDS.note } })).status).toBe(200)
  const channel = await service.post('/v1/payment-channels', {
    body: { name: `Wallet of ${customerId}`, adapter: 'canonical' },
    ...maker,
  })
  const { totalOutstanding: amount } = (await service.get(of)).body
  const payment = {
    channelId: channel.body.id,
    receipt: `R-${customerId}`,
    amount,
    reference: externalId,
    payerPhone: WORDS.phone,
    payerName: WORDS.payer,
  }
  const received = await service.post('/v1/payments', { body: payment })
  expect(received.body, received.text).toMatchObject({ status: 'allocated' })
  const taken = await service.post(`/v1/payments/${received.body.id}/allocations/reverse`, {
    body: { note: WORDS.note },
    ...maker,
  })
  expect(taken.status, taken.text).toBe(200)
  await service.post(`/v1/payments/${received.body.id}/allocations`, {
    body: { allocations: [{ loanId: loan.id, amount }] },
    ...maker,
  })
  const line = { receipt: payment.receipt, at: '2026-01-31T09:00:00+03:00', amount, reference: externalId }
  const days = { from: '2026-01-31', to: '2026-01-31' }
  const statement = { channelId: channel.body.id, ...days, lines: [{ ...line, receipt: 'other' }, line] }
  const compared = await service.post('/v1/reconciliations', { body: statement, ...maker })
  expect(compared.status, compared.text).toBe(200)
  return loan.id
}
