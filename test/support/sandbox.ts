import { operator } from '../../src/services/access/caller.ts'
import { DEMO_SANDBOX } from '../../src/services/organizations/seedDemo.ts'
import type { Answer, TestService } from './service.ts'

/** The test organization of the demonstration. */
export const SANDBOX = 100

/** The command line as the author of what is done in the test organization. */
export const sandboxOperator = operator(SANDBOX, 'test')

/** An event, as far as the tests of the clock read it. */
export interface SandboxEvent {
  readonly id: string
  readonly type: string
  readonly liveMode: boolean
  readonly timestamp: string
  readonly data: { readonly sequence: string; readonly loan?: { readonly id: string } }
}

/** Returns calls as the ADMIN of the test organization of the demonstration. */
export async function sandboxOf(service: TestService) {
  const token = await service.deps.signIn.issueToken(DEMO_SANDBOX.email, DEMO_SANDBOX.password, '127.0.0.1')
  return {
    token,
    get: <Body>(path: string): Promise<Answer<Body>> => service.get<Body>(path, { token }),
    post: <Body>(path: string, body?: object): Promise<Answer<Body>> => service.post<Body>(path, { token, body }),
    advance: (body: object) => service.post('/v1/test-clock/advance', { token, body }),
    /** Lends to a customer of its own. @returns the loan's number */
    async lend(externalId: string, productId: number, principal = 100_000): Promise<string> {
      await service.post('/v1/customers', { token, body: { externalId } })
      const body = { customerId: externalId, productId, principal, externalId: `loan-${externalId}` }
      return (await service.post<{ id: string }>('/v1/loans', { token, body })).body.id
    },
    /** Reads all events, in their order. */
    async events(): Promise<readonly SandboxEvent[]> {
      const path = '/v1/events?rows=1000'
      return (await service.get<{ items: readonly SandboxEvent[] }>(path, { token })).body.items
    },
  }
}

export type Sandbox = Awaited<ReturnType<typeof sandboxOf>>
