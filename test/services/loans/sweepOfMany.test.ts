import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { drain } from '../../../src/services/jobs/job.ts'
import { sweepJob } from '../../../src/services/loans/sweep.ts'
import { FIRST_DAY, startService, type TestService } from '../../support/service.ts'
import { sweep } from '../../support/sweep.ts'

let service: TestService
let other: TestService
beforeAll(async () => {
  service = await startService()
  service.damages('instalments of loans are taken away by SQL for a while')
  other = await service.another()
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
})
afterAll(() => service.close())
beforeEach(async () => {
  service.clock.set('2026-07-01')
  await sweep(service.deps)
  service.clock.set(FIRST_DAY)
})

const lend = async (): Promise<string> =>
  (await service.post('/v1/loans', { body: { customerId: 'asha', productId: 2, principal: 100_000 } })).body.id
const stored = async (id: string) =>
  (await service.deps.db.pool.query('SELECT * FROM loan WHERE id = $1', [id])).rows[0]

describe('the sweep of many loans', () => {
  it('two instances at once: each loan is saved once, and the audit trail has one row of it', async () => {
    const ids = []
    for (let index = 0; index < 250; index++) ids.push(await lend())
    service.clock.stand('2026-02-28T12:00:00+03:00')
    const counts = await Promise.all([sweep(service.deps), sweep(other.deps), sweep(service.deps)])
    expect(counts.reduce((total, count) => total + count)).toBe(250)
    const audits = await service.deps.db.pool.query(
      `SELECT count(*) AS rows, count(DISTINCT entity_id) AS loans FROM audit_entry
       WHERE action = 'time' AND entity_id = ANY($1) AND at = $2`,
      [ids, new Date(service.clock.now()).toISOString()],
    )
    expect(audits.rows).toEqual([{ rows: 250n, loans: 250n }])
  })

  it('continues past damaged loans, more than a round has, and logs each once', async () => {
    const damaged: string[] = []
    for (let index = 0; index < 110; index++) damaged.push(await lend())
    service.clock.set('2026-01-31T09:31:00+03:00')
    const sound = await lend()
    const { pool } = service.owner
    await pool.query('CREATE TABLE lost AS SELECT * FROM loan_period WHERE loan_id = ANY ($1)', [damaged])
    await pool.query('DELETE FROM loan_period WHERE loan_id = ANY ($1)', [damaged])
    service.clock.set('2026-02-28T12:00:00+03:00')
    const logged: (string | undefined)[] = []
    await drain(sweepJob(service.deps, { error: (context) => logged.push((context as { loan?: string }).loan) }))
    expect((await stored(sound)).penalty_outstanding).toBe(10_000_00n)
    expect(logged.toSorted()).toEqual(damaged.toSorted())
    await pool.query('INSERT INTO loan_period SELECT * FROM lost')
    expect(await sweep(service.deps)).toBe(110)
  })

  it('loses no repayment that arrives meanwhile', async () => {
    const ids = []
    for (let index = 0; index < 120; index++) ids.push(await lend())
    service.clock.set('2026-02-28T12:00:00+03:00')
    const [answers] = await Promise.all([
      Promise.all(ids.map((id) => service.post(`/v1/loans/${id}/repayments`, { body: { transactionAmount: 500 } }))),
      sweep(other.deps),
      sweep(service.deps),
    ])
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    await sweep(service.deps)
    const { rows } = await service.deps.db.pool.query(
      'SELECT DISTINCT total_paid, penalty_outstanding, interest_outstanding FROM loan WHERE id = ANY($1)',
      [ids],
    )
    // 500 went to the penalty of 10,000 or, posted on the due date, to interest: by value date it came before it.
    expect(rows).toEqual([{ total_paid: 500_00n, penalty_outstanding: 10_000_00n, interest_outstanding: 9_500_00n }])
  })
})
