import { expect } from 'vitest'
import { operator as callerOf } from '../../src/services/access/caller.ts'
import { drain } from '../../src/services/jobs/job.ts'
import { sweepJob } from '../../src/services/loans/sweep.ts'
import { DEMO_OPERATOR } from '../../src/services/organizations/seedDemo.ts'
import { addAccount } from './accounts.ts'
import { startKeeper, startSequencer } from './jobs.ts'
import { anotherLender } from './lenders.ts'
import { quiet } from './quiet.ts'
import { type Answer, startService, type TestService } from './service.ts'

/** A chart over HTTP. */
export interface ChartWire {
  readonly version: number
  readonly inForce: boolean
  readonly countsFrom: string | null
  readonly accounts: readonly { readonly code: string; readonly name: string; readonly type: string }[]
  readonly slots: Readonly<Record<string, string>>
  readonly method: { readonly default: string; readonly products: Readonly<Record<string, string>> }
}

/** A trial balance over HTTP. */
export interface TrialBalanceWire {
  readonly sequence: string
  readonly totalDebit: number
  readonly totalCredit: number
  readonly accounts: readonly {
    readonly code: string
    readonly name: string
    readonly debit: number
    readonly credit: number
    readonly balance: number
  }[]
}

/** A page of the journal over HTTP. */
export interface JournalWire {
  readonly items: readonly {
    readonly id: string
    readonly kind: string
    readonly bookedOn: string
    readonly valueDate: string
    readonly late: boolean
    readonly loanId: string | null
    readonly lines: readonly { readonly account: string; readonly debit: number; readonly credit: number }[]
  }[]
  readonly next?: string
}

const PATH = '/v1/accounting'

/** Starts a service whose journal follows the changes, and calls it as the operator of the demonstration. */
export async function openBooks() {
  const service: TestService = await startService()
  const jobs = [startSequencer(service.deps, quiet), startKeeper(service.deps, quiet)]
  let token = service.tokens.operator
  const lent = async (path: string, body: object): Promise<string> => {
    const answer = await service.post(path, { token, body })
    expect(answer.status, answer.text).toBe(200)
    return answer.body.id
  }
  return {
    service,
    /** Goes to a day, and saves what time has changed by then. */
    at: async (day: string) => {
      service.clock.set(day)
      const { email, password } = DEMO_OPERATOR
      token = await service.deps.signIn.issueToken(email, password, '127.0.0.1')
      await drain(sweepJob(service.deps))
    },
    get: <Body>(path: string, as = token): Promise<Answer<Body>> => service.get<Body>(`${PATH}/${path}`, { token: as }),
    put: <Body>(path: string, body: unknown, as = token): Promise<Answer<Body>> =>
      service.put<Body>(`${PATH}/${path}`, { token: as, body }),
    post: <Body>(path: string, headers: Record<string, string> = {}): Promise<Answer<Body>> =>
      service.post<Body>(`${PATH}/${path}`, { token, headers }),
    customer: (externalId: string) => lent('/v1/customers', { externalId }),
    lend: (customerId: string, principal: number, productId = 1) =>
      lent('/v1/loans', { customerId, productId, principal }),
    pay: (loan: string, transactionAmount: number, transactionDate?: string) =>
      lent(`/v1/loans/${loan}/repayments`, { transactionAmount, transactionDate }),
    end: async () => {
      for (const job of jobs) await job.stop()
      await service.close()
    },
  }
}

export type Books = Awaited<ReturnType<typeof openBooks>>

/** Returns a token of an ADMIN of another lender, 7. */
export async function adminOfAnother(service: TestService): Promise<string> {
  await anotherLender(service, 7, 'KES')
  const [email, password] = ['admin@lender-7.example', 'a long enough secret']
  await addAccount(service.deps, callerOf(7, 'test'), { email, password, roles: ['ADMIN'] })
  return service.deps.signIn.issueToken(email, password, '127.0.0.1')
}
