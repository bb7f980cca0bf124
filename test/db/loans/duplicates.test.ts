import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { aBasicLoan, aBorrower, aRepayment } from '../../support/recordBodies.ts'
import { recordsOf } from '../../support/records.ts'
import { type Answer, startService, type TestService } from '../../support/service.ts'

// Duplicates are counted in statements: one that fails takes those along that travel with it, and is tried by halves.

let service: TestService
let records: ReturnType<typeof recordsOf>
/** Statements of the pool by name, and those that the database refused. */
let sent: string[]
let failed: unknown[]

beforeAll(async () => {
  service = await startService()
  records = recordsOf(service)
  listen(service)
  sent = []
  failed = []
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
})
afterAll(() => service.close())

/** Notes each statement of an instance, and each that failed. */
function listen({ deps }: TestService): void {
  const { pool } = deps.db
  const query = pool.query.bind(pool) as unknown as (...args: unknown[]) => Promise<pg.QueryResult>
  pool.query = ((...args: unknown[]) => {
    sent.push(String((args[0] as { name?: string }).name ?? args[0]))
    return query(...args).catch((error: unknown) => {
      failed.push(error)
      throw error
    })
  }) as unknown as typeof pool.query
}

beforeEach(() => {
  sent = []
  failed = []
})

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))
const lend = (externalId?: string) =>
  service.post('/v1/loans', { body: { customerId: 'asha', productId: 1, principal: 1_000, externalId } })
/** 200 loans go in five statements at most; on a busy machine four more, because a late one lets another begin. */
const MOST_INSERTS = 5 + 4
const inserts = () => sent.filter((name) => name.startsWith('insert-'))
const tally = (answers: readonly Pick<Answer, 'status'>[]) =>
  Object.fromEntries(
    [...new Set(answers.map(({ status }) => status))]
      .sort()
      .map((status) => [status, answers.filter((one) => one.status === status).length]),
  )
const count = async (table: string, where: string) =>
  Number((await service.deps.db.pool.query(`SELECT count(*) AS n FROM ${table} WHERE ${where}`)).rows[0].n)

describe('new loans with one externalId, among others', () => {
  it('at once: one is made, 409 already_exists for the rest; no statement fails, and the others go with them', async () => {
    const answers = await Promise.all(times(200, (index) => lend(index % 2 === 0 ? 'same' : `other-${index}`)))
    expect(tally(answers)).toEqual({ 200: 101, 409: 99 })
    const refused = answers.filter(({ status }) => status === 409)
    for (const { body } of refused)
      expect(body).toMatchObject({ code: 'already_exists', details: [{ field: 'externalId' }] })
    expect(failed).toEqual([])
    expect(inserts().length).toBeLessThanOrEqual(MOST_INSERTS)
    expect(await count('loan', `external_id = 'same'`)).toBe(1)
    expect(await count('loan_period', `loan_id IN (SELECT id FROM loan WHERE external_id = 'same')`)).toBe(1)
  })

  it('taken long since: the same; no statement fails', async () => {
    const answers = await Promise.all(times(200, (index) => lend(index % 2 === 0 ? 'same' : `more-${index}`)))
    expect(tally(answers)).toEqual({ 200: 100, 409: 100 })
    expect(failed).toEqual([])
    expect(inserts().length).toBeLessThanOrEqual(MOST_INSERTS)
  })

  it('on two instances: one is made, and no statement fails', async () => {
    const other = await service.another()
    listen(other)
    const body = { customerId: 'asha', productId: 1, principal: 1_000 }
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(
        times(100, (index) =>
          // Each sends the same ones, in another order.
          (index % 2 === 0 ? service : other).post('/v1/loans', {
            body: { ...body, externalId: `race-${round}-${index % 2 === 0 ? index >> 1 : 49 - (index >> 1)}` },
          }),
        ),
      )
      expect(tally(answers)).toEqual({ 200: 50, 409: 50 })
    }
    expect(failed).toEqual([])
  })

  it('a loan id of the service that a record system has taken is passed over; no statement fails', async () => {
    await records.post('/v1/borrowers', { body: aBorrower })
    const last = Number((await lend()).body.id)
    for (const loan_id of [last + 1, last + 2])
      expect((await records.post('/v1/loans', { body: { ...aBasicLoan, loan_id } })).status).toBe(200)
    const made = await Promise.all(times(4, () => lend()))
    expect(made.map(({ body }) => Number(body.id)).sort()).toEqual([3, 4, 5, 6].map((more) => last + more))
    expect(failed).toEqual([])
  })
})

describe('customers and borrowers', () => {
  it('100 at once with one externalId: one is made, 409 for the rest; no statement fails', async () => {
    const answers = await Promise.all(times(100, () => service.post('/v1/customers', { body: { externalId: 'zuri' } })))
    expect(tally(answers)).toEqual({ 200: 1, 409: 99 })
    expect(failed).toEqual([])
  })

  it('a customer id of the service that a borrower has taken is passed over; no statement fails', async () => {
    const { body } = await service.post('/v1/customers', { body: { externalId: 'before' } })
    const last = Number(body.id)
    await records.post('/v1/borrowers', { body: { ...aBorrower, id: last + 1 } })
    const next = await service.post('/v1/customers', { body: { externalId: 'after' } })
    expect(Number(next.body.id)).toBe(last + 2)
    expect(failed).toEqual([])
  })

  it('100 borrowers at once with one id: one is made, and answered to all; no statement fails', async () => {
    const answers = await Promise.all(
      times(100, () => records.post('/v1/borrowers', { body: { ...aBorrower, id: 77 } })),
    )
    expect(tally(answers)).toEqual({ 200: 100 })
    expect(failed).toEqual([])
  })
})

describe('loans and repayments of a record system', () => {
  it('100 loans at once with one id, among others: one is made, and answered to all; no statement fails', async () => {
    const answers = await Promise.all(
      times(200, (index) =>
        records.post('/v1/loans', { body: { ...aBasicLoan, loan_id: index % 2 === 0 ? 5_000 : 5_000 + index } }),
      ),
    )
    expect(tally(answers)).toEqual({ 200: 200 })
    expect(failed).toEqual([])
    expect(await count('loan', 'id BETWEEN 5000 AND 5199')).toBe(101)
  })

  it('repayments at once on 50 loans with one id: one is posted, 409 for the rest; no statement fails', async () => {
    const repay = (loan_id: number, repayment_id: number) =>
      records.post('/v1/repayments', { body: { ...aRepayment, loan_id, repayment_id } })
    const loans = times(50, (index) => 5_001 + 2 * index)
    const answers = await Promise.all(loans.map((loan) => repay(loan, 9_000)))
    expect(tally(answers)).toEqual({ 200: 1, 409: 49 })
    for (const { body } of answers.filter(({ status }) => status === 409))
      expect(body).toMatchObject({ code: 'already_exists', details: [{ field: 'repayment_id' }] })

    const again = await Promise.all(loans.flatMap((loan) => [repay(loan, 9_000), repay(loan, 9_000 + loan)]))
    expect(tally(again)).toEqual({ 200: 51, 409: 49 })
    expect(failed).toEqual([])
    expect(await count('loan_entry', 'id BETWEEN 9000 AND 19000')).toBe(51)
  })
})
