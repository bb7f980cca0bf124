// Does the main job with openapi-fetch on the types of openapi-typescript.
import assert from 'node:assert/strict'
import createClient from 'openapi-fetch'
import type { paths as Auth } from '../auth/api.ts'
import type { paths as Partner } from '../partner/api.ts'

const { AUTH_URL, URL: baseUrl, EMAIL, PASSWORD } = process.env
const PRINCIPAL = 9999999.97
const PAID = 987654.32

const basic = Buffer.from(`${EMAIL}:${PASSWORD}`).toString('base64')
const auth = createClient<Auth>({ baseUrl: AUTH_URL!, headers: { authorization: `Basic ${basic}` } })
const { data: issued } = await auth.GET('/v1/auth/token')

const client = createClient<Partner>({ baseUrl: baseUrl!, headers: { authorization: `Bearer ${issued!.token}` } })
const { data: customer, error: refused } = await client.POST('/v1/customers', { body: { externalId: 'CUST-0001' } })
assert.equal(customer?.active, true, refused?.message)
const { data: loan, error } = await client.POST('/v1/loans', {
  body: { customerId: 'CUST-0001', productId: 1, principal: PRINCIPAL, externalId: 'LOAN-0001' },
})
assert.equal(loan?.principal, PRINCIPAL, error?.message)

const post = async () => {
  const { data, error } = await client.POST('/v1/loans/{id}/repayments', {
    params: { path: { id: loan.id }, header: { 'Idempotency-Key': 'KEY-0001' } },
    body: { transactionAmount: PAID, idempotencyKey: 'PAY-0001' },
  })
  assert.equal(data?.amount, PAID, error?.message)
  return data.id
}
assert.equal(await post(), await post())

const { data: read } = await client.GET('/v1/loans/external/{externalId}', {
  params: { path: { externalId: 'LOAN-0001' } },
})
assert.deepEqual(
  read?.repaymentHistory.map(({ amount }) => amount),
  [PAID],
)
const { data: page } = await client.GET('/v1/loans/{id}/repayments', { params: { path: { id: loan.id } } })
assert.deepEqual([page?.total, page?.items[0]?.amount], [1, PAID])
const { error: missing } = await client.GET('/v1/loans/{id}', { params: { path: { id: '1' } } })
assert.equal(missing?.code, 'not_found')
