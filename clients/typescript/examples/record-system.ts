// Books a borrower, a loan and a repayment of a record system, under ids of its own: any int64, as a bigint.
import { createMkopo } from '@mkopo/client'

const {
  MKOPO_URL = 'http://localhost:3000',
  MKOPO_RECORDS_URL,
  MKOPO_EMAIL,
  MKOPO_PASSWORD,
  MKOPO_API_KEY,
} = process.env
const { records } = createMkopo({
  recordsUrl: MKOPO_RECORDS_URL ?? 'http://records.localhost:3000',
  authUrl: MKOPO_URL,
  // An API key needs no sign-in.
  ...(MKOPO_API_KEY === undefined
    ? { email: MKOPO_EMAIL ?? 'partner@example.com', password: MKOPO_PASSWORD ?? 'partner-secret' }
    : { apiKey: MKOPO_API_KEY }),
})

const id = 9_223_372_036_854_775_807n
await records.createBorrower({
  id,
  business_name: 'Asha Store',
  phone: '255700000001',
  address: 'Kariakoo',
  type: 'retail',
  region: 'Ilala',
})
const { item: loan } = await records.createLoan({
  borrower_id: id,
  loan_id: id,
  principal_amount: 9_999_999.97,
  released_date: '2026-01-31',
  due_date: '2026-03-02',
  duration: 30,
  duration_period: 'Days',
})
await records.postRepayment({ repayment_id: id, loan_id: id, amount: 987_654.32, collection_date: '2026-01-31' })
const { item: repayment } = await records.getRepayment(id)
console.log(
  `loan ${loan.loan_id} of ${loan.principal_amount}: repayment ${repayment.repayment_id} of ${repayment.amount}`,
)
