import { expect } from 'vitest'
import { renderEvents } from '../../src/app/app.ts'
import { sequencerJob } from '../../src/services/events/sequencer.ts'
import { drain } from '../../src/services/jobs/job.ts'
import { Delivery } from '../../src/services/webhooks/delivery.ts'
import type { Call, TestService } from './service.ts'

/** An endpoint as it is answered, with what tests read of it. */
export interface EndpointWire {
  readonly id: string
  readonly secret: string
  readonly state: string
  readonly stateReason: string | null
  readonly behind: number
  readonly oldestUndeliveredAt: string | null
  readonly nextAttemptAt: string | null
  readonly queued: number
}

/** An attempt as it is answered, with what tests read of it. */
export interface DeliveryWire {
  readonly eventId: string
  readonly state: string
  readonly attempt: number
  readonly nextAttemptAt: string
}

/** A delivery of an instance of the service under test, driven round by round. */
export const deliveryOf = (service: TestService, random = 0.5): Delivery =>
  new Delivery(service.deps, {
    render: renderEvents(service.deps.config.zone),
    log: { warn: () => undefined, error: () => undefined },
    random: () => random,
  })

/** Numbers the events that there are, and sends all that is due now. */
export async function deliverAll(service: TestService, delivery: Pick<Delivery, 'round' | 'quiet'>): Promise<void> {
  await drain(sequencerJob(service.deps))
  for (let state = await delivery.round(); state !== 'idle'; state = await delivery.round()) await delivery.quiet()
}

/** Calls as the operator of the demonstration; refuses an answer that is no success. */
export function operatorOf(service: TestService) {
  const call = async (method: 'get' | 'post' | 'patch' | 'delete', path: string, body?: object) => {
    const given: Call = { token: service.tokens.operator, ...(body && { body }) }
    const answer = await service[method]<EndpointWire>(path, given)
    expect(answer.status, answer.text).toBeLessThan(300)
    return answer.body
  }
  return {
    create: (url: string, more: object = {}) => call('post', '/v1/webhook-endpoints', { url, ...more }),
    endpoint: (id: string) => call('get', `/v1/webhook-endpoints/${id}`),
    change: (id: string, body: object) => call('patch', `/v1/webhook-endpoints/${id}`, body),
    remove: (id: string) => call('delete', `/v1/webhook-endpoints/${id}`),
    rotate: (id: string, body: object = {}) => call('post', `/v1/webhook-endpoints/${id}/rotate-secret`, body),
    recover: (id: string, since: string) => call('post', `/v1/webhook-endpoints/${id}/recover`, { since }),
    test: (id: string) => call('post', `/v1/webhook-endpoints/${id}/test`),
    deliveries: async (id: string, query = '') => {
      const path = `/v1/webhook-endpoints/${id}/deliveries${query}`
      const answer = await service.get<{ items: DeliveryWire[] }>(path, { token: service.tokens.operator })
      return answer.body.items
    },
  }
}

/** Makes customers with a loan each. @returns the ids of the loans */
export async function lendTo(service: TestService, names: readonly string[]): Promise<string[]> {
  const ids: string[] = []
  for (const externalId of names) {
    await service.post('/v1/customers', { body: { externalId } })
    const loan = await service.post('/v1/loans', { body: { customerId: externalId, productId: 1, principal: 100_000 } })
    expect(loan.status, loan.text).toBe(200)
    ids.push(loan.body.id)
  }
  return ids
}

/** Posts repayments of 1 on each loan, in turn. */
export async function repayEach(service: TestService, loanIds: readonly string[], times: number): Promise<void> {
  for (let index = 0; index < times; index++)
    for (const id of loanIds) {
      const paid = await service.post(`/v1/loans/${id}/repayments`, { body: { transactionAmount: 1 } })
      expect(paid.status, paid.text).toBe(200)
    }
}

/** Moves the clock of a test by a number of seconds. */
export function wait(service: TestService, seconds: number): void {
  service.clock.set(new Date(service.clock.now() + seconds * 1000).toISOString())
}
