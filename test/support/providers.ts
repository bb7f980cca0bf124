import { drain } from '../../src/services/jobs/job.ts'
import { paymentsJob } from '../../src/services/payments/paymentsJob.ts'
import type { Call, TestService } from './service.ts'

/** A payment channel of a test, and the path of its address. */
export interface TestChannel {
  readonly id: string
  readonly path: string
}

/** Opens what a test of messages of providers needs: channels, messages, and what came of them. */
export function providersOf(service: TestService) {
  const operator = { token: service.tokens.operator }
  const decide = () => drain(paymentsJob(service.deps))
  return {
    decide,
    async makeChannel(body: object = {}): Promise<TestChannel> {
      const made = await service.post('/v1/payment-channels', {
        body: { name: 'Wallet', adapter: 'canonical', ...body },
        ...operator,
      })
      if (made.status !== 200) throw new Error(made.text)
      return { id: String(made.body.id), path: new URL(String(made.body.inboundUrl)).pathname }
    },
    /** Sends a message as a provider does: without a token. */
    send: (path: string, raw: string | Buffer, { headers = {}, put = false } = {}) => {
      const call: Call = { raw, token: '', headers: { 'content-type': 'application/json', ...headers } }
      return put ? service.put(path, call) : service.post(path, call)
    },
    async paymentsOf({ id }: TestChannel) {
      await decide()
      return (await service.get(`/v1/payments?channelId=${id}`, operator)).body.items
    },
    async messagesOf({ id }: TestChannel, state = '') {
      await decide()
      const path = `/v1/payment-channels/${id}/messages${state === '' ? '' : `?state=${state}`}`
      return (await service.get(path, operator)).body.items
    },
    async lend(externalId: string, principal = 100_000): Promise<void> {
      const body = { customerId: 'asha', productId: 1, principal, externalId }
      const lent = await service.post('/v1/loans', { body })
      if (lent.status !== 200) throw new Error(lent.text)
    },
  }
}
