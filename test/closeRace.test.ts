import { afterAll, beforeAll, expect, it } from 'vitest'
import { LendingError } from '../src/domain/errors.ts'
import { operator } from '../src/services/access/caller.ts'
import { closePeriod } from '../src/services/accounting/closePeriod.ts'
import { closingText } from '../src/services/accounting/trialBalance.ts'
import { drain } from '../src/services/jobs/job.ts'
import { sweepJob } from '../src/services/loans/sweep.ts'
import { DEMO_PARTNER } from '../src/services/organizations/seedDemo.ts'
import { startKeeper, startSequencer } from './support/jobs.ts'
import { keepJournal } from './support/journal.ts'
import { sealAndBeKilled } from './support/killedSequencers.ts'
import { opsOn } from './support/ops.ts'
import { quiet } from './support/quiet.ts'
import { startService, type TestService } from './support/service.ts'

// Repayments of a whole year arrive while its twelve months are closed, on two instances (contract 9.2, 9.3).

/** Repayments that race the closes, and as many again that come after them; `npm run try -- closes` sends 10,000. */
const REPAYMENTS = Number(process.env.MKOPO_REPAYMENTS ?? 600)
const LOANS = 40
/** Processes that seal and keep the journal, each of which is killed. */
const KILLS = Math.ceil(REPAYMENTS / 300)
/** Requests of an instance at once. */
const AT_ONCE = 16

const months = Array.from({ length: 12 }, (_, index) => `2026-${String(index + 1).padStart(2, '0')}`)
const lastDays = months.map((month) => new Date(Date.UTC(2026, Number(month.slice(5)), 0)).toISOString().slice(0, 10))

let instances: TestService[]
let jobs: { stop(): Promise<void> }[]
let token: string
const loans: string[] = []

beforeAll(async () => {
  const service = await startService()
  instances = [service, await service.another()]
  const at = async (day: string) => {
    service.clock.set(day)
    token = await service.deps.signIn.issueToken(DEMO_PARTNER.email, DEMO_PARTNER.password, '127.0.0.1')
  }
  await at('2026-01-01')
  await service.post('/v1/customers', { token, body: { externalId: 'asha' } })
  for (let index = 0; index < LOANS; index++) {
    const body = { customerId: 'asha', productId: 3, principal: 100_000 }
    loans.push((await service.post<{ id: string }>('/v1/loans', { token, body })).body.id)
  }
  await at('2027-01-02')
  await drain(sweepJob(service.deps))
  // A whole year of changes is sealed first: for as long as one round of it takes, another sequencer waits for the first head.
  await keepJournal(service.deps)
  jobs = instances.flatMap(({ deps }) => [startSequencer(deps, quiet), startKeeper(deps, quiet)])
})
afterAll(async () => {
  for (const job of jobs) await job.stop()
  await instances[0]!.close()
})

/** Days of the year, each loan's in another order. */
const dayOf = (index: number) => new Date(Date.UTC(2026, 0, 1 + ((index * 7919) % 365))).toISOString().slice(0, 10)

/** Posts repayments on all instances at once; each must be accepted. */
async function repay(count: number, from: number): Promise<void> {
  let next = from
  const worker = async (instance: TestService) => {
    while (next < from + count) {
      const index = next++
      const body = { transactionAmount: 1, transactionDate: dayOf(index), idempotencyKey: `r-${index}` }
      const { status, text } = await instance.post(`/v1/loans/${loans[index % LOANS]}/repayments`, { token, body })
      expect(status, text).toBe(200)
    }
  }
  await Promise.all(instances.flatMap((instance) => Array.from({ length: AT_ONCE }, () => worker(instance))))
}

/** Closes a month, again as long as the journal has not come to the last changes: that is refused as what will do later. */
async function closeWhenSealed(instance: TestService, month: string): ReturnType<typeof closePeriod> {
  for (;;)
    try {
      return await closePeriod(instance.deps, operator(1, 'test'), month)
    } catch (error) {
      if (!(error instanceof LendingError && error.code === 'unavailable')) throw error
    }
}

const texts = () => Promise.all(lastDays.map((day) => closingText(instances[0]!.deps.db, 1, day)))

it(`of ${REPAYMENTS} repayments that race twelve closes, each is in one month, none is refused, and no closed month changes`, async () => {
  const [one, other] = instances as [TestService, TestService]
  const closes = async () => {
    const closed = []
    for (const [index, month] of months.entries())
      closed.push(await closeWhenSealed(index % 2 === 0 ? one : other, month))
    return closed
  }
  let isOver = false
  const killing = sealAndBeKilled(one.url, KILLS, () => isOver)
  const racing = repay(REPAYMENTS, 0)
  const closed = await closes()
  const before = await texts()
  await racing
  await repay(REPAYMENTS, REPAYMENTS)
  isOver = true
  const kills = await killing
  await keepJournal(one.deps)
  expect(await texts()).toEqual(before)

  const { rows } = await one.deps.db.pool.query<{ booked: string; late: bigint; count: bigint }>(
    `SELECT to_char(p.booked_on, 'YYYY-MM') AS booked, count(*) AS count, count(*) FILTER (WHERE p.booked_on > p.value_date) AS late
     FROM loan_entry e LEFT JOIN posting p ON p.organization_id = e.organization_id AND p.transaction_id = e.id
     GROUP BY 1 ORDER BY 1`,
  )
  const inMonths = rows.map(({ booked, count }) => [booked, Number(count)] as const)
  expect(inMonths.reduce((sum, [, count]) => sum + count, 0)).toBe(2 * REPAYMENTS)
  expect(inMonths.every(([booked]) => booked === '2027-01' || months.includes(booked))).toBe(true)
  expect(Number(rows.at(-1)?.late)).toBeGreaterThanOrEqual(REPAYMENTS)

  // Each close is between the repayments before it and those after it, in the one order of the sequence.
  const { rows: wrong } = await one.deps.db.pool.query(
    `SELECT p.id FROM posting p JOIN accounting_period c ON p.booked_on < c.month + interval '1 month'
     WHERE p.sequence > c.close_sequence`,
  )
  expect(wrong).toEqual([])
  expect(closed.map(({ month }) => month)).toEqual(months)
  const { code, json } = await opsOn(one)('book check --json')
  expect({ code, differences: json.differences }).toEqual({ code: 0, differences: [] })
  console.log(`${2 * REPAYMENTS} repayments, 12 closes, ${kills} keepers killed`)
})
