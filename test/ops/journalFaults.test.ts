import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { requestClose } from '../../src/db/accounting/periods.ts'
import { requestBooking } from '../../src/db/accounting/provisions.ts'
import { setChart } from '../../src/db/accounting/setChart.ts'
import { DEFAULT_CHART } from '../../src/domain/accounting/chart.ts'
import { toStoredChart } from '../../src/domain/accounting/storedChart.ts'
import { drain } from '../../src/services/jobs/job.ts'
import { sweepJob } from '../../src/services/loans/sweep.ts'
import { keepJournal } from '../support/journal.ts'
import { JOURNAL_FAULTS } from '../support/journalFaults.ts'
import { startService, type TestService } from '../support/service.ts'
import { copyBook, type WholeBook } from '../support/wholeBook.ts'

// What is planted in the journal is named by `book check` (contract 9.1, 9.3).

const author = { organizationId: 1, accountId: null, requestId: null }
const TABLES = ['posting', 'posting_day', 'accounting_period', 'accounting_chart', 'journal']

let service: TestService
let book: WholeBook
let loan: string

beforeAll(async () => {
  service = await startService()
  const post = async (path: string, body: object): Promise<string> => {
    const answer = await service.post<{ id: string }>(path, { body })
    expect(answer.status).toBe(200)
    return answer.body.id
  }
  await post('/v1/customers', { externalId: 'asha' })
  loan = await post('/v1/loans', { customerId: 'asha', productId: 3, principal: 6_000 })
  await post(`/v1/loans/${loan}/repayments`, { transactionAmount: 700 })
  service.clock.set('2026-02-01')
  await drain(sweepJob(service.deps))
  await requestClose(service.deps.db, author, { firstDay: '2026-01-01', month: '2026-01', now: service.clock.now() })
  await post(`/v1/loans/${loan}/repayments`, { transactionAmount: 50, transactionDate: '2026-01-31' })
  const chart = toStoredChart({ ...DEFAULT_CHART, method: 'accrual_upfront' })
  const decided = { version: 2, chart, before: toStoredChart(DEFAULT_CHART) }
  await setChart(service.deps.db, author, service.clock.now(), async () => decided)
  await post(`/v1/loans/${loan}/repayments`, { transactionAmount: 10, transactionDate: '2026-01-31' })
  const provisions = [{ productId: 3, currency: 'TZS', amount: 45_000n }]
  const booking = { asOf: '2026-01-31', policy: {}, provisions, now: service.clock.now() }
  await requestBooking(service.deps.db, author, booking, () => undefined)
  await keepJournal(service.deps)
  book = await copyBook(service, TABLES)
})
afterAll(async () => {
  book.client.release(true)
  await service.close()
})

describe('book check', () => {
  it('finds nothing in a journal that nobody has touched, with a closed month and another method', async () => {
    const { rows } = await service.deps.db.pool.query('SELECT kind FROM posting WHERE loan_id = $1 ORDER BY id', [loan])
    const kinds = ['disbursement', 'repayment', 'repayment', 'method_changed', 'repayment']
    expect(rows.map(({ kind }) => kind)).toEqual(kinds)
    expect(await book.check()).toEqual({ code: 0, found: [] })
  })

  it.each(JOURNAL_FAULTS)('names %s', async (_, spoil, said) => {
    const named = (text: string) => text.replaceAll(':loan', loan)
    await book.client.query(named(spoil))
    const { code, found } = await book.check()
    await book.mend(spoil)
    expect(code).toBe(1)
    expect(found.join('\n')).toMatch(new RegExp(`^(${named(said.source)})`, 'm'))
  })

  it('finds nothing once all is mended', async () => {
    expect(await book.check()).toEqual({ code: 0, found: [] })
  })

  it('finds nothing while the journal has not come to the last changes, a close among them', async () => {
    service.clock.set('2026-03-01')
    await drain(sweepJob(service.deps))
    await requestClose(service.deps.db, author, { firstDay: '2026-02-01', month: '2026-02', now: service.clock.now() })
    expect((await service.post('/v1/customers', { body: { externalId: 'juma' } })).status).toBe(200)
    expect(await book.check()).toEqual({ code: 0, found: [] })
    await keepJournal(service.deps)
    expect(await book.check()).toEqual({ code: 0, found: [] })
  })
})
