import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTotals } from '../../../src/services/book/totals.ts'
import { drain } from '../../../src/services/jobs/job.ts'
import { sweepJob } from '../../../src/services/loans/sweep.ts'
import { opsOn } from '../../support/ops.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
let other: TestService
const lend = async (productId: number, principal: number): Promise<string> =>
  (await service.post('/v1/loans', { body: { customerId: 'asha', productId, principal } })).body.id
const repay = (id: string, transactionAmount: number) =>
  service.post(`/v1/loans/${id}/repayments`, { body: { transactionAmount } })

beforeAll(async () => {
  service = await startService()
  service.damages('an organization is inserted by SQL')
  other = await service.another()
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
})
afterAll(() => service.close())

describe('the totals of the book', () => {
  it('by product, with the portfolio at risk; by day, with what was disbursed and collected', async () => {
    const totals = createTotals(service.deps)
    await drain(totals.job)
    const [early, closed] = [await lend(1, 100_000), await lend(1, 50_000)]
    await lend(3, 60_000)
    await repay(closed, 55_000)
    service.clock.set('2026-02-10')
    await repay(early, 10_000)
    await lend(1, 20_000)
    // The first two are due on 28 February, the last on 10 March: on 29 March, 29 and 19 days overdue.
    service.clock.set('2026-03-29')
    await drain(sweepJob(service.deps))
    await drain(totals.job)
    const [book] = totals.latest()
    const flat = { name: 'Flat 10% monthly', currency: 'TZS', productId: 1 }
    expect(book!.products.toSorted((a, b) => a.productId! - b.productId!)).toEqual([
      {
        ...flat,
        loans: 2,
        overdueLoans: 2,
        outstanding: 122_000_00n,
        principal: 120_000_00n,
        overdue: 122_000_00n,
        atRisk: [120_000_00n, 0n, 0n, 0n],
      },
      {
        productId: 3,
        name: 'Flat 5% × 6 months',
        currency: 'TZS',
        loans: 1,
        overdueLoans: 1,
        outstanding: 78_000_00n,
        principal: 60_000_00n,
        overdue: 13_000_00n,
        atRisk: [60_000_00n, 0n, 0n, 0n],
      },
    ])
    expect(book!.days).toEqual([])

    service.clock.set('2026-03-30')
    await drain(totals.job)
    const atRisk = (index: number) =>
      totals.latest()[0]!.products.reduce((sum, { atRisk: all }) => sum + all[index]!, 0n)
    expect([atRisk(0), atRisk(1), atRisk(2)]).toEqual([180_000_00n, 0n, 0n])
    await repay(early, 3_000)
    await lend(4, 12_000)
    service.clock.set('2026-03-31')
    await repay(early, 4_000)
    await drain(totals.job)
    // PAR 30 has loans that are overdue for more than 30 days.
    expect([atRisk(1), atRisk(2)]).toEqual([153_000_00n, 0n])
    expect(totals.latest()[0]!.days.toSorted((a, b) => a.day.localeCompare(b.day))).toEqual([
      { day: '2026-03-30', currency: 'TZS', disbursed: 12_000_00n, collected: 3_000_00n },
      { day: '2026-03-31', currency: 'TZS', disbursed: 0n, collected: 4_000_00n },
    ])
  })

  it('collections count on their value date, and no longer once they are reversed', async () => {
    service.clock.set('2026-03-31T13:00:00+03:00')
    const totals = createTotals(service.deps)
    const collected = async (day: string) => {
      await drain(totals.job)
      return totals.latest()[0]!.days.find((one) => one.day === day)?.collected ?? 0n
    }
    const id = await lend(3, 60_000)
    service.clock.set('2026-04-01T09:00:00+03:00')
    expect(await collected('2026-03-31')).toBe(4_000_00n)
    const repaid = async (transactionAmount: number, transactionDate: string): Promise<string> =>
      (await service.post(`/v1/loans/${id}/repayments`, { body: { transactionAmount, transactionDate } })).body.id
    const late = await repaid(1_500, '2026-03-31')
    await repaid(200, '2026-04-01')
    service.clock.set('2026-04-01T09:05:00+03:00')
    expect([await collected('2026-03-31'), await collected('2026-04-01')]).toEqual([5_500_00n, 200_00n])
    // What has not changed is not summed up again.
    await service.owner.pool.query(`UPDATE loan_entry SET amount = amount + 1 WHERE value_date = '2026-03-30'`)
    service.clock.set('2026-04-01T10:00:00+03:00')
    const reversal = await service.post(`/v1/loans/${id}/repayments/${late}/reverse`, {
      token: service.tokens.operator,
    })
    expect(reversal.status).toBe(200)
    service.clock.set('2026-04-01T10:05:00+03:00')
    expect([await collected('2026-03-30'), await collected('2026-03-31')]).toEqual([3_000_00n, 4_000_00n])
    await service.owner.pool.query(`UPDATE loan_entry SET amount = amount - 1 WHERE value_date = '2026-03-30'`)
  })

  it('are computed by one instance for all, and not before they are old', async () => {
    service.clock.stand('2026-04-01')
    const [one, two] = [createTotals(service.deps), createTotals(other.deps)]
    await Promise.all([drain(one.job), drain(two.job)])
    await Promise.all([drain(one.job), drain(two.job)])
    const before = one.latest()
    expect(two.latest()).toEqual(before)
    await lend(1, 5_000)
    await drain(one.job)
    expect(one.latest()).toEqual(before)
    service.clock.stand('2026-04-01T12:01:00+03:00')
    await drain(two.job)
    await drain(one.job)
    expect(one.latest()[0]!.computedAt).toBe(service.clock.machineNow())
    expect(two.latest()).toEqual(one.latest())
    expect(one.latest()[0]!.days.find(({ day }) => day === '2026-04-01')?.disbursed).toBe(5_000_00n)
  })

  it('an import of earlier days shows in them', async () => {
    service.clock.set('2026-04-01T13:00:00+03:00')
    const totals = createTotals(service.deps)
    await drain(totals.job)
    const folder = await mkdtemp(join(tmpdir(), 'mkopo-figures-'))
    const file = join(folder, 'loans.ndjson')
    const imported = { customerId: 'asha', productId: 1, principal: 7_000, disbursedAt: '2026-03-20T09:00:00+03:00' }
    await writeFile(file, JSON.stringify({ externalId: 'imported', ...imported }))
    const { code, out, err } = await opsOn(service)(`book import --loans ${file} --yes`)
    expect(code, out + err).toBe(0)
    await rm(folder, { recursive: true })
    await drain(totals.job)
    const days = totals.latest()[0]!.days
    expect(days).toContainEqual({ day: '2026-03-20', currency: 'TZS', disbursed: 7_000_00n, collected: 0n })
    expect(days).toContainEqual({ day: '2026-03-30', currency: 'TZS', disbursed: 12_000_00n, collected: 3_000_00n })
  })

  it('an organization without loans has them, too', async () => {
    await service.deps.db.pool.query(
      "INSERT INTO organization (id, name, currency, created_at) VALUES (77, 'Other', 'KES', now())",
    )
    service.clock.set('2026-04-02')
    const totals = createTotals(service.deps)
    await drain(totals.job)
    expect(totals.latest().find(({ organizationId }) => organizationId === 77)).toMatchObject({
      products: [],
      days: [],
    })
  })
})
