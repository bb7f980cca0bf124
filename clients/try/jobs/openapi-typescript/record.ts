// Books a borrower, a basic and an extended loan, and a repayment with openapi-fetch. An id is a number there, which is
// exact up to 2^53.
import assert from 'node:assert/strict'
import createClient from 'openapi-fetch'
import type { paths as Auth } from '../auth/api.ts'
import type { paths as Record } from '../record/api.ts'

const { AUTH_URL, URL: baseUrl, EMAIL, PASSWORD, RECORD_ID } = process.env
const PRINCIPAL = 9999999.97
const PAID = 987654.32
const id = Number(RECORD_ID)

const basic = Buffer.from(`${EMAIL}:${PASSWORD}`).toString('base64')
const auth = createClient<Auth>({ baseUrl: AUTH_URL!, headers: { authorization: `Basic ${basic}` } })
const { data: issued } = await auth.GET('/v1/auth/token')

const client = createClient<Record>({ baseUrl: baseUrl!, headers: { authorization: `Bearer ${issued!.token}` } })
const borrower = await client.POST('/v1/borrowers', {
  body: {
    id,
    business_name: 'Asha Store',
    phone: '255700000001',
    address: 'Kariakoo',
    type: 'retail',
    region: 'Ilala',
  },
})
assert.equal(borrower.data?.item.id, id, borrower.error?.message)
const loan = await client.POST('/v1/loans', {
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
assert.deepEqual([loan.data?.item.loan_id, loan.data?.item.principal_amount], [id, PRINCIPAL], loan.error?.message)
const extended = await client.POST('/v1/loans', {
  body: {
    loan_id: id - 1,
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
    loan_payment_scheme_id: 3,
    loan_num_of_repayments: 6,
  },
})
assert.equal(extended.data?.item.loan_principal_amount, PRINCIPAL, extended.error?.message)
const repayment = await client.POST('/v1/repayments', {
  body: { repayment_id: id, loan_id: id, amount: PAID, collection_date: '2026-02-15' },
})
assert.deepEqual([repayment.data?.item.repayment_id, repayment.data?.item.amount], [id, PAID], repayment.error?.message)
const read = await client.GET('/v1/repayments/{id}', { params: { path: { id } } })
assert.equal(read.data?.item.amount, PAID)
const page = await client.GET('/v1/loans')
assert.equal(page.data?.total, 2)
