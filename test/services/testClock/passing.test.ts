import { afterAll, beforeAll, expect, it } from 'vitest'
import { dayAfter } from '../../../src/domain/dates.ts'
import { sequencerJob } from '../../../src/services/events/sequencer.ts'
import { drain } from '../../../src/services/jobs/job.ts'
import { sweepJob } from '../../../src/services/loans/sweep.ts'
import { portfolioJob } from '../../../src/services/portfolio/keepDays.ts'
import { advanceTestClock, type Passing, passTime } from '../../../src/services/testClock/advance.ts'
import { SANDBOX, type Sandbox, sandboxOf, sandboxOperator } from '../../support/sandbox.ts'
import { FIRST_DAY, startService, type TestService } from '../../support/service.ts'

// An advance does what the days would have done (contract 12): the same loans live in the demonstration's live organization,
// whose days pass one by one, and in its test organization, whose clock is advanced over all of them at once.

const LAST_DAY = '2026-07-01'
const PRODUCTS = [1, 2, 3, 4]

let service: TestService
let sandbox: Sandbox
let loans: { live: string; test: string }[]
beforeAll(async () => {
  service = await startService({ EVENTS_KEPT_DAYS: '1000' })
  sandbox = await sandboxOf(service)
  // What is told of a live loan and of one of the test organization is compared to the millisecond.
  service.clock.stand(FIRST_DAY)
  loans = []
  for (const productId of PRODUCTS) {
    const externalId = `of-${productId}`
    await service.post('/v1/customers', { body: { externalId } })
    const body = { customerId: externalId, productId, principal: 100_000 }
    const live = (await service.post<{ id: string }>('/v1/loans', { body })).body.id
    loans.push({ live, test: await sandbox.lend(externalId, productId) })
  }
})
afterAll(() => service.close())

/** Returns what is told of a loan: the event and its content, without what names the loan, the request and the chain. */
async function toldOf(loanId: string, call: { readonly token?: string }) {
  await drain(sequencerJob(service.deps))
  const path = `/v1/events?rows=1000&loanId=${loanId}`
  const { body } = await service.get<{ items: { type: string; timestamp: string; data: Record<string, unknown> }[] }>(
    path,
    call,
  )
  return body.items.map(({ type, timestamp, data: { loan, delinquency, loanVersion } }) => {
    const {
      id: _,
      accountNo: _no,
      externalId: _own,
      customerId: _customer,
      ...figures
    } = loan as Record<string, unknown>
    return { type, timestamp, loanVersion, delinquency, figures }
  })
}

const stateOf = async (loanId: string, call: { readonly token?: string }) => {
  const {
    id: _,
    accountNo: _no,
    externalId: _own,
    customerId: _customer,
    ...state
  } = (await service.get<Record<string, unknown>>(`/v1/loans/${loanId}`, call)).body
  return state
}

it('is told and answered as if the days had passed', async () => {
  await advanceTestClock(service.deps, sandboxOperator, { to: Date.parse(`${LAST_DAY}T09:30:00+03:00`) })
  const keeper = portfolioJob(service.deps)
  for (let day = '2026-01-31'; day <= LAST_DAY; day = dayAfter(day)) {
    if (day !== '2026-01-31') service.clock.stand(`${day}T00:00:00+03:00`)
    await drain(sweepJob(service.deps))
    await drain(keeper)
  }
  service.clock.stand(`${LAST_DAY}T09:30:00+03:00`)
  for (const { live, test } of loans) {
    const [told, toldOfTest] = [await toldOf(live, {}), await toldOf(test, sandbox)]
    expect(told.length).toBeGreaterThan(2)
    expect(toldOfTest).toEqual(told)
    expect(await stateOf(test, sandbox)).toEqual(await stateOf(live, {}))
  }
})

it('goes on where it was given up', async () => {
  const { deps } = service
  const passing = (to: string, until: number): Passing => ({ organizationId: SANDBOX, to: Date.parse(to), until })
  const before = (await sandbox.events()).length
  const to = '2026-10-01T00:00:00+03:00'
  // It is given up at the first day on which something is to be done.
  await expect(passTime(deps, passing(to, 0))).rejects.toMatchObject({ code: 'unavailable', retryAfter: 1 })
  const { now } = (await sandbox.get<{ now: string }>('/v1/test-clock')).body
  expect(now > '2026-07-01' && now < '2026-10').toBe(true)
  await passTime(deps, passing(to, Number.POSITIVE_INFINITY))
  expect((await sandbox.get('/v1/test-clock')).body).toMatchObject({ now: '2026-10-01T00:00:00.000+03:00' })
  await drain(sequencerJob(deps))
  const days = (await sandbox.events()).slice(before).map(({ timestamp }) => timestamp)
  expect(days.length).toBeGreaterThan(0)
  expect(days).toEqual(days.toSorted())
})
