import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lendBy } from '../../api/partner/terms/lent.ts'
import { openRandomBook, type RandomBook } from '../../support/randomBook.ts'
import type { Wire } from '../../support/wire.ts'

// The reporting views of a book of random commands, against what the replay of its loans says.

let book: RandomBook
let loans: Wire[]
beforeAll(async () => {
  book = await openRandomBook(11)
  const { items } = (await book.service.get<{ items: Wire[] }>('/v1/loans?rows=100')).body
  loans = await Promise.all(items.map(async ({ id }) => (await book.service.get(`/v1/loans/${id}`)).body))
})
afterAll(() => book.end())

const rowsOf = async (text: string, values: unknown[] = []) => (await book.service.owner.pool.query(text, values)).rows

describe('the reporting views of a random book', () => {
  it('have each instalment as the schedule has it, and the same of it settled', async () => {
    expect(loans.length).toBeGreaterThan(20)
    let compared = 0
    for (const { id, status, repaymentSchedule } of loans) {
      const rows = await rowsOf('SELECT * FROM reporting_rows.instalments WHERE loan_id = $1 ORDER BY instalment', [id])
      const lines = repaymentSchedule as unknown as Wire[]
      for (const row of rows) {
        const line = lines.find(({ period }) => Number(period) === row.instalment)!
        const place = [id, status, row.instalment]
        expect([...place, row.due_date, Number(row.principal_scheduled), Number(row.interest_scheduled)]).toEqual([
          ...place,
          ...[line.dueDate, line.principalDue, line.interestDue],
        ])
        const isWrittenOff = String(status).includes('written off')
        const settled = isWrittenOff ? line.principalDue : line.principalPaid
        expect([...place, Number(row.principal_settled)]).toEqual([...place, settled])
        expect(Number(row.interest_settled)).toBeGreaterThanOrEqual(Number(line.interestPaid))
        compared++
      }
    }
    expect(compared).toBeGreaterThan(50)
  })

  it('have an outstanding of the loan that the instalments leave', async () => {
    const rows = await rowsOf(`
      SELECT l.loan_id FROM reporting_rows.loans l JOIN (
        SELECT loan_id, sum(principal_scheduled - principal_settled) AS principal, sum(interest_scheduled - interest_settled) AS interest
        FROM reporting_rows.instalments GROUP BY loan_id
      ) AS i USING (loan_id)
      WHERE (l.principal_outstanding, l.interest_outstanding) IS DISTINCT FROM (i.principal, i.interest)`)
    expect(rows).toEqual([])
  })

  it('say nothing of the settled interest where interest runs on after the last due date', async () => {
    const { loan } = await lendBy(book.service, {
      numberOfRepayments: 1,
      repaymentEvery: 30,
      repaymentFrequencyType: 'days',
      interestRate: 0.3,
      ratePer: 'day',
      afterDue: { interest: 'runs_on', maxDays: 31 },
    })
    const rows = await rowsOf('SELECT * FROM reporting_rows.instalments WHERE loan_id = $1', [loan.id])
    expect(rows).toMatchObject([{ principal_settled: '0.00', interest_settled: null, interest_scheduled: '8100.00' }])
  })

  it('have a trial balance that sums to nothing, whatever charts were set, and whose days are those of the postings', async () => {
    const days = (view: string) =>
      rowsOf(`
        SELECT booked_on, currency, slot, sum(debit)::numeric(38, 2) AS debit, sum(credit)::numeric(38, 2) AS credit
        FROM reporting_rows.${view} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`)
    const [balance, postings] = [await days('trial_balance'), await days('postings')]
    expect(balance.length).toBeGreaterThan(50)
    expect(postings).toEqual(balance)
    const last = await rowsOf(`
      SELECT currency, sum(balance)::text AS balance FROM (
        SELECT DISTINCT ON (currency, slot) currency, balance FROM reporting_rows.trial_balance ORDER BY currency, slot, booked_on DESC
      ) AS t GROUP BY currency`)
    expect(last.map(({ balance: sum }) => Number(sum))).toEqual(last.map(() => 0))
  })
})
