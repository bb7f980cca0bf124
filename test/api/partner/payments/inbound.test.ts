import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keepJournal } from '../../../support/journal.ts'
import { providersOf } from '../../../support/providers.ts'
import { REAL } from '../../../support/realMessages.ts'
import { FIRST_DAY, startService, type TestService } from '../../../support/service.ts'

let service: TestService
let providers: ReturnType<typeof providersOf>

beforeAll(async () => {
  service = await startService()
  providers = providersOf(service)
  service.clock.set('2026-01-20')
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  await providers.lend('loan-1')
  service.clock.set(FIRST_DAY)
})
afterAll(async () => {
  await keepJournal(service.deps)
  await service.close()
})

describe('a message of a provider', () => {
  it.each(REAL)(
    '$adapter: is answered in its words, and is a payment to the loan',
    async ({ adapter, sent, answer, payment }) => {
      const channel = await providers.makeChannel({ name: adapter, adapter })
      const answered = await providers.send(channel.path, sent, {
        headers: { 'content-type': sent.startsWith('<') ? 'text/xml' : 'application/json' },
      })
      expect([answered.status, answered.text]).toEqual([200, answer])
      expect(answered.headers['content-type']).toMatch(
        answer.startsWith('<') ? /^application\/xml/ : /^application\/json/,
      )
      const [received, ...others] = await providers.paymentsOf(channel)
      expect(others).toEqual([])
      expect(received).toMatchObject({ status: 'allocated', allocations: [{ loanExternalId: 'loan-1' }], ...payment })
      expect(await providers.messagesOf(channel)).toMatchObject([
        { state: 'done', outcome: `payment ${payment.receipt} was received`, paymentId: received?.id },
      ])
    },
  )

  it.each([
    [
      'daraja_c2b',
      '{"Body":{"stkCallback":{"ResultCode":1032,"ResultDesc":"Cancelled"}}}',
      'ignored',
      /a prompt to pay/,
    ],
    ['daraja_c2b', '{"TransID":"X","TransTime":"20260130233000"}', 'unreadable', /^TransAmount: is missing$/],
    [
      'daraja_c2b',
      '{"TransID":"X","TransTime":"20261330233000","TransAmount":"1"}',
      'unreadable',
      /^TransTime: 20261330233000 is no time/,
    ],
    [
      'airtel',
      '{"transaction":{"id":"l","message":"x","status_code":"TF","airtel_money_id":"M"}}',
      'ignored',
      /^the status TF means failed: no money came in$/,
    ],
    [
      'airtel',
      '{"transaction":{"id":"l","message":"x","status_code":"TA","airtel_money_id":"M"}}',
      'ignored',
      /^the status TA is unknown here: the money may have come in or not/,
    ],
    [
      'airtel',
      '{"transaction":{"id":"l","message":"x","status_code":"TS","airtel_money_id":"M"}}',
      'unreadable',
      /^transaction.amount: is missing$/,
    ],
    [
      'mtn_collection',
      '{"amount":"5","currency":"TZS","financialTransactionId":"1","status":"PAID"}',
      'ignored',
      /^the status PAID is unknown here/,
    ],
    [
      'mtn_collection',
      '{"amount":"5","currency":"TZS","externalId":"1","status":"FAILED","reason":"EXPIRED"}',
      'ignored',
      /^the status FAILED means failed/,
    ],
    [
      'selcom',
      '{"transid":"1","order_id":"2","amount":"5","payment_status":"COMPLETED","resultcode":"999"}',
      'ignored',
      /^the status 999 is unknown here/,
    ],
    ['pawapay', '{"payoutId":"1","status":"COMPLETED","amount":"5"}', 'ignored', /^a payout/],
    [
      'mixx_billpay',
      '<!DOCTYPE a [<!ENTITY x "1">]><COMMAND><TXNID>&x;</TXNID></COMMAND>',
      'unreadable',
      /document type/,
    ],
    ['mixx_billpay', '<COMMAND><TXNID>1</TXNID><AMOUNT>1<?x ?>9</AMOUNT></COMMAND>', 'unreadable', /an instruction/],
    ['mixx_billpay', '<COMMAND><TXNID>1<!-- -->2</TXNID><AMOUNT>1</AMOUNT></COMMAND>', 'unreadable', /a comment/],
    [
      'mixx_billpay',
      '<COMMAND><TYPE>SYNC_BILLPAY_REQUEST</TYPE><TXNID>1</TXNID><AMOUNT>1</AMOUNT><AMOUNT>9</AMOUNT></COMMAND>',
      'unreadable',
      /^COMMAND.AMOUNT: is missing$/,
    ],
    ['canonical', '{"receipt":"1","amount":1,"amount":2,"paidAt":"2026-01-30T00:00:00Z"}', 'unreadable', /given twice/],
    ['canonical', '{"receipt":"1","amount":1.001,"paidAt":"2026-01-30T00:00:00Z"}', 'unreadable', /at most 2 decimals/],
    [
      'canonical',
      '{"receipt":"1","amount":-1,"paidAt":"2026-01-30T00:00:00Z"}',
      'unreadable',
      /must be greater than 0/,
    ],
    [
      'canonical',
      '{"receipt":"1","amount":1,"currencyCode":"KES","paidAt":"2026-01-30T00:00:00Z"}',
      'unreadable',
      /must be TZS/,
    ],
    ['canonical', 'receipt=1', 'unreadable', /not valid JSON/],
    ['canonical', '', 'unreadable', /not valid JSON/],
  ])('%s: %s is %s, and no payment', async (adapter, sent, state, outcome) => {
    const channel = await providers.makeChannel({ name: adapter, adapter })
    expect((await providers.send(channel.path, sent)).status).toBe(200)
    expect(await providers.paymentsOf(channel)).toEqual([])
    expect(await providers.messagesOf(channel, state)).toMatchObject([
      { state, outcome: expect.stringMatching(outcome), paymentId: null },
    ])
  })
})
