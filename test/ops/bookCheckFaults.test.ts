import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BOOK_FAULTS, TERM_FAULTS } from '../support/bookFaults.ts'
import { startService, type TestService } from '../support/service.ts'
import { copyBook, type WholeBook } from '../support/wholeBook.ts'

const RECORDS = 'records.localhost'
const TABLES = [
  'organization',
  'account',
  'loan_product',
  'customer',
  'loan',
  'loan_period',
  'loan_entry',
  'loan_earlier_terms',
]
const ALL = [...TABLES, 'audit_entry', 'idempotency_key', 'credit_decision']

let service: TestService
let book: WholeBook
/** Loans by what they are, and the entries of the first. */
const ids: Record<string, string> = {}

const post = async (path: string, body: object, call: object = {}) => {
  const answer = await service.post(path, { body, ...call })
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}

beforeAll(async () => {
  service = await startService()
  await post('/v1/customers', { externalId: 'asha' })
  const lend = async (productId: number) =>
    (await post('/v1/loans', { customerId: 'asha', productId, principal: 60_000 })).id
  Object.assign(ids, { plain: await lend(3), penalized: await lend(2), off: await lend(1) })
  const repayments = `/v1/loans/${ids.plain}/repayments`
  const keyed = { headers: { 'idempotency-key': 'key-1' } }
  ids.entry = (await post(repayments, { transactionAmount: 4_000 }, keyed)).id
  ids.wrong = (await post(repayments, { transactionAmount: 50 })).id
  await service.get('/v1/credit-scorecard/asha')
  service.clock.set('2026-02-01')
  await post(`${repayments}/${ids.wrong}/reverse`, {}, { token: service.tokens.operator })
  await post(`/v1/loans/${ids.off}/repayments`, { transactionAmount: 1_000 })
  ids.chargeOff = (await post(`/v1/loans/${ids.off}/repayments/charge-off`, {})).id
  const record = { host: RECORDS }
  const borrower = { id: 7, business_name: 'Asha', phone: '1', address: 'a', type: 't', region: 'r' }
  await post('/v1/borrowers', borrower, record)
  const basic = { loan_id: 1, borrower_id: 7, principal_amount: 5_000, duration: 1, duration_period: 'Months' }
  await post('/v1/loans', { ...basic, released_date: '2026-01-31', due_date: '2026-03-01' }, record)
  const extended = {
    ...{ loan_id: 2, borrower_id: 7, loan_principal_amount: 12_000, loan_released_date: '2026-01-31' },
    ...{ loan_interest_method: 'reducing_rate_equal_installments', loan_interest_type: 'percentage' },
    ...{ loan_interest_period: 'Month', loan_interest: 2.5, loan_duration_period: 'Months', loan_duration: 6 },
    ...{ loan_payment_scheme_id: 3, loan_num_of_repayments: 6 },
  }
  await post('/v1/loans', extended, { host: RECORDS, headers: { 'x-user-id': '1' } })
  await service.put('/v1/loans/2', { body: { principal_amount: 13_000 }, ...record })
  Object.assign(ids, { basic: '1', extended: '2' })

  book = await copyBook(service, ALL)
})
afterAll(async () => {
  book.client.release(true)
  await service.close()
})

it('finds nothing on a book that nobody has touched', async () => {
  expect(await book.check()).toEqual({ code: 0, found: [] })
})

describe('names what was planted', () => {
  it.each([...TERM_FAULTS, ...BOOK_FAULTS])('%s', async (_, spoil, message) => {
    const named = (text: string) =>
      text.replace(/:('?)([a-zA-Z]+)\1/g, (all, quote, name) => (ids[name] ? quote + ids[name] + quote : all))
    await book.client.query(named(spoil))
    const { code, found } = await book.check()
    await book.mend(spoil)
    expect(code).toBe(1)
    expect(found.join('\n')).toMatch(new RegExp(`^${named(message.source)}`, 'm'))
  })

  it('and nothing is left of it', async () => {
    expect(await book.check()).toEqual({ code: 0, found: [] })
  })
})
