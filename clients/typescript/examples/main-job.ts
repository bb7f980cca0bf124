// Lends to a customer and takes a repayment, as often as it is run: the keys and the externalIds are the same each time.
import { createMkopo, MkopoError } from '@mkopo/client'

const { MKOPO_URL = 'http://localhost:3000', MKOPO_EMAIL = 'partner@example.com' } = process.env
const { MKOPO_PASSWORD = 'partner-secret' } = process.env
const mkopo = createMkopo({ baseUrl: MKOPO_URL, email: MKOPO_EMAIL, password: MKOPO_PASSWORD })

const externalId = 'CUST-0042'
await mkopo.createCustomer({ externalId }, { idempotencyKey: `customer ${externalId}` }).catch((error) => {
  // Made under another key: another program was faster.
  if (!(error instanceof MkopoError && error.code === 'already_exists')) throw error
})
const terms = { customerId: externalId, productId: 1, principal: 100_000, externalId: 'LOAN-0042' }
const loan = await mkopo.createLoan(terms, { idempotencyKey: 'loan LOAN-0042' })

const order = { id: 'ORDER-7', amount: 25_000.5 }
const paid = await mkopo.postRepayment(
  loan.id,
  { transactionAmount: order.amount },
  { idempotencyKey: `order ${order.id}` },
)
console.log(`posted ${paid.amount} as transaction ${paid.id}`)

for await (const { amount, status } of mkopo.listRepayments(loan.id)) console.log(`${status}: ${amount}`)
const { totalOutstanding, currencyCode } = await mkopo.getLoan(loan.id)
console.log(`${totalOutstanding} ${currencyCode} are still owed`)
