// Copies the loans of the book, and then keeps the copy by the events until it is stopped (or for COPY_MS).
import { createMkopo, type LoanSummary } from '@mkopo/client'

const { MKOPO_URL = 'http://localhost:3000', MKOPO_EMAIL = 'partner@example.com' } = process.env
const { MKOPO_PASSWORD = 'partner-secret', COPY_MS } = process.env
const mkopo = createMkopo({ baseUrl: MKOPO_URL, email: MKOPO_EMAIL, password: MKOPO_PASSWORD })
const controller = new AbortController()
process.once('SIGINT', () => controller.abort())
if (COPY_MS !== undefined) setTimeout(() => controller.abort(), Number(COPY_MS))

// The cursor comes first: what happens while the lists are read is in the events after it.
const { next: start } = await mkopo.listEvents({ after: 'now' })
const outstanding = new Map<string, Pick<LoanSummary, 'totalOutstanding' | 'updatedAt'>>()
for await (const loan of mkopo.listLoans({ schedule: false })) outstanding.set(loan.id, loan)
console.log(`copied ${outstanding.size} loans`)

for await (const { event, cursor } of mkopo.events.follow(start, {
  types: 'loan.*,repayment.*',
  signal: controller.signal,
})) {
  const { loan } = event.data
  if (loan === undefined || (outstanding.get(loan.id)?.updatedAt ?? '') > loan.updatedAt) continue
  outstanding.set(loan.id, loan)
  // A real copy stores the cursor and the loan in one transaction.
  console.log(`${event.type}: loan ${loan.id} owes ${loan.totalOutstanding}; cursor ${cursor}`)
}
