import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sequencerJob } from '../../src/services/events/sequencer.ts'
import { drain } from '../../src/services/jobs/job.ts'
import { anAccount, letWaitAbove } from '../support/approvals.ts'
import { readStatementsHere } from '../support/readHere.ts'
import { aBasicLoan, aBorrower, anExtendedLoan, aRepayment } from '../support/recordBodies.ts'
import { recordIdsFrom } from '../support/recordIds.ts'
import { type Records, recordsOf } from '../support/records.ts'
import { type Call, startService, type TestService } from '../support/service.ts'
import { smallStatement } from '../support/statementPdf.ts'
import { showing } from '../support/upload.ts'
import { copyBook, type WholeBook } from '../support/wholeBook.ts'

let service: TestService
let records: Records
let second: string
let book: WholeBook
const nextId = recordIdsFrom(37)
let keys = 0

/** Sends a request under a key of its own. */
async function keyed<Body>(send: (call: Call) => Promise<{ status: number; text: string; body: Body }>, call: Call) {
  const answer = await send({ ...call, headers: { ...call.headers, 'idempotency-key': `key-${++keys}` } })
  expect([200, 201, 202, 204], answer.text).toContain(answer.status)
  return answer.body
}
const asPartner = (path: string, body?: object) => keyed((call) => service.post(path, call), body ? { body } : {})
const asAdmin = (path: string, body?: object, token = service.tokens.operator) =>
  keyed((call) => service.post(path, call), { token, ...(body && { body }) })
const asRecords = (path: string, body: object) => keyed((call) => records.post(path, call), { body })
const ofMe = { headers: { 'x-user-id': '1' } }

/** What happened to which rows, for the faults that are planted. */
const ids: Record<string, string> = {}

async function lendAsPartner(productId: number) {
  return String((await asPartner('/v1/loans', { customerId: 'asha', productId, principal: 60_000 })).id)
}

async function changeEveryWay(): Promise<void> {
  await asPartner('/v1/customers', { externalId: 'asha' })
  await asPartner('/v1/customers', { externalId: 'leaves' })
  await asPartner('/v1/customers/external/leaves/close', {})
  const [paid, off, charged] = [await lendAsPartner(3), await lendAsPartner(3), await lendAsPartner(3)]
  ids.loan = paid
  const posted = async (path: string, body: object = {}) => String((await asPartner(path, body)).id)
  ids.first = await posted(`/v1/loans/${paid}/repayments`, { transactionAmount: 4_000, idempotencyKey: 'a token' })
  ids.second = await posted(`/v1/loans/${paid}/repayments`, { transactionAmount: 13_000 })
  await asPartner(`/v1/loans/${paid}/repayments/refund`, { transactionAmount: 500 })
  await asPartner(`/v1/loans/${paid}/repayments/waive-interest`, { transactionAmount: 100 })
  await asAdmin(`/v1/loans/${paid}/repayments/${ids.first}/adjust`, { transactionAmount: 3_000 })
  await asAdmin(`/v1/loans/${paid}/repayments/${ids.second}/reverse`, {})
  await asPartner(`/v1/loans/${paid}/repayments`, { transactionAmount: 100_000 })
  await asPartner(`/v1/loans/${paid}/repayments/credit-balance-refund`, { transactionAmount: 10 })
  ids.chargeOff = await posted(`/v1/loans/${off}/repayments/charge-off`)
  await asPartner(`/v1/loans/${off}/repayments/recover`, { transactionAmount: 900 })
  const charge = await asAdmin(`/v1/loans/${charged}/charges`, { name: 'Visit', kind: 'fee', amount: 250 })
  await asAdmin(`/v1/loans/${charged}/charges/${charge.id}/reverse`, {})
  await asAdmin(`/v1/loans/${charged}/write-off`, {})
}

async function changeAsRecordSystem(): Promise<void> {
  for (const terms of [aBasicLoan, anExtendedLoan, aBasicLoan]) {
    const [borrower, loan, repayment] = [nextId(), nextId(), nextId()]
    await asRecords('/v1/borrowers', { ...aBorrower, id: borrower })
    const lent = { ...terms, borrower_id: borrower, loan_id: loan }
    await keyed((call) => records.post('/v1/loans', call), { body: lent, ...ofMe })
    await asRecords('/v1/repayments', {
      ...aRepayment,
      repayment_id: repayment,
      loan_id: loan,
      collection_date: '2026-01-31',
    })
    // A PUT takes no key, and its loan has keys of other changes.
    const answer = await records.put(`/v1/loans/${loan}`, { body: { description: 'of the season' } })
    expect(answer.status, answer.text).toBe(200)
    await asPartner(`/v1/customers/${borrower}/external-id`, { externalId: `borrower-${borrower}` })
    Object.assign(ids, { borrower: String(borrower), recorded: String(loan), repayment: String(repayment) })
  }
}

async function changeTheRest(): Promise<void> {
  await asPartner('/v1/customers', { externalId: 'neema' })
  const path = '/v1/credit-scorecard/neema/boost'
  const statement = showing(await smallStatement('2025-10-01', '2025-12-31'))
  for (const said of ['raised', 'cooldown']) {
    const boost = await keyed((call) => service.post(path, call), statement)
    expect(boost.boostStatus).toBe(said)
  }
  const terms = { minPrincipal: 1_000, maxPrincipal: 1_000_000, numberOfRepayments: 3, interestRate: 3 }
  const product = await asAdmin('/v1/loan-products', { name: 'Seeds', ...terms })
  await asAdmin(`/v1/loan-products/${product.id}/retire`, {})
  const endpoint = await asAdmin('/v1/webhook-endpoints', { url: 'https://198.41.0.4/hook' })
  await drain(sequencerJob(service.deps))
  const endpoints = `/v1/webhook-endpoints/${endpoint.id}`
  // Back to the first event, and once more, where nothing is sent again.
  await asAdmin(`${endpoints}/rotate-secret`, {})
  await service.owner.pool.query('UPDATE webhook_endpoint SET position = position + 3')
  for (const _ of ['sends again', 'changes nothing'])
    await asAdmin(`${endpoints}/recover`, { since: '2026-01-01T00:00:00Z' })
  const deleted = await service.delete(endpoints, { token: service.tokens.operator })
  expect(deleted.status).toBe(204)
}

async function approveAndReject(): Promise<void> {
  await letWaitAbove(service, 1_000)
  const asked = await lendAsPartner(3)
  const { id: posted } = await asPartner(`/v1/loans/${asked}/repayments`, { transactionAmount: 5_000 })
  const reverse = `/v1/loans/${asked}/repayments/${posted}/reverse`
  for (const end of ['reject', 'withdraw', 'approve']) {
    const waiting = await asAdmin(reverse, {})
    const by = end === 'withdraw' ? service.tokens.operator : second
    await asAdmin(`/v1/pending-actions/${waiting.id}/${end}`, end === 'reject' ? { reason: 'paid' } : {}, by)
  }
  await letWaitAbove(service, null)
}

beforeAll(async () => {
  service = await startService()
  readStatementsHere(service)
  records = recordsOf(service)
  second = await anAccount(service, 'second')
  await changeEveryWay()
  await changeAsRecordSystem()
  await changeTheRest()
  await approveAndReject()
  book = await copyBook(service, ['audit_entry', 'idempotency_key', 'loan_entry'])
})
afterAll(async () => {
  book.client.release(true)
  await service.close()
})

describe('Idempotency-Keys of every change, and ids of 19 digits', () => {
  it('are no difference', async () => {
    const { rows } = await service.owner.pool.query<{ entity: string }>(
      'SELECT DISTINCT entity FROM idempotency_key WHERE entity IS NOT NULL ORDER BY 1',
    )
    const entities = ['customer', 'loan', 'loan product', 'pending action', 'webhook endpoint']
    expect(rows.map(({ entity }) => entity)).toEqual(entities)
    expect(await book.check()).toEqual({ code: 0, found: [] })
  })
})

/** What is planted, by SQL in which `:name` is an id of the test, and what `book check` says of it. */
const FAULTS: readonly (readonly [name: string, spoil: string, said: RegExp])[] = [
  [
    'a key that names another entry of its loan, which has a key already',
    'UPDATE idempotency_key SET transaction_id = :first WHERE transaction_id = :chargeOff',
    /^loan \d+: has no entry :first, and an Idempotency-Key/m,
  ],
  [
    'a key of an account that did not post the entry',
    'UPDATE idempotency_key SET account_id = 77 WHERE transaction_id = :chargeOff',
    /^loan \d+: 1 Idempotency-Key of account 77 names its entry :chargeOff, and by the trail that account made 0 such changes/m,
  ],
  [
    'a key of which there are more than changes',
    `INSERT INTO idempotency_key SELECT organization_id, account_id, 'planted', request_hash, entity, entity_id,
       transaction_id, status, response, created_at FROM idempotency_key WHERE transaction_id = :chargeOff`,
    /^loan \d+: 2 Idempotency-Keys of account \d+ name its entry :chargeOff, and by the trail that account made 1 such changes/m,
  ],
  [
    'a key of a posting that says that it made the loan',
    'UPDATE idempotency_key SET transaction_id = NULL WHERE transaction_id = :chargeOff',
    /^loan \d+: 2 Idempotency-Keys of account \d+ name a change of it, and by the trail that account made 1 such changes/m,
  ],
  [
    'a key of a customer whom another account made',
    `UPDATE idempotency_key SET account_id = 77 WHERE entity = 'customer' AND entity_id = :borrower`,
    /^customer :borrower: 2 Idempotency-Keys of account 77 name a change of it, and by the trail that account made 0 such changes/m,
  ],
  [
    'a key of another decision about a customer',
    `UPDATE idempotency_key SET transaction_id = 7777 WHERE entity = 'customer' AND transaction_id =
       (SELECT min(transaction_id) FROM idempotency_key WHERE entity = 'customer')`,
    /^customer \d+: 1 Idempotency-Key of account \d+ names its credit decision 7777, and by the trail that account made 0 such changes/m,
  ],
  [
    'a key of a product that was not made',
    `UPDATE idempotency_key SET entity_id = 77 WHERE entity = 'loan product'`,
    /^loan product 77: 2 Idempotency-Keys of account \d+ name a change of it, and by the trail that account made 0 such changes/m,
  ],
  [
    'a key of a pending action that nobody asked for',
    `UPDATE idempotency_key SET entity_id = 9223372036854775807 WHERE entity = 'pending action'`,
    /^pending action 9223372036854775807: \d Idempotency-Keys? of account \d+ names? a change of it, and by the trail that account made 0 such changes/m,
  ],
  [
    'a key of another place to which an endpoint was set back',
    `UPDATE idempotency_key SET transaction_id = 5 WHERE entity = 'webhook endpoint' AND transaction_id IS NOT NULL`,
    /^webhook endpoint \d+: 1 Idempotency-Key of account \d+ names its place 5, and by the trail that account made 0 such changes/m,
  ],
  [
    'a key of something that is not there',
    `UPDATE idempotency_key SET entity = 'boat' WHERE transaction_id = :chargeOff`,
    /^boat \d+: 1 Idempotency-Key of account \d+ names its place :chargeOff, and by the trail that account made 0 such changes/m,
  ],
  ...['', '0', '-1', '007', '1e3', '9223372036854775808', '99999999999999999999999999999999', 'a', '１'].map(
    (id) =>
      [
        `a loan whose creation has the id ${JSON.stringify(id)} in the trail`,
        `UPDATE audit_entry SET entity_id = '${id}' WHERE entity = 'loan' AND entity_id = :'recorded' AND action = 'create'`,
        new RegExp(`^loan ${id}: is not there, and the trail says that it was made`, 'm'),
      ] as const,
  ),
]

describe('a key that is wrong is named', () => {
  it.each(FAULTS)('%s', async (_, spoil, message) => {
    const named = (text: string) =>
      text.replace(/:('?)([a-zA-Z]+)\1/g, (all, quote, name) => (ids[name] ? quote + ids[name] + quote : all))
    const { rowCount } = await book.client.query(named(spoil))
    const { code, found } = await book.check()
    await book.mend(spoil)
    expect(rowCount).toBeGreaterThan(0)
    expect(code).toBe(1)
    expect(found.join('\n')).toMatch(new RegExp(named(message.source), 'm'))
  })
})
