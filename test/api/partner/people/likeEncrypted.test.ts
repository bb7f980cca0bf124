import { afterAll, beforeAll, expect, it } from 'vitest'
import { keepJournal } from '../../../support/journal.ts'
import { startService, type TestService } from '../../../support/service.ts'

// Texts of callers that look like encrypted ones: they are texts like others, and break no list.

let service: TestService
let operator: { token: string }
beforeAll(async () => {
  service = await startService()
  operator = { token: service.tokens.operator }
})
afterAll(() => service.close())

const sent = async (path: string, body: object, call: object = operator) => {
  const answer = await service.post(path, { body, ...call })
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}

it('are kept and told as they were sent, wherever a text may be', async () => {
  const { id: customer } = await sent('/v1/customers', { externalId: 'asha' })
  const texts = [
    `sealed:customer.${customer}:AAAA.BBBB.CCCC`,
    `sealed:customer.${customer}:A`,
    `sealed:payment.1:${'A'.repeat(16)}.${'B'.repeat(22)}.CCCC`,
    'sealed:customer.9999999999999999999:AAAA.BBBB.CCCC',
    'sealed:customer.77:AAAA.BBBB.CCCC',
  ]
  const loan = await sent('/v1/loans', { customerId: 'asha', productId: 4, principal: 10_000 })
  const { id: channelId } = await sent('/v1/payment-channels', { name: 'Wallet', adapter: 'canonical' })
  for (const [index, text] of texts.entries()) {
    await sent(`/v1/loans/${loan.id}/charges`, { kind: 'fee', amount: 10, name: text })
    await sent(`/v1/loans/${loan.id}/repayments/waive-interest`, { transactionAmount: 1, note: text })
    await sent('/v1/payments', { channelId, receipt: `R${index}`, amount: 5, reference: text })
    await sent('/v1/customers', { externalId: text.slice(0, 40) + index })
  }
  await keepJournal(service.deps)
  const { items } = (await service.get(`/v1/loans/${loan.id}/transactions`, operator)).body
  expect(items.flatMap(({ name, note }) => name ?? note ?? []).toSorted()).toEqual([...texts, ...texts].toSorted())
  const payments = (await service.get('/v1/payments', operator)).body.items
  expect(payments.map(({ reference }) => reference)).toEqual(texts)
  for (const path of ['/v1/events?rows=100', '/v1/audit-trail?rows=100', '/v1/customers', `/v1/loans/${loan.id}`])
    expect((await service.get(path, operator)).status).toBe(200)
})
