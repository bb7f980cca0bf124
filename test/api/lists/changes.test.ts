import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { drain } from '../../../src/services/jobs/job.ts'
import { sweepJob } from '../../../src/services/loans/sweep.ts'
import { within } from '../../support/patience.ts'
import { aBorrower } from '../../support/recordBodies.ts'
import { type Records, recordsOf } from '../../support/records.ts'
import { type Answer, startService, type TestService } from '../../support/service.ts'
import type { Wire } from '../../support/wire.ts'

// What changed since an instant, in the order of the last change (contract 15).

let service: TestService
let records: Records
beforeAll(async () => {
  service = await startService()
  service.damages('thousands of entries are inserted by SQL, and clocks are turned back')
  records = recordsOf(service)
  service.clock.stand('2026-01-10T08:00:00+03:00')
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
  await records.post('/v1/borrowers', { body: aBorrower })
  for (const externalId of ['l-1', 'l-2', 'l-3'])
    await service.post('/v1/loans', { body: { customerId: 'asha', productId: 2, principal: 10_000, externalId } })
})
afterAll(() => service.close())

const repay = async (loan: string, transactionAmount: number) =>
  (await service.post(`/v1/loans/external/${loan}/repayments`, { body: { transactionAmount } })).body

/** Asks until the walk goes on: it waits for transactions of other databases of the server, of the tests beside this one. */
async function settled(path: string): Promise<Answer> {
  for (;;) {
    const answer = await service.get(path)
    if (answer.status === 200) return answer
    expect([answer.status, answer.body.code]).toEqual([503, 'unavailable'])
    await pause(100)
  }
}

/** Stops the clock: which instants a walk takes in is what these tests are about. */
const at = (time: string) => service.clock.stand(`2026-01-${time}+03:00`)

const ids = ({ items }: Wire<unknown>) => items.map(({ externalId }) => externalId)

/** Repayments stand among rows of another time by up to ten minutes: the times of these tests are further apart. */
describe('updatedSince', () => {
  it('of loans: those that were made or changed, each once, with updatedAt; one that changes comes again', async () => {
    at('11T08:00:00')
    await repay('l-2', 100)
    at('12T08:00:00')
    await repay('l-1', 100)
    await repay('l-2', 100)
    const since = (instant: string, after?: unknown) =>
      service.get(`/v1/loans?updatedSince=${instant}${after === undefined ? '' : `&after=${after}`}`)
    expect(ids((await since('2026-01-10')).body)).toEqual(['l-3', 'l-1', 'l-2'])
    expect(ids((await since('2026-01-11')).body)).toEqual(['l-1', 'l-2'])
    expect(ids((await since('2026-01-12T08:00:00%2B03:00')).body)).toEqual(['l-1', 'l-2'])
    expect(ids((await since('2026-01-12T05:00:00.001Z')).body)).toEqual([])
    const { body } = await since('2026-01-11')
    expect(body.items.map(({ updatedAt }) => updatedAt)).toEqual(Array(2).fill('2026-01-12T08:00:00.000+03:00'))
    expect(body).not.toHaveProperty('total')
    at('13T08:00:00')
    await repay('l-1', 100)
    expect(ids((await since('2026-01-11', body.next)).body)).toEqual(['l-1'])
    expect((await service.get('/v1/loans/external/l-1')).body).toMatchObject({
      createdAt: '2026-01-10T08:00:00.000+03:00',
      updatedAt: '2026-01-13T08:00:00.000+03:00',
    })
  })

  it('of loans, one row at a time and together with a filter', async () => {
    const given: unknown[] = []
    for (let next: unknown, isEmpty = false; !isEmpty; ) {
      const after = next === undefined ? '' : `&after=${next}`
      const { body } = await service.get(`/v1/loans?updatedSince=2026-01-10&status=Active&productId=2&rows=1${after}`)
      given.push(...ids(body))
      next = body.next
      isEmpty = body.items.length === 0
    }
    expect(given).toEqual(['l-3', 'l-2', 'l-1'])
    expect(ids((await service.get('/v1/loans?updatedSince=2026-01-10&status=Overpaid')).body)).toEqual([])
  })

  it('of a loan that time has changed, once the sweep has come', async () => {
    service.clock.stand('2026-02-11T08:00:00+03:00')
    await drain(sweepJob(service.deps))
    const { body } = await service.get('/v1/loans?updatedSince=2026-02-01')
    expect(body.items.map(({ externalId, penaltyOutstanding }) => [externalId, penaltyOutstanding])).toEqual(
      expect.arrayContaining([
        ['l-1', 1_000],
        ['l-2', 1_000],
        ['l-3', 1_000],
      ]),
    )
    service.clock.stand('2026-01-14T08:00:00+03:00')
  })

  it('of customers and borrowers', async () => {
    at('15T08:00:00')
    await records.put('/v1/borrowers/1', { body: { region: 'Arusha' } })
    const { body } = await service.get('/v1/customers?updatedSince=2026-01-15')
    expect(body.items).toMatchObject([
      {
        displayName: 'Mama Asha Stores',
        createdAt: '2026-01-10T08:00:00.000+03:00',
        updatedAt: '2026-01-15T08:00:00.000+03:00',
      },
    ])
    const all = await records.get('/v1/borrowers?updated_since=2026-01-10')
    expect(all.body.items.map(({ region }) => region)).toEqual(['', 'Arusha'])
    at('16T08:00:00')
    await service.post('/v1/customers', { body: { externalId: 'juma' } })
    const next = await records.get(`/v1/borrowers?updated_since=2026-01-10&after=${all.body.next}`)
    expect(next.body.items).toHaveLength(1)
  })

  it('of transactions and repayments: what was posted, and again what was reversed', async () => {
    at('17T08:00:00')
    const first = await repay('l-3', 11)
    await repay('l-3', 12)
    const list = (query: string) => service.get(`/v1/transactions?updatedSince=2026-01-17${query}`)
    const before = (await list('')).body
    expect(before.items.map(({ amount, status }) => [amount, status])).toEqual([
      [11, 'posted'],
      [12, 'posted'],
    ])
    at('18T08:00:00')
    const token = service.tokens.operator
    await service.post(`/v1/loans/external/l-3/repayments/${first.id}/adjust`, {
      body: { transactionAmount: 13 },
      token,
    })
    expect((await list(`&after=${before.next}`)).body.items).toMatchObject([
      {
        id: first.id,
        status: 'reversed',
        createdAt: '2026-01-17T08:00:00.000+03:00',
        updatedAt: '2026-01-18T08:00:00.000+03:00',
      },
      { amount: 13, status: 'posted' },
    ])
    const one = (await list(`&after=${before.next}&rows=1`)).body
    expect((await list(`&after=${one.next}&rows=1`)).body.items).toMatchObject([{ amount: 13 }])
    expect((await list('')).body.items.map(({ amount }) => amount)).toEqual([12, 11, 13])
    expect((await list('&type=Repayment&status=posted')).body.items.map(({ amount }) => amount)).toEqual([12, 13])
    const recorded = (query: string) => records.get(`/v1/repayments?updated_since=2026-01-18${query}`)
    expect((await recorded('')).body.items.map(({ amount }) => amount)).toEqual([13])
    expect((await recorded('&include_reversed=true')).body.items.map(({ amount }) => amount)).toEqual([11, 13])
    const ofLoan = await service.get('/v1/loans/external/l-3/transactions?updatedSince=2026-01-18')
    expect(ofLoan.body.items.map(({ amount }) => amount)).toEqual([11, 13])
    const repayments = await service.get('/v1/loans/external/l-3/repayments?updatedSince=2026-01-18')
    expect([repayments.body.total, repayments.body.items.map(({ amount }) => amount)]).toEqual([2, [13, 11]])
  })

  it('finds its place in a long trail', async () => {
    await service.owner.pool.query(
      `INSERT INTO audit_entry (organization_id, at, action, entity, entity_id)
       SELECT 1, '2025-01-01'::timestamptz + n * interval '1 minute', 'update', 'account', '1'
       FROM generate_series(1, 5000) n`,
    )
    at('20T08:00:00')
    await repay('l-1', 5)
    expect(ids((await service.get('/v1/loans?updatedSince=2026-01-20')).body)).toEqual(['l-1'])
  })

  it('of customers leaves out what was decided of their credit', async () => {
    at('22T08:00:00')
    await service.get('/v1/credit-scorecard/asha')
    expect((await service.get('/v1/customers?updatedSince=2026-01-22')).body.items).toEqual([])
  })

  it('looks at a long trail in steps: an answer may have no item and a next, and the last has none', async () => {
    const add = (from: number, to: number, name: string) =>
      service.owner.pool.query(
        `WITH made AS (
           INSERT INTO customer (organization_id, external_id, status, created_at, updated_at, account_no)
           VALUES (1, '${name}', 'Pending', $1, $1, ${from}) RETURNING id
         ), told AS (
           INSERT INTO audit_entry (organization_id, at, action, entity, entity_id)
           SELECT 1, $1, 'create', 'customer', id::text FROM made
         )
         INSERT INTO audit_entry (organization_id, at, action, entity, entity_id)
         SELECT 1, $1, 'update', 'account', '1' FROM generate_series(${from}::int, ${to}::int)`,
        ['2026-01-23T08:00:00+03:00'],
      )
    await add(100_000, 340_000, 'first')
    await add(400_000, 420_000, 'second')
    const answers: unknown[][] = []
    for (let path: string | undefined = '/v1/customers?status=Pending&updatedSince=2026-01-23'; path; ) {
      const { body }: Answer = await settled(path)
      answers.push(ids(body))
      path = body.next && `/v1/customers?status=Pending&updatedSince=2026-01-23&after=${body.next}`
    }
    expect(answers.flat()).toEqual(['first', 'second'])
    expect(answers.length).toBeGreaterThanOrEqual(4)
    expect(answers.length).toBeLessThan(9)
  })

  it(
    'of one loan with thousands of transactions takes no longer than its trail',
    async () => {
      const { body: loan } = await service.get('/v1/loans/external/l-2')
      await service.owner.pool.query(
        `WITH made AS (
         INSERT INTO loan_entry (organization_id, loan_id, ordinal, place, type, value_date, posted_at, amount)
         SELECT 1, $1, 1000 + n, 1000 + n, 'Repayment', '2026-01-24', $2, 1 FROM generate_series(1, 8000) n RETURNING id
       )
       INSERT INTO audit_entry (organization_id, at, action, entity, entity_id, change)
       SELECT 1, $2, 'Repayment', 'loan', $1::text, json_build_object('posted', json_build_object('id', id::text)) FROM made`,
        [loan.id, '2026-01-24T08:00:00+03:00'],
      )
      // Looked up one by one, the changes of 4,000 entries took twelve seconds, and those of 8,000 more than twice as long.
      const { body } = await records.get(`/v1/repayments?loan_id=${loan.id}&updated_since=2026-01-24&rows=2`)
      expect(body.items).toHaveLength(2)
    },
    within(8_000),
  )
})
