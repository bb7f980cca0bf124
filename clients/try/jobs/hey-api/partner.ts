// Does the main job with the client of @hey-api/openapi-ts.
import assert from 'node:assert/strict'
import { createClient as authClient } from '../auth/client/index.ts'
import { getToken } from '../auth/sdk.gen.ts'
import { createClient } from '../partner/client/index.ts'
import {
  createCustomer,
  createLoan,
  getLoan,
  getLoanByExternalId,
  listRepayments,
  postRepayment,
} from '../partner/sdk.gen.ts'

const { AUTH_URL, URL: baseUrl, EMAIL, PASSWORD } = process.env
const PRINCIPAL = 9999999.97
const PAID = 987654.32

const auth = authClient({ baseUrl: AUTH_URL!, auth: `${EMAIL}:${PASSWORD}`, throwOnError: true })
const { data: issued } = await getToken({ client: auth, throwOnError: true })
const client = createClient({ baseUrl: baseUrl!, auth: issued.token })
const always = { client, throwOnError: true } as const

const { data: customer } = await createCustomer({ ...always, body: { externalId: 'CUST-0001' } })
assert.equal(customer.active, true)
const { data: loan } = await createLoan({
  ...always,
  body: { customerId: 'CUST-0001', productId: 1, principal: PRINCIPAL, externalId: 'LOAN-0001' },
})
assert.equal(loan.principal, PRINCIPAL)

const post = async () => {
  const { data } = await postRepayment({
    ...always,
    path: { id: loan.id },
    headers: { 'Idempotency-Key': 'KEY-0001' },
    body: { transactionAmount: PAID, idempotencyKey: 'PAY-0001' },
  })
  assert.equal(data.amount, PAID)
  return data.id
}
assert.equal(await post(), await post())

const { data: read } = await getLoanByExternalId({ ...always, path: { externalId: 'LOAN-0001' } })
assert.deepEqual(
  read.repaymentHistory.map(({ amount }) => amount),
  [PAID],
)
const { data: page } = await listRepayments({ ...always, path: { id: loan.id } })
assert.deepEqual([page.total, page.items[0]?.amount], [1n, PAID])
const { error } = await getLoan({ client, path: { id: '1' } })
assert.equal(error?.code, 'not_found')
