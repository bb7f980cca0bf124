import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sequencerJob } from '../../../src/services/events/sequencer.ts'
import { drain } from '../../../src/services/jobs/job.ts'
import { sweepJob } from '../../../src/services/loans/sweep.ts'
import { DEMO_PARTNER } from '../../../src/services/organizations/seedDemo.ts'
import { aBorrower } from '../../support/recordBodies.ts'
import { recordsOf } from '../../support/records.ts'
import { startService, type TestService } from '../../support/service.ts'

// What time changes is told, whether the sweep or a caller comes first (contract 8).

let service: TestService
let next: string
let token: string
beforeAll(async () => {
  service = await startService()
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
})
afterAll(() => service.close())

interface Feed {
  readonly items: readonly { readonly type: string; readonly data: Record<string, unknown> }[]
  readonly next: string
}

const at = async (day: string) => {
  service.clock.set(day)
  token = await service.deps.signIn.issueToken(DEMO_PARTNER.email, DEMO_PARTNER.password, '127.0.0.1')
}

beforeEach(async () => {
  await at('2026-01-31')
  await drain(sequencerJob(service.deps))
  next = (await service.get<Feed>('/v1/events?after=now', { token })).body.next
})

const lend = async (productId: number): Promise<string> =>
  (await service.post('/v1/loans', { token, body: { customerId: 'asha', productId, principal: 6_000 } })).body.id

const pay = (loan: string, transactionAmount: number, transactionDate?: string) =>
  service.post(`/v1/loans/${loan}/repayments`, { token, body: { transactionAmount, transactionDate } })

async function told(): Promise<Feed['items']> {
  await drain(sequencerJob(service.deps))
  return (await service.get<Feed>(`/v1/events?after=${next}`, { token })).body.items
}
const typesTold = async () => (await told()).map(({ type }) => type)

describe('a loan that becomes overdue', () => {
  it('is told by the sweep', async () => {
    await lend(1)
    await at('2026-03-05')
    await drain(sweepJob(service.deps))
    expect(await typesTold()).toEqual(['loan.disbursed', 'loan.overdue'])
  })

  it('is told before the payment that comes before the sweep, with the figures of then', async () => {
    const loan = await lend(1)
    await at('2026-03-05')
    await pay(loan, 100)
    await drain(sweepJob(service.deps))
    const events = await told()
    expect(events.map(({ type }) => type)).toEqual(['loan.disbursed', 'loan.overdue', 'repayment.posted'])
    const [, overdue, paid] = events.map(({ data }) => data)
    expect(overdue).toMatchObject({ loanVersion: 2, accountId: null, loan: { totalOverdue: 6_600, daysOverdue: 5 } })
    expect(paid).toMatchObject({ loanVersion: 3, accountId: 1, loan: { totalOverdue: 6_500 } })
  })

  it('is told before a payment that ends it', async () => {
    const loan = await lend(1)
    await at('2026-03-05')
    await pay(loan, 6_600)
    expect(await typesTold()).toEqual(['loan.disbursed', 'loan.overdue', 'repayment.posted', 'loan.closed'])
  })

  it('is told once, of several payments at once', async () => {
    const loan = await lend(1)
    await at('2026-03-05')
    await Promise.all([100, 200, 300].map((amount) => pay(loan, amount)))
    expect((await typesTold()).filter((type) => type === 'loan.overdue')).toHaveLength(1)
  })

  it('is told again with each further instalment, also together with the penalty', async () => {
    await lend(3)
    await at('2026-03-01')
    await drain(sweepJob(service.deps))
    await at('2026-04-01')
    await drain(sweepJob(service.deps))
    expect(await typesTold()).toEqual(['loan.disbursed', 'loan.overdue', 'loan.overdue'])
  })

  it('is told when a record system books it late', async () => {
    const records = recordsOf(service)
    await at('2026-06-30')
    await records.post('/v1/borrowers', { token, body: { ...aBorrower, id: 70 } })
    const loan = { loan_id: 71, borrower_id: 70, principal_amount: 900, duration: 1, duration_period: 'Months' }
    const body = { ...loan, released_date: '2026-01-31', due_date: '2026-02-28' }
    expect((await records.post('/v1/loans', { token, body })).status).toBe(200)
    expect(await typesTold()).toEqual(['customer.created', 'loan.disbursed', 'loan.overdue'])
  })

  it('is told when its terms are changed before the sweep', async () => {
    const records = recordsOf(service)
    const loan = { loan_id: 81, borrower_id: 70, principal_amount: 900, duration: 1, duration_period: 'Months' }
    await records.post('/v1/loans', { token, body: { ...loan, released_date: '2026-01-31', due_date: '2026-02-28' } })
    await at('2026-03-05')
    await records.put('/v1/loans/81', { token, body: { principal_amount: 1_000 } })
    expect(await typesTold()).toEqual(['loan.disbursed', 'loan.restated', 'loan.overdue'])
  })
})

describe('a late penalty', () => {
  it('is told before the payment that comes before the sweep; each event begins where the one before ended', async () => {
    const loan = await lend(2)
    await at('2026-03-05')
    await pay(loan, 100)
    const events = await told()
    expect(events.map(({ type }) => type)).toEqual([
      ...['loan.disbursed', 'loan.penalty_raised', 'loan.overdue', 'repayment.posted'],
    ])
    expect(events[1]!.data).toMatchObject({ loan: { totalOutstanding: 7_200 }, previous: { totalOutstanding: 6_600 } })
    expect(events[3]!.data).toMatchObject({ loan: { totalOutstanding: 7_100 }, previous: { totalOutstanding: 7_200 } })
  })

  it('is told before the payment dated back that cancels it', async () => {
    const loan = await lend(2)
    await at('2026-03-05')
    await pay(loan, 6_600, '2026-02-20')
    expect(await typesTold()).toEqual([
      ...['loan.disbursed', 'loan.penalty_raised', 'loan.overdue'],
      ...['repayment.posted', 'loan.penalty_cancelled', 'loan.closed'],
    ])
  })
})
