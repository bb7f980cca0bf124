import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { claimJournal } from '../../../src/db/accounting/keeping.ts'
import { inTransaction } from '../../../src/db/postgres/transaction.ts'
import { SLOTS, type Slot } from '../../../src/domain/accounting/slots.ts'
import { journalJob } from '../../../src/services/accounting/keeper.ts'
import { drain, workRound } from '../../../src/services/jobs/job.ts'
import { noListener } from '../../../src/services/listener.ts'
import { sweepJob } from '../../../src/services/loans/sweep.ts'
import { DEMO_OPERATOR } from '../../../src/services/organizations/seedDemo.ts'
import { keepJournal } from '../../support/journal.ts'
import { anotherLender } from '../../support/lenders.ts'
import { opsOn } from '../../support/ops.ts'
import { startService, type TestService } from '../../support/service.ts'

// Each change of a loan becomes one posting, in the order of the changes (contract 9.1).

let service: TestService
let token: string
beforeAll(async () => {
  service = await startService()
  service.damages('a loan is deleted by SQL')
  await service.post('/v1/customers', { body: { externalId: 'asha' } })
})
afterAll(() => service.close())

const at = async (day: string) => {
  service.clock.set(day)
  token = await service.deps.signIn.issueToken(DEMO_OPERATOR.email, DEMO_OPERATOR.password, '127.0.0.1')
}
beforeEach(() => at('2026-01-31'))

const lend = async (productId = 1, principal = 6_000): Promise<string> =>
  (await service.post('/v1/loans', { token, body: { customerId: 'asha', productId, principal } })).body.id

const post = async (loan: string, path: string, body: Record<string, unknown> = {}) => {
  const { status, body: answer } = await service.post(`/v1/loans/${loan}/${path}`, { token, body })
  expect(status).toBe(200)
  return answer
}

interface Row {
  readonly id: bigint
  readonly sequence: bigint
  readonly kind: string
  readonly value_date: string
  readonly booked_on: string
  readonly transaction_id: bigint | null
  readonly lines: Partial<Record<Slot, number>>
}

/** The postings of a loan, each with the slots that it changed, in major units. */
async function postingsOf(loan: string): Promise<Row[]> {
  await keepJournal(service.deps)
  const { rows } = await service.deps.db.pool.query('SELECT * FROM posting WHERE loan_id = $1 ORDER BY id', [loan])
  return rows.map((row) => ({
    ...row,
    lines: Object.fromEntries(SLOTS.flatMap((slot) => (row[slot] === null ? [] : [[slot, Number(row[slot]) / 100]]))),
  }))
}
const linesOf = async (loan: string) => (await postingsOf(loan)).map(({ kind, lines }) => ({ kind, ...lines }))

describe('the journal', () => {
  it('is made by one of two instances, and the other does not wait for it', async () => {
    const { db } = service.deps
    await anotherLender(service, 7, 'UGX')
    const claim = () => inTransaction(db, (transaction) => claimJournal(transaction, 7))
    const meanwhile = await inTransaction(db, async (transaction) => {
      expect(await claimJournal(transaction, 7)).toMatchObject({ changeId: 0n })
      return claim()
    })
    expect(meanwhile).toBeUndefined()
    expect(await claim()).toMatchObject({ changeId: 0n })
  })

  it('posts a loan, a repayment and its reversal as differences of what the loan contributes', async () => {
    const loan = await lend()
    const { id } = await post(loan, 'repayments', { transactionAmount: 700 })
    await post(loan, `repayments/${id}/reverse`)
    expect(await linesOf(loan)).toEqual([
      { kind: 'disbursement', cash: -6_000, loan_portfolio: 6_000 },
      { kind: 'repayment', cash: 700, loan_portfolio: -100, interest_income: -600 },
      { kind: 'reversal', cash: -700, loan_portfolio: 100, interest_income: 600 },
    ])
  })

  it('numbers postings without a gap, names the event and the transaction, and counts from the value date', async () => {
    const loan = await lend()
    await at('2026-02-10')
    const { id } = await post(loan, 'repayments', { transactionAmount: 100, transactionDate: '2026-02-03' })
    const [first, second] = await postingsOf(loan)
    expect(second).toMatchObject({
      id: first!.id + 1n,
      sequence: first!.sequence + 1n,
      transaction_id: BigInt(id),
      value_date: '2026-02-03',
      booked_on: '2026-02-03',
    })
  })

  it('posts an adjustment to another day on both days: without the original, and with its replacement', async () => {
    const loan = await lend()
    await at('2026-02-20')
    const { id } = await post(loan, 'repayments', { transactionAmount: 700, transactionDate: '2026-02-03' })
    await post(loan, `repayments/${id}/adjust`, { transactionAmount: 700, transactionDate: '2026-02-10' })
    const adjusted = (await postingsOf(loan)).slice(-2)
    expect(
      adjusted.map(({ kind, value_date, transaction_id, lines }) => [
        kind,
        value_date,
        transaction_id === BigInt(id),
        lines,
      ]),
    ).toEqual([
      ['adjustment', '2026-02-03', true, { cash: -700, loan_portfolio: 100, interest_income: 600 }],
      ['adjustment', '2026-02-10', false, { cash: 700, loan_portfolio: -100, interest_income: -600 }],
    ])
    expect((await opsOn(service)('book check')).code).toBe(0)
  })

  it('posts an adjustment of the amount alone as one difference', async () => {
    const loan = await lend()
    const { id } = await post(loan, 'repayments', { transactionAmount: 700 })
    await post(loan, `repayments/${id}/adjust`, { transactionAmount: 500 })
    expect((await linesOf(loan)).at(-1)).toEqual({
      ...{ kind: 'adjustment', cash: -200, loan_portfolio: 100, interest_income: 100 },
    })
  })

  it('posts what time changes on the day that was over, whether the sweep or a payment comes first', async () => {
    const swept = await lend(1)
    const paid = await lend(1)
    await at('2026-03-20')
    await post(paid, 'repayments', { transactionAmount: 50 })
    await drain(sweepJob(service.deps))
    for (const loan of [swept, paid]) {
      const penalties = (await postingsOf(loan)).filter(({ kind }) => kind === 'time')
      // Cash basis: arrears alone move nothing, and a penalty is income when it is paid.
      expect(penalties).toEqual([])
    }
  })

  it('leaves out a loan that is damaged, and posts the others', async () => {
    const [damaged, whole] = [await lend(), await lend()]
    await service.owner.pool.query(`UPDATE audit_entry SET change = '"x"' WHERE entity = 'loan' AND entity_id = $1`, [
      damaged,
    ])
    await service.owner.pool.query('DELETE FROM loan_period WHERE loan_id = $1', [damaged])
    await post(whole, 'repayments', { transactionAmount: 100 })
    expect(await linesOf(whole)).toHaveLength(2)
    expect(await linesOf(damaged)).toEqual([])
    await service.owner.pool.query('DELETE FROM loan WHERE id = $1', [damaged])
  })

  it('is continued by several keepers at once, each change once', async () => {
    const loans = await Promise.all(Array.from({ length: 8 }, () => lend()))
    await Promise.all(
      loans.flatMap((loan) => [1, 2, 3].map((amount) => post(loan, 'repayments', { transactionAmount: amount }))),
    )
    const other = await service.another()
    await Promise.all([keepJournal(service.deps), keepJournal(other.deps), workRound(journalJob(other.deps))])
    await keepJournal(service.deps)
    for (const loan of loans) expect(await postingsOf(loan)).toHaveLength(4)
    const { rows } = await service.deps.db.pool.query(
      'SELECT count(*) AS count, max(id) AS last, count(DISTINCT id) AS distinct FROM posting WHERE organization_id = 1',
    )
    expect(rows[0].count).toBe(rows[0].last)
    expect(rows[0].distinct).toBe(rows[0].last)
  })

  it('is the same where the job begins it anew, and the job tells how many changes it has taken in', async () => {
    await keepJournal(service.deps)
    const postings = async () =>
      (await service.deps.db.pool.query('SELECT loan_id, kind, value_date, sequence FROM posting ORDER BY id')).rows
    const before = await postings()
    await service.owner.pool.query('DELETE FROM posting_day; DELETE FROM posting; DELETE FROM journal')
    let kept = 0
    const listener = {
      ...noListener,
      kept: (changes: number) => {
        kept += changes
      },
    }
    await drain(journalJob({ ...service.deps, listener }))
    expect(kept).toBeGreaterThanOrEqual(new Set(before.map(({ sequence }) => sequence)).size)
    expect(await postings()).toEqual(before)
  })

  it('keeps the sums of the days as the postings are', async () => {
    await keepJournal(service.deps)
    const sums = SLOTS.map(
      (slot) => `SELECT booked_on, value_date, currency, product_id, '${slot}' AS slot,
        sum(greatest(${slot}, 0)) AS debit, sum(greatest(-${slot}, 0)) AS credit
        FROM posting WHERE ${slot} IS NOT NULL AND moved_from IS NULL GROUP BY 1, 2, 3, 4`,
    )
    const { rows } = await service.deps.db.pool.query(`SELECT * FROM (${sums.join(' UNION ALL ')}) AS p
      FULL JOIN posting_day d USING (booked_on, value_date, currency, product_id, slot)
      WHERE p.debit IS DISTINCT FROM d.debit OR p.credit IS DISTINCT FROM d.credit`)
    expect(rows).toEqual([])
  })
})
