// Calls that a compiler has to refuse, each with a remark that fails where it does not.
import { createMkopo } from '@mkopo/client'

const mkopo = createMkopo({ baseUrl: 'http://localhost:3000' })
// @ts-expect-error An id of the record style is a bigint.
await mkopo.records.getLoan(1)
// @ts-expect-error An id of the partner style is a text.
await mkopo.getLoan(1n)
// @ts-expect-error A field that is misspelt.
await mkopo.postRepayment('1', { transactionAmount: 1, idempotenceKey: 'a' })
// @ts-expect-error A field that is missing.
await mkopo.createCustomer({})
// @ts-expect-error A field that no answer has.
;(await mkopo.getLoan('1')).outstandingTotal
// @ts-expect-error A list has no function of its own for a page.
mkopo.listLoansPage
