import { createServer } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Delivery } from '../../../src/services/webhooks/delivery.ts'
import { createPoster } from '../../../src/services/webhooks/poster.ts'
import { within } from '../../support/patience.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { startService, type TestService } from '../../support/service.ts'
import { deliverAll, deliveryOf, type EndpointWire, lendTo, operatorOf, repayEach } from '../../support/webhooks.ts'

// What could stop an endpoint for long: pauses, leases of a wrong clock, a restored book, and answers that are none.

let service: TestService
let receiver: Receiver
let delivery: Delivery
let operator: ReturnType<typeof operatorOf>
let loanIds: string[]
let endpoint: EndpointWire

beforeAll(async () => {
  service = await startService({ WEBHOOKS_TO_PRIVATE: 'true' })
  operator = operatorOf(service)
  loanIds = await lendTo(service, ['asha', 'juma'])
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

const askToWait = () => {
  receiver.react = () => (response) => void response.writeHead(429, { 'retry-after': '86400' }).end()
}

describe('a pause that the receiver asked for', () => {
  it.each([
    ['PATCH active', () => operator.change(endpoint.id, { state: 'active' })],
    ['recover', () => operator.recover(endpoint.id, '2026-01-01T00:00:00+03:00')],
  ])('is ended by %s', async (_what, wake) => {
    askToWait()
    await repayEach(service, loanIds, 1)
    await deliverAll(service, delivery)
    expect((await operator.endpoint(endpoint.id)).nextAttemptAt).not.toBeNull()
    receiver.react = () => 204
    await deliverAll(service, delivery)
    const before = receiver.taken.length
    await wake()
    await deliverAll(service, delivery)
    expect(receiver.taken.length).toBeGreaterThanOrEqual(before + loanIds.length)
    expect(await operator.endpoint(endpoint.id)).toMatchObject({ state: 'active', behind: 0, nextAttemptAt: null })
  })
})

describe('a back-off', () => {
  it('is ended by a recovery from now on, too', async () => {
    receiver.react = () => 500
    await lendTo(
      service,
      Array.from({ length: 12 }, (_, index) => `backs-off-${index}`),
    )
    await deliverAll(service, delivery)
    expect((await operator.endpoint(endpoint.id)).state).toBe('backing_off')
    await operator.recover(endpoint.id, new Date(service.clock.machineNow() + 60_000).toISOString())
    expect((await operator.endpoint(endpoint.id)).state).toBe('active')
  })
})

describe('a lease', () => {
  it('of a clock that was far ahead counts no more', async () => {
    await repayEach(service, loanIds, 1)
    await service.owner.pool.query(
      `UPDATE webhook_endpoint SET leased_by = 'a process that is gone', leased_until = '2027-01-01' WHERE id = $1`,
      [endpoint.id],
    )
    await deliverAll(service, delivery)
    expect(receiver.taken).toHaveLength(loanIds.length)
  })
})

describe('a fail-over that lost events', () => {
  it('makes the endpoint begin again where the book ends, so that no event after it is left out', async () => {
    await repayEach(service, loanIds, 3)
    await deliverAll(service, delivery)
    const { rows } = await service.owner.pool.query(
      'SELECT sequence, change_id FROM event_chain WHERE organization_id = 1',
    )
    const lost = 4n
    const kept = BigInt(rows[0].sequence) - lost
    await service.owner.pool.query('DELETE FROM event WHERE organization_id = 1 AND sequence > $1', [kept])
    await service.owner.pool.query(
      `UPDATE event_chain c SET (sequence, change_id, hash) = (SELECT sequence, change_id, hash FROM event e
         WHERE e.organization_id = 1 AND e.sequence = $1) WHERE organization_id = 1`,
      [kept],
    )
    await service.owner.pool.query('UPDATE webhook_endpoint SET position = $1 WHERE id = $2', [kept, endpoint.id])
    // As after an operator has accepted the older state: until then no event is numbered.
    service.deps.keptHeads.forget(1)
    await delivery.round()
    await delivery.round()
    const before = receiver.taken.length
    await repayEach(service, loanIds, 1)
    await deliverAll(service, delivery)
    // The changes whose events were lost are told again, under other numbers, and then the new ones.
    expect(receiver.taken.length - before).toBe(Number(lost) + loanIds.length)
    expect(await operator.endpoint(endpoint.id)).toMatchObject({ behind: 0 })
  })
})

describe('an answer that is none', () => {
  it('such as another protocol ends the request at once', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n'),
      )
    })
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    const { port } = server.address() as { port: number }
    const poster = createPoster({ toPrivate: true, answerWithinMs: within(5_000) })
    const posted = await poster.post({ url: `http://127.0.0.1:${port}/`, headers: {}, body: '{}' })
    expect(posted).toMatchObject({ status: null, error: 'answered 101: another protocol is not spoken' })
    expect(posted.ms).toBeLessThan(within(4_000))
    poster.close()
    server.close()
  })
})
