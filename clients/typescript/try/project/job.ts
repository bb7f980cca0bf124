// Uses the installed client as an integrator does: the main job, exact ids, a walk and the events.
import { createMkopo, type LoanSummary, MkopoError, type records } from '@mkopo/client'

declare const process: { readonly env: Readonly<Record<string, string>>; readonly version: string }
declare const console: { log(text: string): void }

const { BASE_URL = '', RECORDS_URL = '', EMAIL, PASSWORD, JOB = '' } = process.env
const mkopo = createMkopo({ baseUrl: BASE_URL, recordsUrl: RECORDS_URL, email: EMAIL, password: PASSWORD })

const same = (name: string, given: unknown, wanted: unknown) => {
  if (given !== wanted) throw new Error(`${name} is ${String(given)} instead of ${String(wanted)}`)
}

const externalId = `CUST-${JOB}`
await mkopo.createCustomer({ externalId })
const terms = { customerId: externalId, productId: 1, principal: 9_999_999.97, externalId: `LOAN-${JOB}` }
const loan: LoanSummary = await mkopo.createLoan(terms)
const call = { idempotencyKey: `order ${JOB}` }
const paid = await mkopo.postRepayment(loan.id, { transactionAmount: 987_654.32 }, call)
const again = await mkopo.postRepayment(loan.id, { transactionAmount: 987_654.32 }, call)
same('the repayment that was posted again', again.id, paid.id)
same('the sum that was paid', (await mkopo.getLoan(loan.id)).totalPaid, 987_654.32)
let listed = 0
for await (const { amount } of mkopo.listRepayments(loan.id, { rows: 1 })) {
  same('the amount', amount, 987_654.32)
  listed++
}
same('the number of repayments', listed, 1)
const refused = await mkopo.getLoan('1').catch((error: unknown) => error)
same('the code', refused instanceof MkopoError && refused.code, 'not_found')

// The greatest id, and others for each job of the same book.
const id = 9_223_372_036_854_775_807n - BigInt(JOB)
const borrower: records.CreateBorrowerRequest = {
  id,
  business_name: 'Asha Store',
  phone: '255700000001',
  address: 'Kariakoo',
  type: 'retail',
  region: 'Ilala',
}
await mkopo.records.createBorrower(borrower)
const dates = { released_date: '2026-01-31', due_date: '2026-03-02', duration: 30, duration_period: 'Days' }
await mkopo.records.createLoan({ borrower_id: id, loan_id: id, principal_amount: 9_999_999.97, ...dates })
await mkopo.records.postRepayment({ repayment_id: id, loan_id: id, amount: 0.01, collection_date: '2026-01-31' })
const { item } = await mkopo.records.getRepayment(id)
const repaymentId: bigint = item.repayment_id
same('the id', repaymentId, id)
same('the id of the loan', (await mkopo.records.getLoan(id)).item.loan_id, id)

for await (const { event, cursor } of mkopo.events.follow(undefined, { types: 'loan.disbursed' })) {
  if (event.data.loan?.externalId !== `LOAN-${JOB}`) continue
  same('the cursor', event.data.cursor, cursor)
  break
}
console.log(`${process.version}: ${id} in and out`)
