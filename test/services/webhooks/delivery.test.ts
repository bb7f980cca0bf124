import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Delivery } from '../../../src/services/webhooks/delivery.ts'
import { type Received, type Receiver, sequencesOf, startReceiver, verify } from '../../support/receiver.ts'
import { startService, type TestService } from '../../support/service.ts'
import {
  deliverAll,
  deliveryOf,
  type EndpointWire,
  lendTo,
  operatorOf,
  repayEach,
  wait,
} from '../../support/webhooks.ts'

// Events go to a real receiver on this machine, from a real book. The test holds the clock, and drives the rounds.

let service: TestService
let receiver: Receiver
let delivery: Delivery
let operator: ReturnType<typeof operatorOf>
let loanIds: string[]
let endpoint: EndpointWire

beforeAll(async () => {
  service = await startService({ WEBHOOKS_TO_PRIVATE: 'true' })
  operator = operatorOf(service)
  loanIds = await lendTo(service, ['asha', 'juma', 'neema'])
})
afterAll(() => service.close())

beforeEach(async () => {
  receiver = await startReceiver()
  delivery = deliveryOf(service)
  await deliverAll(service, delivery)
  endpoint = await operator.create(receiver.url)
  return async () => {
    await delivery.stop()
    await operator.remove(endpoint.id)
    await receiver.close()
  }
})

const loanOf = ({ body }: Received): string => body.data.loan.id
const numbersOf = (loan: string, deliveries = receiver.taken) =>
  sequencesOf(deliveries.filter((one) => loanOf(one) === loan))
const isAscending = (numbers: readonly number[]) =>
  numbers.every((one, index) => index === 0 || one > numbers[index - 1]!)

describe('the delivery of events', () => {
  it('sends each event once and in the words of the style, signed so that Standard Webhooks verifies it', async () => {
    await repayEach(service, loanIds, 2)
    await deliverAll(service, delivery)
    expect(receiver.received).toHaveLength(6)
    for (const one of receiver.received) {
      verify(endpoint.secret, one)
      expect(one.headers['webhook-id']).toBe(one.body.id)
      expect(one.headers['content-type']).toBe('application/json; charset=utf-8')
      const { body } = await service.get(`/v1/events/${one.body.id}`)
      expect(one.body).toEqual(body)
    }
    expect(await operator.endpoint(endpoint.id)).toMatchObject({
      state: 'active',
      behind: 0,
      oldestUndeliveredAt: null,
    })
    const deliveries = await operator.deliveries(endpoint.id)
    expect(deliveries).toHaveLength(6)
    expect(deliveries[0]).toMatchObject({
      state: 'delivered',
      attempt: 1,
      status: 204,
      error: null,
      nextAttemptAt: null,
    })
  })

  it('is not verified with a flipped byte, another id, an old timestamp or another secret', async () => {
    await repayEach(service, loanIds.slice(0, 1), 1)
    await deliverAll(service, delivery)
    const [one] = receiver.received as [Received]
    const { headers, text } = one
    expect(() => verify(endpoint.secret, { headers, text: text.replace('repayment', 'repaymenu') })).toThrow()
    expect(() => verify(endpoint.secret, { text, headers: { ...headers, 'webhook-id': 'evt_1_1' } })).toThrow()
    const old = String(Number(headers['webhook-timestamp']) - 301)
    expect(() => verify(endpoint.secret, { text, headers: { ...headers, 'webhook-timestamp': old } })).toThrow()
    expect(() => verify('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', one)).toThrow()
  })

  it('signs with both secrets while one replaces the other, and with the new one alone after that', async () => {
    const { secret } = await operator.rotate(endpoint.id, { overlapHours: 1 })
    await repayEach(service, loanIds.slice(0, 1), 1)
    await deliverAll(service, delivery)
    wait(service, 3_601)
    await repayEach(service, loanIds.slice(0, 1), 1)
    await deliverAll(service, delivery)
    const [during, after] = receiver.received as [Received, Received]
    expect(String(during.headers['webhook-signature']).split(' ')).toHaveLength(2)
    verify(secret, during)
    verify(endpoint.secret, during)
    verify(secret, after)
    expect(() => verify(endpoint.secret, after)).toThrow()
  })

  it('sends only the types that are wanted, and is not behind for the others', async () => {
    await operator.change(endpoint.id, { types: ['loan.*'] })
    await repayEach(service, loanIds, 1)
    await deliverAll(service, delivery)
    expect(receiver.received).toEqual([])
    expect(await operator.endpoint(endpoint.id)).toMatchObject({ behind: 0 })
    await service.post(`/v1/loans/${loanIds[0]}/repayments/charge-off`, { token: service.tokens.operator, body: {} })
    await deliverAll(service, delivery)
    expect(receiver.taken.map(({ body }) => body.type)).toEqual(['loan.charged_off'])
  })

  it('sends the words of the record style to an endpoint of that style', async () => {
    const other = await startReceiver()
    const { id } = await operator.create(other.url, { style: 'record' })
    await repayEach(service, loanIds.slice(1, 2), 1)
    await deliverAll(service, delivery)
    expect(other.taken[0]!.body.data).toHaveProperty('loan.borrower_id')
    await operator.remove(id)
    await other.close()
  })
})

describe('an event that fails', () => {
  it('waits for its next attempt, with all of its loan behind it, while other loans go on', async () => {
    const [failing, , fine] = loanIds as [string, string, string]
    receiver.react = (one) => (loanOf(one) === failing ? 500 : 204)
    await repayEach(service, [failing, fine], 3)
    service.clock.stand(new Date(service.clock.now()).toISOString())
    await deliverAll(service, delivery)
    expect(numbersOf(failing, receiver.received)).toHaveLength(1)
    expect(numbersOf(fine)).toHaveLength(3)
    expect(await operator.endpoint(endpoint.id)).toMatchObject({ behind: 3, state: 'active' })
    const [waiting] = await operator.deliveries(endpoint.id, '?state=waiting')
    expect(waiting).toMatchObject({ attempt: 1, status: 500, error: 'answered 500 Internal Server Error' })
    expect(Date.parse(waiting!.nextAttemptAt)).toBe(service.clock.machineNow() + 5_000)
    receiver.react = () => 204
    await deliverAll(service, delivery)
    expect(numbersOf(failing)).toEqual([])
    wait(service, 5)
    await deliverAll(service, delivery)
    expect(numbersOf(failing)).toHaveLength(3)
    expect(isAscending(numbersOf(failing))).toBe(true)
    const ids = receiver.received.filter((one) => loanOf(one) === failing).map(({ headers }) => headers['webhook-id'])
    expect(ids[1]).toBe(ids[0])
    expect(await operator.deliveries(endpoint.id, '?state=waiting')).toEqual([])
    expect(await operator.deliveries(endpoint.id, '?state=retried')).toHaveLength(1)
  })

  it('is tried ten times over three days and is then given up, and what waits behind it goes on', async () => {
    const [failing, fine] = [loanIds[1]!, loanIds[2]!]
    await repayEach(service, [failing], 2)
    let poison = ''
    receiver.react = (one) => {
      if (loanOf(one) === failing) poison ||= one.body.id
      return one.body.id === poison ? 500 : 204
    }
    const pauses = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
    for (const pause of pauses) {
      // Another loan takes something each time: the endpoint as a whole is well.
      await repayEach(service, [fine], 1)
      await deliverAll(service, delivery)
      const before = receiver.received.length
      wait(service, pause - 1)
      await deliverAll(service, delivery)
      expect(receiver.received).toHaveLength(before)
      wait(service, 1)
    }
    await deliverAll(service, delivery)
    const attempts = receiver.received.filter(({ body }) => body.id === poison)
    expect(attempts).toHaveLength(10)
    expect(numbersOf(failing)).toHaveLength(1)
    const [exhausted] = await operator.deliveries(endpoint.id, '?state=exhausted')
    expect(exhausted).toMatchObject({ eventId: poison, attempt: 10, nextAttemptAt: null })
    expect(await operator.endpoint(endpoint.id)).toMatchObject({ behind: 0, state: 'active' })
  })

  it('waits for as long as the receiver asks for', async () => {
    receiver.react = () => (response) => response.writeHead(429, { 'retry-after': '120' }).end()
    await repayEach(service, loanIds, 1)
    await deliverAll(service, delivery)
    const before = receiver.received.length
    wait(service, 119)
    await deliverAll(service, delivery)
    expect(receiver.received).toHaveLength(before)
    receiver.react = () => 204
    wait(service, 1)
    await deliverAll(service, delivery)
    expect(receiver.taken).toHaveLength(3)
  })
})
