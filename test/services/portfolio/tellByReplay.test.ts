import { afterEach, beforeEach, expect, it } from 'vitest'
import { sequencerJob } from '../../../src/services/events/sequencer.ts'
import { drain } from '../../../src/services/jobs/job.ts'
import { sweepJob } from '../../../src/services/loans/sweep.ts'
import { portfolioJob } from '../../../src/services/portfolio/keepDays.ts'
import { startService, type TestService } from '../../support/service.ts'

// delinquency.changed by policies whose buckets do not follow from the days of one day alone (contract 11.7).

let service: TestService
beforeEach(async () => {
  service = await startService()
})
afterEach(() => service.close())

const at = async (moment: string) => {
  service.clock.set(moment)
  await drain(sweepJob(service.deps))
  await drain(sequencerJob(service.deps))
  await drain(portfolioJob(service.deps))
  await drain(sequencerJob(service.deps))
}

interface Feed {
  readonly items: readonly { readonly data: { readonly delinquency: { readonly bucket: string } } }[]
}

it.each([
  ['materiality', { materiality: { amount: 500 } }],
  ['days of cure', { cureDays: 5 }],
  ['the first day of arrears', { countFrom: 'first_arrears' }],
])('is told by a policy with %s', async (what, more) => {
  service.clock.set('2026-01-31')
  const externalId = what.replaceAll(' ', '-')
  await service.post('/v1/customers', { body: { externalId } })
  const { body: loan } = await service.post('/v1/loans', {
    body: { customerId: externalId, productId: 1, principal: 10_000 },
  })
  const buckets = [
    { name: 'good', fromDays: 0, toDays: 1 },
    { name: 'bad', fromDays: 2 },
  ]
  const body = { buckets, countFrom: 'oldest_unpaid', ...more }
  const set = await service.put('/v1/delinquency-policy', { token: service.tokens.operator, body })
  expect(set.status, set.text).toBe(200)
  // Due on 28 February.
  await at('2026-03-01T00:00:10+03:00')
  await at('2026-03-02T00:00:10+03:00')
  const { body: feed } = await service.get<Feed>(`/v1/events?loanId=${loan.id}&types=delinquency.changed`)
  expect(feed.items.map(({ data }) => data.delinquency)).toMatchObject([
    { bucket: 'bad', daysPastDue: 2, previousBucket: 'good' },
  ])
})
