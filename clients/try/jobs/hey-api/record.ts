// Books a borrower, a basic and an extended loan, and a repayment with the client of @hey-api/openapi-ts, which takes an
// int64 as a bigint and sends it as a string of digits. It reads answers by JSON.parse, which rounds such an id, so that
// only the book shows whether it arrived.
import assert from 'node:assert/strict'
import { createClient as authClient } from '../auth/client/index.ts'
import { getToken } from '../auth/sdk.gen.ts'
import { createClient } from '../record/client/index.ts'
import { createBorrower, createLoan, getRepayment, listLoans, postRepayment } from '../record/sdk.gen.ts'

const { AUTH_URL, URL: baseUrl, EMAIL, PASSWORD, RECORD_ID } = process.env
const PRINCIPAL = 9999999.97
const PAID = 987654.32
const id = BigInt(RECORD_ID!)

const auth = authClient({ baseUrl: AUTH_URL!, auth: `${EMAIL}:${PASSWORD}` })
const { data: issued } = await getToken({ client: auth, throwOnError: true })
const client = createClient({ baseUrl: baseUrl!, auth: issued.token })
const always = { client, throwOnError: true } as const

await createBorrower({
  ...always,
  body: {
    id,
    business_name: 'Asha Store',
    phone: '255700000001',
    address: 'Kariakoo',
    type: 'retail',
    region: 'Ilala',
  },
})
const { data: loan } = await createLoan({
  ...always,
  body: {
    borrower_id: id,
    loan_id: id,
    principal_amount: PRINCIPAL,
    released_date: '2026-01-31',
    due_date: '2026-03-02',
    duration: 30,
    duration_period: 'Days',
  },
})
assert.equal(loan.item.principal_amount, PRINCIPAL)
const { data: extended } = await createLoan({
  ...always,
  body: {
    loan_id: id - 1n,
    borrower_id: id,
    loan_application_id: 'LA-2026-001',
    loan_principal_amount: PRINCIPAL,
    loan_released_date: '2026-01-31',
    loan_interest_method: 'flat_rate',
    loan_interest_type: 'percentage',
    loan_interest_period: 'Month',
    loan_interest: 2.5,
    loan_duration_period: 'Months',
    loan_duration: 6,
    loan_payment_scheme_id: 3n,
    loan_num_of_repayments: 6,
  },
})
assert.equal(extended.item.loan_principal_amount, PRINCIPAL)
await postRepayment({
  ...always,
  body: { repayment_id: id, loan_id: id, amount: PAID, collection_date: '2026-02-15' },
})
const { data: read } = await getRepayment({ ...always, path: { id } })
assert.equal(read.item.amount, PAID)
const { data: page } = await listLoans(always)
assert.equal(page.total, 2n)
