import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { within } from '../../support/patience.ts'
import { aBasicLoan, aBorrower, anExtendedLoan, aRepayment } from '../../support/recordBodies.ts'
import type { RecordId } from '../../support/recordIds.ts'
import { type Records, recordsOf } from '../../support/records.ts'
import { startService, type TestService } from '../../support/service.ts'

let service: TestService
let records: Records
beforeAll(async () => {
  service = await startService()
  service.damages('10,000 customers are inserted by SQL')
  records = recordsOf(service)
})
afterAll(() => service.close())

/** The median of a few runs, in milliseconds: one may meet somebody else's work. */
async function timed(work: () => Promise<{ status: number }>, runs = 5): Promise<number> {
  const times = []
  for (let run = 0; run < runs; run++) {
    const before = performance.now()
    expect((await work()).status).toBe(200)
    times.push(performance.now() - before)
  }
  return times.sort((a, b) => a - b)[runs >> 1]!
}
const print = (what: string, ms: number) => console.info(`${what}: ${ms.toFixed(1)} ms`)

/** 100,000 where the figures are wanted; the order of a tenth of them is as good. */
const MANY = Number(process.env.BORROWERS ?? 10_000)

describe('many borrowers', () => {
  beforeAll(async () => {
    const { pool } = service.owner
    // Ids in no order, as a client's own are.
    await pool.query(
      `INSERT INTO customer (organization_id, id, status, business_name, created_at, updated_at, account_no)
       SELECT 1, (n * 7919::bigint) % 1000003 * 10 + 100, 'Active', 'Shop ' || n, now(), now(), 1000 + n FROM generate_series(1, $1::int) n`,
      [MANY],
    )
    // The tests' server commits lazily: what is not yet on disk cannot be marked as visible to all.
    await pool.query('CHECKPOINT')
    await pool.query('VACUUM ANALYZE customer')
  })

  it('page by page: each exactly once, while others are being created', { timeout: within(300_000) }, async () => {
    const page = async (number: number) => (await records.get(`/v1/borrowers?page=${number}`)).body
    const { total } = await page(1)
    let done = false
    let made = 0
    const creating = (async () => {
      // Small ids, large ids: wherever an order by id would put them.
      for (; !done; made++) {
        const id = made % 2 === 0 ? 1 + made / 2 : 9_000_000_000 + made
        await records.post('/v1/borrowers', { body: { ...aBorrower, id } })
      }
    })()
    const met = new Map<RecordId, number>()
    let last = 0
    for (let number = 1; number * 100 < total + 100; number++) {
      const { items, total: now } = await page(number)
      for (const { id } of items) met.set(id, (met.get(id) ?? 0) + 1)
      expect(now).toBeGreaterThanOrEqual(last)
      last = now
    }
    done = true
    await creating
    expect(made).toBeGreaterThan(10)
    expect([...met.values()].filter((times) => times !== 1)).toEqual([])
    const { rows } = await service.deps.db.pool.query<{ id: bigint }>(
      "SELECT id FROM customer WHERE business_name LIKE 'Shop %'",
    )
    expect(rows.filter(({ id }) => !met.has(Number(id)))).toEqual([])
  })

  it('the first page, the last, and one in between (the times are printed, not judged)', async () => {
    const { total } = (await records.get('/v1/borrowers?rows=1')).body
    const pages = Math.ceil(total / 100)
    const time = (page: number) => timed(() => records.get(`/v1/borrowers?page=${page}`), 11)
    await time(1)
    const [first, middle, last] = [await time(1), await time(pages >> 1), await time(pages)]
    print('first page', first)
    print('middle page', middle)
    print('last page', last)
  })
})

describe('a loan of 730 days and 2,000 repayments', () => {
  it('is booked, changed and read (the times are printed, not judged)', async () => {
    await records.post('/v1/borrowers', { body: { ...aBorrower, id: 77 } })
    let loan_id = 0
    const body = {
      ...anExtendedLoan,
      borrower_id: 77,
      loan_principal_amount: 1_000_000,
      loan_interest: 0.05,
      loan_interest_period: 'Day',
      loan_duration_period: 'Days',
      loan_duration: 730,
      loan_payment_scheme_id: 6,
      loan_num_of_repayments: 2000,
    }
    const booked = await timed(() => records.post('/v1/loans', { body: { ...body, loan_id: ++loan_id } }))
    const changed = await timed(() => {
      const principal_amount = 1_000_000 + Math.round(performance.now())
      return records.put('/v1/loans/1', { body: { principal_amount } })
    })
    const read = await timed(() => service.get('/v1/loans/1'))
    expect((await service.get('/v1/loans/1')).body.repaymentSchedule).toHaveLength(2000)
    print('booking 2,000 instalments', booked)
    print('agreeing them again', changed)
    print('reading them in the partner style', read)
  })

  it('with 2,000 repayments posted: the next one, the list and the update', async () => {
    await records.post('/v1/loans', { body: { ...aBasicLoan, borrower_id: 77, loan_id: 99, principal_amount: 9_000 } })
    let repayment_id = 0
    const post = () => {
      const told = { ...aRepayment, repayment_id: ++repayment_id, loan_id: 99, amount: 1 }
      return records.post('/v1/repayments', { body: told })
    }
    const answers = await Promise.all(Array.from({ length: 2000 }, post))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const next = await timed(post)
    const listed = await timed(() => records.get('/v1/repayments?loan_id=99&page=20'))
    const changed = await timed(() => {
      const principal_amount = 9_000 + Math.round(performance.now())
      return records.put('/v1/loans/99', { body: { principal_amount } })
    })
    print('one repayment more on 2,000', next)
    print('the last page of them', listed)
    print('agreeing the loan again, with all replayed', changed)
    expect((await service.get('/v1/loans/99')).body.totalPaid).toBe(2005)
  })
})
