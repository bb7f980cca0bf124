import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findKeptDay, markStaleDays } from '../../../src/db/portfolio/keptDays.ts'
import { addPeriods, dateIn } from '../../../src/domain/dates.ts'
import { checkBook } from '../../../src/services/book/bookCheck.ts'
import type { Deps } from '../../../src/services/deps.ts'
import { sequencerJob } from '../../../src/services/events/sequencer.ts'
import { drain } from '../../../src/services/jobs/job.ts'
import { readPortfolio } from '../../../src/services/portfolio/portfolio.ts'
import { within } from '../../support/patience.ts'
import { SANDBOX, type Sandbox, sandboxOf } from '../../support/sandbox.ts'
import { startService, type TestService } from '../../support/service.ts'

// Sums of a day are computed in a snapshot, and kept afterwards: a reset may come between the two.

let service: TestService
let sandbox: Sandbox
beforeAll(async () => {
  // Statements wait for a lock here until the test lets go of it, on a machine at load, too.
  service = await startService({}, { lockTimeout: within(60_000) })
  sandbox = await sandboxOf(service)
})
afterAll(() => service.close())

const seal = () => drain(sequencerJob(service.deps))
const reset = () => sandbox.post('/v1/test-clock/reset', {})
const yesterday = () => addPeriods(dateIn(service.deps.config.zone, service.deps.now(SANDBOX)), -1, 'days')
const kept = (day: string, policyVersion: number) =>
  findKeptDay(service.deps.db, { organizationId: SANDBOX, policyVersion, day })
const differences = async () => (await checkBook(service.deps)).differences

const TWO_BUCKETS = [
  { name: 'in time', fromDays: 0, toDays: 0 },
  { name: 'late', fromDays: 1 },
]

async function setPolicy(body: object): Promise<void> {
  const answer = await service.put('/v1/delinquency-policy', { token: sandbox.token, body })
  expect([answer.status, answer.body], answer.text).toMatchObject([200, { version: 1 }])
}

/** Lends, and lets days pass, but keeps none of them. */
async function lendAndPass(externalId: string, days: number): Promise<void> {
  await sandbox.lend(externalId, 2)
  expect(await sandbox.advance({ by: { days } })).toMatchObject({ status: 200 })
  await service.owner.pool.query('DELETE FROM portfolio_day WHERE organization_id = $1', [SANDBOX])
  await seal()
  while (!(await markStaleDays(service.deps.db, SANDBOX, service.deps.now(SANDBOX))));
}

/** Waits until so many statements wait for a lock. */
const untilWaiting = (statements: number) =>
  expect
    .poll(
      async () => {
        const { rows } = await service.owner.pool.query<{ waiting: number }>(
          `SELECT count(*)::int AS waiting FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        )
        return rows[0]!.waiting
      },
      { timeout: within(10_000) },
    )
    .toBe(statements)

/** Returns the deps of the service with a pool that does something before or after the statement of a name. */
function depsWith(place: 'before' | 'after', name: string, act: () => Promise<unknown>): Deps {
  const { deps } = service
  const query = async (asked: { name?: string }) => {
    const isPlace = asked.name === name
    if (isPlace && place === 'before') await act()
    const answer = await deps.db.pool.query(asked as never)
    if (isPlace && place === 'after') await act()
    return answer
  }
  const pool = new Proxy(deps.db.pool, { get: (of, key) => (key === 'query' ? query : Reflect.get(of, key, of)) })
  return { ...deps, db: { ...deps.db, pool } }
}

describe('a question about a past day, while its test organization is emptied', () => {
  it('is answered by the loans of before, and the day is kept for no later question', async () => {
    await lendAndPass('asha', 3)
    const day = yesterday()
    const client = await service.owner.pool.connect()
    await client.query('BEGIN')
    await client.query('SELECT FROM portfolio_head WHERE organization_id = $1 FOR UPDATE', [SANDBOX])
    const emptying = reset()
    await untilWaiting(1)
    const asking = sandbox.get<{ groups: readonly object[] }>(`/v1/portfolio/par?asOf=${day}`)
    await untilWaiting(2)
    await client.query('ROLLBACK')
    client.release()
    const [emptied, asked] = await Promise.all([emptying, asking])
    expect([emptied.status, asked.status, asked.body.groups], asked.text).toMatchObject([200, 200, [{ loans: 1 }]])
    for (const isSealed of [false, true]) {
      if (isSealed) await seal()
      expect(await kept(day, 0), `sealed: ${isSealed}`).toBeUndefined()
      expect(await differences()).toEqual([])
    }
  })

  it.each(['before', 'after'] as const)(
    'leaves no kept day where the reset comes %s the look through the trail',
    async (place) => {
      await lendAndPass('asha', 3)
      const day = yesterday()
      const deps = depsWith(place, 'touched-since', reset)
      const { cells } = await readPortfolio(deps, { organizationId: SANDBOX }, { asOf: day })
      expect(cells).toHaveLength(1)
      for (const isSealed of [false, true]) {
        if (isSealed) await seal()
        expect(await kept(day, 0), `sealed: ${isSealed}`).toBeUndefined()
        expect(await differences()).toEqual([])
      }
    },
  )

  it('leaves no day that is kept by a policy of before, whose number the next policy has again', async () => {
    await setPolicy({ preset: 'cbk' })
    await lendAndPass('asha', 45)
    const day = yesterday()
    const deps = depsWith('after', 'read-newest-delinquency-policy', async () => {
      await reset()
      await setPolicy({ buckets: TWO_BUCKETS, countFrom: 'oldest_unpaid' })
      await lendAndPass('juma', 45)
    })
    const { cells } = await readPortfolio(deps, { organizationId: SANDBOX }, { asOf: day })
    expect(cells).toMatchObject([{ index: 0 }])
    expect(await kept(day, 1)).toBeUndefined()
    expect(await differences()).toEqual([])
  })
})
