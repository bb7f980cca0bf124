import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { BucketTotals } from '../../../src/services/book/totals.ts'
import { createTotals } from '../../../src/services/book/totals.ts'
import { sequencerJob } from '../../../src/services/events/sequencer.ts'
import { drain } from '../../../src/services/jobs/job.ts'
import { sweepJob } from '../../../src/services/loans/sweep.ts'
import { portfolioJob } from '../../../src/services/portfolio/keepDays.ts'
import { startService, type TestService } from '../../support/service.ts'

// The active loans by bucket, as the totals of the book have them for the metrics.

let service: TestService
let minute = 0
const buckets = [
  { name: 'good', fromDays: 0, toDays: 9 },
  { name: 'bad', fromDays: 10 },
]

beforeAll(async () => {
  service = await startService()
  service.damages('policies and figures are deleted and damaged by SQL')
  expect((await service.post('/v1/customers', { body: { externalId: 'asha' } })).status).toBe(200)
  // One instalment each: due on 28 February, and on 10 March.
  await lend(100_000)
  service.clock.set('2026-02-10')
  await lend(50_000)
})
afterAll(() => service.close())
beforeEach(async () => {
  service.clock.set('2026-03-20')
  await service.owner.pool.query('DELETE FROM delinquency_policy')
})

const lend = async (principal: number) => {
  const answer = await service.post('/v1/loans', { body: { customerId: 'asha', productId: 1, principal } })
  expect(answer.status, answer.text).toBe(200)
}
const setPolicy = async (more: object) => {
  const body = { buckets, countFrom: 'oldest_unpaid', ...more }
  const answer = await service.put('/v1/delinquency-policy', { token: service.tokens.operator, body })
  expect(answer.status, answer.text).toBe(200)
}
/** Keeps the portfolio of a day when it begins. */
const keep = async () => {
  await drain(sweepJob(service.deps))
  await drain(sequencerJob(service.deps))
  await drain(portfolioJob(service.deps))
}

/** Sums the book up again, some minutes later, and returns the buckets of the first organization that have loans. */
async function summed(day = '2026-03-20'): Promise<Record<string, readonly [loans: number, principal: bigint]>> {
  minute += 2
  service.clock.set(`${day}T${12 + Math.floor(minute / 60)}:${String(minute % 60).padStart(2, '0')}:00+03:00`)
  await drain(sweepJob(service.deps))
  const totals = createTotals(service.deps)
  await drain(totals.job)
  const found = totals.latest().find(({ organizationId }) => organizationId === 1)!.buckets
  return Object.fromEntries(found.map(({ bucket, loans, principal }: BucketTotals) => [bucket, [loans, principal]]))
}

const NONE = [0, 0n] as const

describe('the totals by bucket', () => {
  it('have each bucket of the policy in force, in its order, also those without loans', async () => {
    const found = await summed()
    expect(Object.keys(found)).toEqual(['current', '1-30', '31-60', '61-90', 'over 90'])
    expect(found).toMatchObject({ current: NONE, '1-30': [2, 150_000_00n], '31-60': NONE })
    await setPolicy({
      buckets: [
        { ...buckets[0], toDays: 15 },
        { ...buckets[1], fromDays: 16 },
      ],
    })
    expect(await summed()).toEqual({ good: [1, 50_000_00n], bad: [1, 100_000_00n] })
  })

  it('by days past due, until the buckets of a policy that needs a replay are told for the first time', async () => {
    await setPolicy({ materiality: { amount: 60_000 } })
    expect(await summed()).toEqual({ good: NONE, bad: [2, 150_000_00n] })
    await keep()
    // The arrears of 55,000 are too small to count.
    expect(await summed()).toEqual({ good: [1, 50_000_00n], bad: [1, 100_000_00n] })
  })

  it('a bucket that was told, and is none of the policy any more, counts by the days', async () => {
    await setPolicy({ materiality: { amount: 60_000 }, buckets: [buckets[0], { ...buckets[1], name: 'lost' }] })
    expect(await summed()).toEqual({ good: [1, 50_000_00n], lost: [1, 100_000_00n] })
  })

  it('are left out for an organization whose policy is damaged, and the other totals are there', async () => {
    await setPolicy({})
    await service.owner.pool.query(`UPDATE delinquency_policy SET rules = '{}'`)
    expect(await summed()).toEqual({})
    await service.owner.pool.query('DELETE FROM delinquency_policy')
    expect(await summed()).toMatchObject({ '1-30': [2, 150_000_00n] })
  })
})
