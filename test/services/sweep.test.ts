import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startSweeper, sweepAll } from '../../src/services/sweep.ts'
import { FIRST_DAY, startService, type TestService } from '../support/service.ts'

let service: TestService
let other: TestService
beforeAll(async () => {
  service = await startService()
  other = await service.another()
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
})
afterAll(() => service.close())
beforeEach(async () => {
  service.clock.set('2026-07-01')
  await sweepAll(service.deps)
  service.clock.set(FIRST_DAY)
})

const lend = async (productId = 2): Promise<string> =>
  (await service.post('/v1/loans', { body: { customerId: 'asha', productId, principal: 100_000 } })).body.id
const read = async (id: string) => (await service.get(`/v1/loans/${id}`)).body
const stored = async (id: string) =>
  (await service.deps.db.pool.query('SELECT * FROM loan WHERE id = $1', [id])).rows[0]

describe('the sweep persists what time does by itself', () => {
  it('penalty and overdue mark, at the instant that the loan names, and nothing before', async () => {
    const id = await lend()
    expect((await stored(id)).next_change_at).toBe(Date.parse('2026-02-28T09:30:00+03:00'))
    service.clock.set('2026-02-28T09:29:59.999+03:00')
    expect(await sweepAll(service.deps)).toBe(0)
    service.clock.set('2026-02-28T09:30:00+03:00')
    expect(await sweepAll(service.deps)).toBe(1)
    expect(await stored(id)).toMatchObject({ penalty_outstanding: 10_000_00n, overdue_since: null })
    service.clock.set('2026-03-01T00:00:00+03:00')
    expect(await sweepAll(service.deps)).toBe(1)
    expect(await stored(id)).toMatchObject({
      total_overdue: 120_000_00n,
      overdue_since: '2026-03-01',
      next_change_at: null,
    })
    expect(await sweepAll(service.deps)).toBe(0)
  })

  it('with the sweep stopped, answers are the same', async () => {
    const [swept, unswept] = [await lend(), await lend()]
    for (const moment of ['2026-02-28T09:30:00+03:00', '2026-03-01T00:00:00+03:00', '2026-04-01']) {
      service.clock.set(moment)
      await service.deps.db.pool.query("UPDATE loan SET next_change_at = 'infinity' WHERE id = $1", [unswept])
      await sweepAll(service.deps)
      const { id: _, accountNo: __, ...one } = await read(swept)
      const { id: ___, accountNo: ____, ...same } = await read(unswept)
      expect(one).toEqual(same)
    }
    await service.deps.db.pool.query('UPDATE loan SET next_change_at = NULL WHERE id = $1', [unswept])
  })

  it('two instances at once: each loan is saved once, and the audit trail has one row of it', async () => {
    const ids = []
    for (let index = 0; index < 250; index++) ids.push(await lend())
    service.clock.set('2026-02-28T12:00:00+03:00')
    const counts = await Promise.all([sweepAll(service.deps), sweepAll(other.deps), sweepAll(service.deps)])
    expect(counts.reduce((total, count) => total + count)).toBe(250)
    const audits = await service.deps.db.pool.query(
      `SELECT count(*) AS rows, count(DISTINCT entity_id) AS loans FROM audit_entry
       WHERE action = 'time' AND entity_id = ANY($1) AND at = $2`,
      [ids, new Date(service.clock.now()).toISOString()],
    )
    expect(audits.rows).toEqual([{ rows: 250n, loans: 250n }])
  })

  it('goes on past loans whose rows are damaged, more than a round has, and tells each once', async () => {
    const damaged: string[] = []
    for (let index = 0; index < 110; index++) damaged.push(await lend())
    service.clock.set('2026-01-31T09:31:00+03:00')
    const sound = await lend()
    const { pool } = service.deps.db
    await pool.query('CREATE TABLE lost AS SELECT * FROM loan_period WHERE loan_id = ANY ($1)', [damaged])
    await pool.query('DELETE FROM loan_period WHERE loan_id = ANY ($1)', [damaged])
    service.clock.set('2026-02-28T12:00:00+03:00')
    const told: (string | undefined)[] = []
    const sweeper = startSweeper(service.deps, { error: (context) => told.push((context as { loan?: string }).loan) })
    await expect.poll(async () => (await stored(sound)).penalty_outstanding, { timeout: 10_000 }).toBe(10_000_00n)
    await sweeper.stop()
    expect(told.toSorted()).toEqual(damaged.toSorted())
    await pool.query('INSERT INTO loan_period SELECT * FROM lost')
    expect(await sweepAll(service.deps)).toBe(110)
  })

  it('loses no repayment that arrives meanwhile', async () => {
    const ids = []
    for (let index = 0; index < 120; index++) ids.push(await lend())
    service.clock.set('2026-02-28T12:00:00+03:00')
    const [answers] = await Promise.all([
      Promise.all(ids.map((id) => service.post(`/v1/loans/${id}/repayments`, { body: { transactionAmount: 500 } }))),
      sweepAll(other.deps),
      sweepAll(service.deps),
    ])
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    await sweepAll(service.deps)
    const { rows } = await service.deps.db.pool.query(
      'SELECT DISTINCT total_paid, penalty_outstanding, interest_outstanding FROM loan WHERE id = ANY($1)',
      [ids],
    )
    // 500 went to the penalty of 10,000 or, posted on the due date, to interest: by value date it came before it.
    expect(rows).toEqual([{ total_paid: 500_00n, penalty_outstanding: 10_000_00n, interest_outstanding: 9_500_00n }])
  })
})

describe('the late penalty, whether or not the sweep has run', () => {
  it('is not there at 23:59:59 of the day before, nor a second before dueDateTime, and is from then on', async () => {
    const id = await lend()
    const at = async (moment: string) => {
      service.clock.set(moment)
      const { penaltyOutstanding, totalOutstanding } = await read(id)
      return { penaltyOutstanding, totalOutstanding }
    }
    const without = { penaltyOutstanding: 0, totalOutstanding: 110_000 }
    const withPenalty = { penaltyOutstanding: 10_000, totalOutstanding: 120_000 }
    expect(await at('2026-02-27T23:59:59+03:00')).toEqual(without)
    expect(await at('2026-02-28T09:29:59+03:00')).toEqual(without)
    expect(await at('2026-02-28T09:30:00+03:00')).toEqual(withPenalty)
    expect(await at('2026-02-28T09:30:01+03:00')).toEqual(withPenalty)
  })

  it('is taken back by a repayment dated in time that arrives late, and not by one dated a day late', async () => {
    const [inTime, late] = [await lend(), await lend()]
    service.clock.set('2026-03-20')
    await sweepAll(service.deps)
    const repay = (id: string, transactionDate: string) =>
      service.post(`/v1/loans/${id}/repayments`, { body: { transactionAmount: 110_000, transactionDate } })
    await repay(inTime, '2026-02-28')
    expect(await read(inTime)).toMatchObject({ status: 'Closed (obligations met)', penaltyCharged: 0 })
    await repay(late, '2026-03-01')
    expect(await read(late)).toMatchObject({ status: 'Active', penaltyCharged: 10_000, totalOutstanding: 10_000 })
  })
})
