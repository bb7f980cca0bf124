import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sequencerJob } from '../../../src/services/events/sequencer.ts'
import { drain } from '../../../src/services/jobs/job.ts'
import { walk } from '../../support/cursors.ts'
import { startSequencer } from '../../support/jobs.ts'
import { within } from '../../support/patience.ts'
import { silent } from '../../support/quiet.ts'
import { startService, type TestService } from '../../support/service.ts'

// A receiver that starts in the middle of the day: a cursor, then the lists, then the events (docs/events.md).

let service: TestService
let other: TestService
beforeAll(async () => {
  service = await startService()
  other = await service.another()
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
})
afterAll(async () => {
  await other.close()
  await service.close()
})

type Loan = Record<string, unknown> & { readonly id: string; readonly repaymentSchedule?: unknown }

interface Feed {
  readonly items: readonly { readonly data: { loanVersion: number; loan?: Loan } }[]
  readonly next: string
  readonly hasMore: boolean
}

/** Makes loans, pays them off and takes payments back, by both instances, until it is stopped. */
function startWriters(loans: string[]) {
  let isStopped = false
  const write = async (of: TestService, seed: number) => {
    for (let turn = seed; !isStopped; turn += 7) {
      const loan = loans[turn % loans.length]!
      const { body: paid } = await of.post(`/v1/loans/${loan}/repayments`, { body: { transactionAmount: 100 + turn } })
      if (turn % 5 === 0)
        await of.post(`/v1/loans/${loan}/repayments/${paid.id}/reverse`, { token: of.tokens.operator })
      if (turn % 3 === 0) loans.push(await lend(of))
    }
  }
  const writing = [write(service, 1), write(service, 2), write(other, 3), write(other, 4)]
  return async () => {
    isStopped = true
    await Promise.all(writing)
  }
}

const lend = async (of: TestService): Promise<string> =>
  (await of.post('/v1/loans', { body: { customerId: 'asha', productId: 3, principal: 1_000 } })).body.id

it('has each loan as the book has it, whatever changed while it read the lists', {
  timeout: within(60_000),
}, async () => {
  const jobs = [service, other].map(({ deps }) => startSequencer(deps, silent))
  const loans = [await lend(service), await lend(other)]
  const stop = startWriters(loans)
  await pause(300)

  const copy = new Map<string, { version: number; loan: Loan }>()
  let { next } = (await service.get<Feed>('/v1/events?after=now')).body
  const steps = await walk<Loan>(
    (path) => service.get<{ items: readonly Loan[] }>(path),
    '/v1/loans?rows=20&schedule=false',
  )
  for (const loan of steps.flat()) copy.set(loan.id, { version: 0, loan })
  await pause(300)
  await stop()
  await Promise.all(jobs.map((job) => job.stop()))
  // All that the writers changed is in the feed: how long sealing it takes is of the machine.
  await drain(sequencerJob(service.deps))

  const follow = async () => {
    const { status, body } = await service.get<Feed>(`/v1/events?after=${next}&rows=50`)
    expect(status, JSON.stringify(body)).toBe(200)
    for (const { data } of body.items) {
      if (!data.loan || data.loanVersion < (copy.get(data.loan.id)?.version ?? 0)) continue
      copy.set(data.loan.id, { version: data.loanVersion, loan: data.loan })
    }
    next = body.next
    return body.hasMore
  }
  while (await follow());

  expect(copy.size).toBe(loans.length)
  for (const [id, { loan }] of copy) {
    const { body: read } = await service.get<Loan>(`/v1/loans/${id}`)
    const { repaymentSchedule: _, repaymentHistory: __, delinquency: ___, ...now } = read
    expect(loan).toEqual(now)
  }
})
