import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sequencerJob } from '../../../src/services/events/sequencer.ts'
import { drain } from '../../../src/services/jobs/job.ts'
import type { Delivery } from '../../../src/services/webhooks/delivery.ts'
import { type Receiver, sequencesOf, startReceiver } from '../../support/receiver.ts'
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

// An endpoint that fails as a whole; what several processes do with one endpoint; and what an operator does about it.

let service: TestService
let receiver: Receiver
let delivery: Delivery
let operator: ReturnType<typeof operatorOf>
let loanIds: string[]
let endpoint: EndpointWire

beforeAll(async () => {
  service = await startService({ WEBHOOKS_TO_PRIVATE: 'true' })
  operator = operatorOf(service)
  loanIds = await lendTo(service, ['asha', 'juma', 'neema', 'baraka'])
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

const countOf = async (table: 'webhook_parked' | 'webhook_attempt') => {
  const { rows } = await service.owner.pool.query<{ count: bigint }>(
    `SELECT count(*) AS count FROM ${table} WHERE endpoint_id = $1`,
    [endpoint.id],
  )
  return Number(rows[0]!.count)
}

/** Lets 10 attempts and more fail: more loans than the endpoint has, each of which fails once. */
async function failUntilBackingOff(): Promise<void> {
  receiver.react = () => 503
  await repayEach(service, loanIds, 50)
  for (let index = 0; index < 5; index++) {
    await deliverAll(service, delivery)
    wait(service, 2_100)
  }
  expect(await operator.endpoint(endpoint.id)).toMatchObject({ state: 'backing_off' })
}

describe('an endpoint of which everything fails', () => {
  it('backs off as a whole: one probe a step, no row an event, and nothing is given up', async () => {
    await failUntilBackingOff()
    const { behind, stateReason } = await operator.endpoint(endpoint.id)
    expect(behind).toBe(200)
    expect(stateReason).toMatch(/^\d+ attempts in a row failed; the last one: answered 503 Service Unavailable$/)
    const [parked, attempts, received] = [
      await countOf('webhook_parked'),
      await countOf('webhook_attempt'),
      receiver.received.length,
    ]
    // Four days and more: the last pause, of 24 h, is repeated.
    for (let probe = 0; probe < 14; probe++) {
      const { nextAttemptAt } = await operator.endpoint(endpoint.id)
      service.clock.set(nextAttemptAt!, 'machine')
      await deliverAll(service, delivery)
    }
    expect(receiver.received.length - received).toBe(14)
    expect(await countOf('webhook_attempt')).toBe(attempts + 14)
    expect(await countOf('webhook_parked')).toBe(parked)
    expect(await operator.endpoint(endpoint.id)).toMatchObject({ state: 'backing_off', behind: 200 })
    expect(await operator.deliveries(endpoint.id, '?state=exhausted')).toEqual([])
  })

  it('is active again after one success, and gets everything, of each loan in order', async () => {
    await failUntilBackingOff()
    receiver.react = () => 200
    service.clock.set((await operator.endpoint(endpoint.id)).nextAttemptAt!, 'machine')
    await deliverAll(service, delivery)
    expect(await operator.endpoint(endpoint.id)).toMatchObject({ state: 'active', stateReason: null, behind: 0 })
    for (const id of loanIds) {
      const numbers = sequencesOf(receiver.taken.filter(({ body }) => body.data.loan.id === id))
      expect(new Set(numbers).size).toBe(50)
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
    }
  })

  it('is woken by an operator', async () => {
    await failUntilBackingOff()
    receiver.react = () => 200
    expect(await operator.change(endpoint.id, { state: 'active' })).toMatchObject({
      state: 'active',
      nextAttemptAt: null,
    })
    await deliverAll(service, delivery)
    expect(await operator.endpoint(endpoint.id)).toMatchObject({ behind: 0 })
  })

  it('is disabled by 410 Gone, with the reason, and continues where it stopped once it is active', async () => {
    receiver.react = () => 410
    await repayEach(service, loanIds, 2)
    await deliverAll(service, delivery)
    const disabled = await operator.endpoint(endpoint.id)
    expect(disabled).toMatchObject({ state: 'disabled', stateReason: 'the receiver answered 410 Gone', behind: 8 })
    const { length } = receiver.received
    wait(service, 100_000)
    await deliverAll(service, delivery)
    expect(receiver.received).toHaveLength(length)
    receiver.react = () => 204
    await operator.change(endpoint.id, { state: 'active' })
    await deliverAll(service, delivery)
    expect(new Set(sequencesOf(receiver.taken)).size).toBe(8)
  })
})

describe('several processes', () => {
  it('share the endpoints: of one endpoint, only one sends at a time', async () => {
    const other = deliveryOf(await service.another())
    await repayEach(service, loanIds, 5)
    await deliverAll(service, delivery)
    await repayEach(service, loanIds, 5)
    await deliverAll(service, other)
    expect(receiver.received).toHaveLength(20)
    await deliverAll(service, delivery)
    expect(receiver.received).toHaveLength(40)
    await delivery.stop()
    await repayEach(service, loanIds, 1)
    await deliverAll(service, other)
    expect(receiver.received).toHaveLength(44)
    await other.stop()
  })

  it('take over from a process that was killed, once its lease has ended: nothing is missing', async () => {
    const killed = deliveryOf(service)
    await repayEach(service, loanIds, 3)
    // Sends, and is killed before it has saved anything of what was answered.
    await drain(sequencerJob(service.deps))
    await killed.round()
    await killed.quiet()
    expect(receiver.taken.length).toBeGreaterThan(0)
    wait(service, 29)
    await deliverAll(service, delivery)
    const before = receiver.taken.length
    wait(service, 2)
    await deliverAll(service, delivery)
    expect(receiver.taken.length).toBeGreaterThan(before)
    expect(new Set(sequencesOf(receiver.taken)).size).toBe(12)
    expect(await operator.endpoint(endpoint.id)).toMatchObject({ behind: 0 })
  })

  it('save nothing after their lease was taken over, or the endpoint was changed', async () => {
    await repayEach(service, loanIds, 1)
    receiver.react = () => (response) => setTimeout(() => response.writeHead(204).end(), 50)
    await drain(sequencerJob(service.deps))
    await delivery.round()
    await operator.change(endpoint.id, { description: 'changed meanwhile' })
    await delivery.quiet()
    await delivery.round()
    expect(await operator.endpoint(endpoint.id)).toMatchObject({ behind: 4 })
    await deliverAll(service, delivery)
    expect(await operator.endpoint(endpoint.id)).toMatchObject({ behind: 0 })
    expect(receiver.received).toHaveLength(8)
  })
})

describe('an operator', () => {
  it('sends events again from an instant or a cursor on', async () => {
    await repayEach(service, loanIds, 1)
    await deliverAll(service, delivery)
    wait(service, 60)
    const since = new Date(service.clock.machineNow()).toISOString()
    await repayEach(service, loanIds, 2)
    await deliverAll(service, delivery)
    expect(receiver.received).toHaveLength(12)
    expect(await operator.recover(endpoint.id, since)).toEqual({ queued: 8 })
    expect(await operator.endpoint(endpoint.id)).toMatchObject({ behind: 8 })
    await deliverAll(service, delivery)
    expect(receiver.received).toHaveLength(20)
    expect(sequencesOf(receiver.received.slice(12)).toSorted()).toEqual(
      sequencesOf(receiver.received.slice(4, 12)).toSorted(),
    )
    const { body } = await service.get<{ next: string }>('/v1/events?rows=1')
    const { queued } = await operator.recover(endpoint.id, body.next)
    expect(queued).toBeGreaterThan(12)
  })

  it('is told what a test came to, whatever the state of the endpoint is', async () => {
    await operator.change(endpoint.id, { state: 'disabled' })
    receiver.react = () => (response) => response.writeHead(418).end('x'.repeat(5_000))
    const tested = await operator.test(endpoint.id)
    expect(tested).toMatchObject({
      status: 418,
      error: expect.stringMatching(/^answered 418/),
      answer: 'x'.repeat(1_024),
    })
    expect(receiver.received[0]!.body).toMatchObject({ type: 'webhook.test', data: {} })
  })
})
