import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findKeptDay, markStaleDays } from '../../../src/db/portfolio/keptDays.ts'
import { inSnapshot } from '../../../src/db/postgres/transaction.ts'
import { addPeriods, dateIn } from '../../../src/domain/dates.ts'
import { PRESETS } from '../../../src/domain/delinquency/policy.ts'
import type { Cell } from '../../../src/domain/portfolio/cells.ts'
import { checkBook } from '../../../src/services/book/bookCheck.ts'
import { sequencerJob } from '../../../src/services/events/sequencer.ts'
import { drain } from '../../../src/services/jobs/job.ts'
import { sweepJob } from '../../../src/services/loans/sweep.ts'
import { portfolioJob } from '../../../src/services/portfolio/keepDays.ts'
import { readPortfolio } from '../../../src/services/portfolio/portfolio.ts'
import { readCells } from '../../../src/services/portfolio/positions.ts'
import { within } from '../../support/patience.ts'
import { aBasicLoan, aBorrower } from '../../support/recordBodies.ts'
import { type Records, recordsOf } from '../../support/records.ts'
import { startService, type TestService } from '../../support/service.ts'

// Kept days of a portfolio are a cache: right until a change that is dated on the day or before it, and computed again.

let service: TestService
let records: Records
beforeAll(async () => {
  service = await startService()
  records = recordsOf(service)
  await at('2026-01-10T08:00:00+03:00')
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  for (const n of [1, 2, 3, 4, 5, 6])
    await post('/v1/loans', { customerId: 'asha', productId: 1 + (n % 4), principal: 10_000, externalId: `l-${n}` })
})
afterAll(() => service.close())

const at = async (moment: string) => {
  service.clock.set(moment)
  await drain(sweepJob(service.deps))
  await seal()
}

async function seal(): Promise<void> {
  await drain(sequencerJob(service.deps))
}

const post = async (path: string, body: object) => {
  const answer = await service.post(path, { body })
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}

async function keep(): Promise<void> {
  await drain(portfolioJob(service.deps))
}

const kept = (day: string) => findKeptDay(service.deps.db, { organizationId: 1, policyVersion: 0, day })
const asked = async (asOf: string) => (await readPortfolio(service.deps, { organizationId: 1 }, { asOf })).cells

/** Computes a day without what is kept. */
async function computed(day: string): Promise<readonly Cell[]> {
  const { deps } = service
  const [{ policy }] = PRESETS
  const now = deps.now(1)
  const portfolio = { organizationId: 1, policy, days: [day], knownAt: undefined, now }
  const cells = await inSnapshot(deps.db, (snapshot) =>
    readCells(deps, snapshot, { ...portfolio, today: dateIn(deps.config.zone, now) }),
  )
  return cells.get(day)!
}

const check = () => checkBook(service.deps)

describe('the kept days of a portfolio', () => {
  it('are the last 31, kept when the next day begins, and right until a change is dated on them or before', async () => {
    await at('2026-03-20T00:00:40+03:00')
    await keep()
    expect(await kept('2026-03-20')).toBeUndefined()
    for (let back = 1; back <= 31; back++) {
      const day = addPeriods('2026-03-20', -back, 'days')
      expect(await kept(day), day).toEqual(await computed(day))
    }
    expect(await kept('2026-02-16')).toBeUndefined()
    expect((await kept('2026-03-19'))!.length).toBeGreaterThan(2)
    await post('/v1/loans/external/l-1/repayments', { transactionAmount: 500, transactionDate: '2026-03-10' })
    for (const isSealed of [false, true]) {
      if (isSealed) {
        await seal()
        await keep()
      }
      expect(await kept('2026-03-10'), `sealed: ${isSealed}`).toBeUndefined()
      expect(await kept('2026-03-19')).toBeUndefined()
      expect(await kept('2026-03-09')).toEqual(await computed('2026-03-09'))
    }
  })

  it('are kept again when they are asked for, and the stale ones at the next day’s beginning', async () => {
    expect(await asked('2026-03-15')).toEqual(await computed('2026-03-15'))
    expect(await kept('2026-03-15')).toEqual(await computed('2026-03-15'))
    expect(await kept('2026-03-16')).toBeUndefined()
    await at('2026-03-21T00:00:40+03:00')
    await keep()
    expect(await kept('2026-03-16')).toEqual(await computed('2026-03-16'))
    expect(await kept('2026-03-20')).toEqual(await computed('2026-03-20'))
  })

  it.each([
    [
      'a reversal',
      async () => {
        const { id } = await post('/v1/loans/external/l-2/repayments', {
          transactionAmount: 700,
          transactionDate: '2026-03-12',
        })
        await at('2026-03-22T00:00:40+03:00')
        await keep()
        expect(await kept('2026-03-13')).toBeDefined()
        await service.post(`/v1/loans/external/l-2/repayments/${id}/reverse`, {
          body: {},
          token: service.tokens.operator,
        })
      },
    ],
    [
      'an adjustment to a later date, on the date of the original',
      async () => {
        const { id } = await post('/v1/loans/external/l-3/repayments', {
          transactionAmount: 700,
          transactionDate: '2026-03-12',
        })
        await at('2026-03-23T00:00:40+03:00')
        await keep()
        expect(await kept('2026-03-13')).toBeDefined()
        await service.post(`/v1/loans/external/l-3/repayments/${id}/adjust`, {
          body: { transactionAmount: 600, transactionDate: '2026-03-20' },
          token: service.tokens.operator,
        })
      },
    ],
    [
      'a loan that was lent earlier',
      async () => {
        await at('2026-03-24T00:00:40+03:00')
        await keep()
        await records.post('/v1/borrowers', { body: aBorrower })
        const { status } = await records.post('/v1/loans', { body: { ...aBasicLoan, released_date: '2026-03-12' } })
        expect(status).toBe(200)
      },
    ],
  ])('are made stale by %s', async (_, change) => {
    await change()
    expect(await kept('2026-03-11')).toEqual(await computed('2026-03-11'))
    expect(await kept('2026-03-13')).toBeUndefined()
    await seal()
    await keep()
    expect(await kept('2026-03-13')).toBeUndefined()
  })

  it('are marked in steps, each of which looks at a bounded number of changes', async () => {
    await at('2026-03-25T00:00:40+03:00')
    await keep()
    const repay = (loan: string, transactionDate: string) =>
      post(`/v1/loans/external/${loan}/repayments`, { transactionAmount: 10, transactionDate })
    await repay('l-4', '2026-03-20')
    await repay('l-5', '2026-03-18')
    await repay('l-6', '2026-03-22')
    await seal()
    const stale = async () => {
      const { rows } = await service.owner.pool.query<{ day: string }>(
        'SELECT day FROM portfolio_day WHERE stale_at IS NOT NULL ORDER BY day LIMIT 1',
      )
      return rows[0]?.day
    }
    const step = async () => [await markStaleDays(service.deps.db, 1, service.deps.now(1), 1), await stale()]
    expect(await stale()).toBeUndefined()
    expect(await step()).toEqual([false, '2026-03-20'])
    expect(await step()).toEqual([false, '2026-03-18'])
    expect(await step()).toEqual([true, '2026-03-18'])
  })

  it('are marked without a number of a transaction while the trail is looked through', async () => {
    await at('2026-03-25T09:00:00+03:00')
    await post('/v1/loans/external/l-4/repayments', { transactionAmount: 10, transactionDate: '2026-03-24' })
    await seal()
    const { pool } = service.owner
    const client = await pool.connect()
    await client.query('BEGIN; LOCK TABLE audit_entry')
    const marking = markStaleDays(service.deps.db, 1, service.deps.now(1))
    const waiting = async () => {
      const { rows } = await pool.query<{ number: string | null }>(
        `SELECT backend_xid::text AS number FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%audit_entry%'`,
      )
      return rows
    }
    await expect.poll(waiting, { timeout: within(4_000) }).toEqual([{ number: null }])
    await client.query('ROLLBACK')
    client.release()
    expect(await marking).toBe(true)
    expect(await kept('2026-03-24')).toBeUndefined()
  })

  it('are compared with a replay by book check, which names a day that was changed', async () => {
    await at('2026-03-26T00:00:40+03:00')
    await keep()
    expect((await check()).differences).toEqual([])
    await service.owner.pool.query(
      `UPDATE portfolio_day SET cells = jsonb_set(cells, '{0,6}', '"1"') WHERE day = '2026-03-20'`,
    )
    await service.owner.pool.query(`UPDATE portfolio_day SET cells = '[[1]]' WHERE day = '2026-03-21'`)
    const { differences } = await check()
    expect(differences.map(({ of }) => of)).toEqual(['portfolio of 2026-03-20', 'portfolio of 2026-03-21'])
    expect(differences[0]!.message).toMatch(
      /^the kept sums by version 0 of the policy say .*, and replay says .*; delete/,
    )
    await service.owner.pool.query('DELETE FROM portfolio_day')
    expect((await check()).differences).toEqual([])
  })
})
