import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keepJournal } from '../../../support/journal.ts'
import { providersOf, type TestChannel } from '../../../support/providers.ts'
import { FIRST_DAY, startService, type TestService } from '../../../support/service.ts'

let service: TestService
let operator: { token: string }
let providers: ReturnType<typeof providersOf>
let channel: TestChannel

beforeAll(async () => {
  service = await startService()
  operator = { token: service.tokens.operator }
  providers = providersOf(service)
  service.clock.set('2026-01-20')
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  for (const externalId of ['loan-1', 'loan-2', 'loan-3']) await providers.lend(externalId)
  service.clock.set(FIRST_DAY)
  channel = await providers.makeChannel()
})
afterAll(async () => {
  await keepJournal(service.deps)
  await service.close()
})

let receipts = 0

const told = (body: object = {}) =>
  JSON.stringify({ receipt: `M-${++receipts}`, amount: 100, paidAt: '2026-01-31T08:00:00+03:00', ...body })

const totalPaid = async (externalId: string) =>
  Number((await service.get(`/v1/loans/external/${externalId}`)).body.totalPaid)

const sql = (text: string) => service.owner.pool.query(text)

describe('messages that come late, twice or in another order', () => {
  it('are one payment, by POST and PUT and whatever the second one says', async () => {
    const before = await totalPaid('loan-1')
    const first = told({ reference: 'loan-1' })
    const { receipt } = JSON.parse(first)
    const other = told({ receipt, amount: 200, reference: 'loan-2' })
    const all = await Promise.all([
      ...Array.from({ length: 10 }, () => providers.send(channel.path, first)),
      ...Array.from({ length: 10 }, () => providers.send(channel.path, first, { put: true })),
    ])
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 200))
    await providers.decide()
    expect((await providers.send(channel.path, other)).status).toBe(200)
    const messages = (await providers.messagesOf(channel)).filter(({ outcome }) => String(outcome).includes(receipt))
    expect(messages.map(({ outcome }) => outcome)).toEqual([
      `payment ${receipt} was received`,
      ...Array.from({ length: 19 }, () => `payment ${receipt} had been received before`),
      `payment ${receipt} had been received before; this message differs in amount, reference`,
    ])
    expect(new Set(messages.map(({ paymentId }) => paymentId)).size).toBe(1)
    expect(await totalPaid('loan-1')).toBe(before + 100)
  })

  it('take a payment back, also where the reversal comes first', async () => {
    const daraja = await providers.makeChannel({ adapter: 'daraja_c2b' })
    const payment = (id: string) =>
      `{"TransID":"${id}","TransTime":"20260131080000","TransAmount":"250.00","BillRefNumber":"loan-2","MSISDN":"2547 ***** 126"}`
    const reversal = (id: string, code: string, key: string) =>
      `{"Result":{"ResultType":0,"ResultCode":${code},"TransactionID":"R${id}","ResultParameters":{"ResultParameter":[{"Key":"Amount","Value":250},{"Key":"TransCompletedTime","Value":20260131090000},{"Key":"${key}","Value":"${id}"}]}}}`
    const before = await totalPaid('loan-2')
    await providers.send(daraja.path, payment('A'))
    await providers.send(daraja.path, reversal('B', '"0"', 'originalTransactionID'))
    await providers.send(daraja.path, reversal('C', '"R000002"', 'OriginalTransactionID'))
    await providers.decide()
    expect(await totalPaid('loan-2')).toBe(before + 250)
    for (const one of [payment('B'), payment('C'), reversal('A', '0', 'OriginalTransactionID')])
      await providers.send(daraja.path, one)
    const payments = await providers.paymentsOf(daraja)
    expect(payments.map(({ receipt, status }) => [receipt, status])).toEqual([
      ['A', 'reversed'],
      ['B', 'reversed'],
      ['C', 'allocated'],
    ])
    expect(await totalPaid('loan-2')).toBe(before + 250)
    expect((await providers.messagesOf(daraja)).map(({ state, outcome }) => [state, outcome])).toContainEqual([
      'ignored',
      'the status R000002 is unknown here: the money may have come in or not; ask the provider',
    ])
  })

  it('wait for the statement above the amount of the channel', async () => {
    const careful = await providers.makeChannel({ confirmAbove: 500 })
    for (const amount of [500, 501]) await providers.send(careful.path, told({ amount, reference: 'loan-3' }))
    expect(
      (await providers.paymentsOf(careful)).map(({ status, awaitsStatement }) => [status, awaitsStatement]),
    ).toEqual([
      ['allocated', false],
      ['received', true],
    ])
  })
})

describe('the inbox', () => {
  it('loses nothing and does nothing twice where its transaction is killed', async () => {
    const before = await totalPaid('loan-3')
    for (let count = 0; count < 5; count++) await providers.send(channel.path, told({ reference: 'loan-3' }))
    await sql(`CREATE FUNCTION kill() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
      'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END'`)
    await sql('CREATE TRIGGER kill BEFORE UPDATE ON payment_inbox FOR EACH ROW EXECUTE FUNCTION kill()')
    await expect(providers.decide()).rejects.toThrow()
    const waiting = `SELECT count(*)::int AS count FROM payment_inbox WHERE state = 'pending'`
    expect((await sql(waiting)).rows).toEqual([{ count: 5 }])
    expect(await totalPaid('loan-3')).toBe(before)
    await sql('DROP TRIGGER kill ON payment_inbox')
    await providers.decide()
    expect(await totalPaid('loan-3')).toBe(before + 500)
  })

  it('is read by several instances at once, each message by one of them', async () => {
    const before = await totalPaid('loan-1')
    const other = providersOf(await service.another())
    await Promise.all(
      Array.from({ length: 300 }, () => providers.send(channel.path, told({ amount: 1, reference: 'loan-1' }))),
    )
    await Promise.all([providers.decide(), other.decide(), providers.decide(), other.decide()])
    await providers.decide()
    expect(await totalPaid('loan-1')).toBe(before + 300)
  })

  it('gives a message up that the database does not take, and goes on with the others', async () => {
    const before = await totalPaid('loan-3')
    await sql(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$BEGIN IF NEW.receipt = 'cursed' THEN RAISE division_by_zero; END IF; RETURN NEW; END$$`)
    await sql('CREATE TRIGGER refuse BEFORE INSERT ON payment FOR EACH ROW EXECUTE FUNCTION refuse()')
    for (const receipt of ['fine-1', 'cursed', 'fine-2'])
      await providers.send(channel.path, told({ receipt, reference: 'loan-3' }))
    await expect(providers.decide()).rejects.toThrow(/division/)
    await sql('DROP TRIGGER refuse ON payment')
    await providers.decide()
    expect(await totalPaid('loan-3')).toBe(before + 200)
    const [message] = await providers.messagesOf(channel, 'unreadable')
    expect(message).toMatchObject({ outcome: 'the service failed to take it in, which is an error on our side' })
    const path = `/v1/payment-channels/${channel.id}/messages/${message!.id}`
    const opened = await service.get(path, operator)
    expect(opened.body).toMatchObject({
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      encoding: 'utf8',
    })
    expect(JSON.parse(String(opened.body.body))).toMatchObject({ receipt: 'cursed' })
    expect((await service.post(`${path}/decide-again`)).status).toBe(403)
    const again = await service.post(`${path}/decide-again`, operator)
    expect([again.status, again.body]).toMatchObject([200, { state: 'pending', outcome: null }])
    expect((await service.post(`${path}/decide-again`, operator)).body.message).toBe(
      'the message is not read yet; it will be',
    )
    await providers.decide()
    expect((await service.get(path, operator)).body).toMatchObject({
      state: 'done',
      outcome: 'payment cursed was received',
    })
    expect(await totalPaid('loan-3')).toBe(before + 300)
  })

  it('keeps what cannot be read, with its bytes, and lists it in parts', async () => {
    const own = await providers.makeChannel()
    const body = Buffer.from([0x7b, 0xff, 0x00])
    for (const raw of [body, '[]', '{}']) await providers.send(own.path, raw)
    await providers.decide()
    const path = `/v1/payment-channels/${own.id}/messages`
    const first = await service.get(`${path}?state=ignored,unreadable&rows=2`, operator)
    expect(first.body.items).toMatchObject([
      { state: 'unreadable', outcome: 'the body is not valid UTF-8' },
      { state: 'unreadable', outcome: 'it is no message of the provider of this channel' },
    ])
    const rest = await service.get(`${path}?state=ignored,unreadable&after=${first.body.next}`, operator)
    expect(rest.body.items).toHaveLength(1)
    const opened = await service.get(`${path}/${first.body.items[0]!.id}`, operator)
    expect(opened.body).toMatchObject({ encoding: 'base64', body: body.toString('base64') })
    expect(
      (await service.get(`/v1/payment-channels/${channel.id}/messages/${first.body.items[0]!.id}`, operator)).status,
    ).toBe(404)
    expect((await service.get(`${path}/${first.body.items[0]!.id}`)).status).toBe(403)
  })
})

describe('the validation of a payment that is to be made', () => {
  it.each([
    ['canonical', '{"receipt":"V","amount":"10","reference":"LOAN 1"}', '{"accepted":true}'],
    ['canonical', '{"receipt":"V","amount":"10","reference":"nobody"}', '{"accepted":false,"reason":"account"}'],
    ['canonical', '{"receipt":"V","amount":"0","reference":"loan-1"}', '{"accepted":false,"reason":"amount"}'],
    ['canonical', '}', '{"accepted":false,"reason":"other"}'],
    [
      'daraja_c2b',
      '{"TransID":"V","TransAmount":"10","BillRefNumber":"loan-1"}',
      '{"ResultCode":"0","ResultDesc":"Accepted"}',
    ],
    [
      'daraja_c2b',
      '{"TransID":"V","TransAmount":"10","BillRefNumber":"x"}',
      '{"ResultCode":"C2B00012","ResultDesc":"Rejected"}',
    ],
    [
      'daraja_c2b',
      '{"TransID":"V","TransAmount":"x","BillRefNumber":"loan-1"}',
      '{"ResultCode":"C2B00013","ResultDesc":"Rejected"}',
    ],
    [
      'selcom',
      '{"transid":"V","reference":"r","utilityref":"x"}',
      '{"reference":"r","transid":"V","resultcode":"010","result":"FAIL","message":"Wrong reference"}',
    ],
  ])('of %s: %s is answered %s, and nothing is kept', async (adapter, sent, answer) => {
    const own = await providers.makeChannel({ adapter })
    const { status, text } = await providers.send(`${own.path}/validate`, sent)
    expect([status, text]).toEqual([200, answer])
    expect(await providers.messagesOf(own)).toEqual([])
    expect(await providers.paymentsOf(own)).toEqual([])
  })

  it('is not there where the provider does not ask', async () => {
    const own = await providers.makeChannel({ adapter: 'azampay' })
    expect((await providers.send(`${own.path}/validate`, '{}')).status).toBe(404)
  })
})
