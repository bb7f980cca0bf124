import type { Deps } from '../../deps.ts'
import type { EntryType } from '../../domain/entry.ts'
import { isAmount } from '../../domain/money.ts'
import {
  adjustTransaction,
  getTransaction,
  pageRepayments,
  postTransaction,
  reverseTransaction,
} from '../../services/transactions.ts'
import type { StyleApp } from '../style.ts'
import { pageQuery } from '../wire.ts'
import * as examples from './examples.ts'
import { ADDRESSES, toPage } from './registry.ts'
import {
  newAdjustment,
  newMark,
  newMovement,
  newRecovery,
  newRepayment,
  newReversal,
  toPosting,
  toTransaction,
  transactionPage,
  transactionSchema,
} from './transactions.wire.ts'

const tags = ['repayments']

/** What can be posted on a loan: the path after it, what it becomes, an example of that, and what it says. */
interface Kind {
  readonly path: string
  readonly type: EntryType
  readonly example: object
  readonly body: unknown
  readonly summary: string
  readonly description: string
}

const POSTINGS = [
  {
    path: '/repayments',
    type: 'Repayment',
    example: examples.repayment,
    body: newRepayment,
    summary: 'Post a repayment',
    description:
      'Applied to the oldest instalment first, and within one to penalty, fees, interest, principal; what exceeds the loan is overpayment. A token seen before on the loan answers the original.',
  },
  {
    path: '/repayments/waive-interest',
    type: 'Waive Interest',
    example: examples.waiver,
    body: newMovement,
    summary: 'Waive interest',
    description: 'Up to the interest outstanding; the oldest instalment first.',
  },
  {
    path: '/repayments/recover',
    type: 'Recovery Repayment',
    example: examples.recovery,
    body: newRecovery,
    summary: 'Post a recovery',
    description:
      'Money on a charged-off loan, applied as a repayment, or on a written-off one, whose status and schedule stay; never above what was written off.',
  },
  {
    path: '/repayments/refund',
    type: 'Refund',
    example: examples.refund,
    body: newMovement,
    summary: 'Refund',
    description:
      'Cash back out of what was paid in: of an Overpaid loan up to the overpayment; of an Active one up to what was paid, un-paying from the latest instalment backwards.',
  },
  {
    path: '/repayments/credit-balance-refund',
    type: 'Credit Balance Refund',
    example: examples.paidOut,
    body: newMovement,
    summary: 'Pay out an overpayment',
    description: 'Only of an Overpaid loan, up to `totalOverpaid`; at 0 the loan is Closed (obligations met).',
  },
  {
    path: '/repayments/charge-off',
    type: 'Charge-off',
    example: examples.chargeOff,
    body: newMark,
    summary: 'Charge off',
    description: 'Marks an Active loan charged off with all that is outstanding; repayments go on.',
  },
  {
    path: '/write-off',
    type: 'Write-off',
    example: examples.writeOff,
    body: newMark,
    summary: 'Write off',
    description: 'Operators only (ADMIN). Active → Closed (written off).',
  },
] as const satisfies readonly Kind[]

export function transactionRoutes(app: StyleApp, deps: Deps): void {
  for (const address of ADDRESSES) {
    const loan = `/v1/loans${address.path}`
    const { params, withTransaction } = address

    for (const { path, type, example, body, summary, description } of POSTINGS)
      app.post(
        `${loan}${path}`,
        {
          config: { refusals: ['failed_precondition'], examples: { [type]: example } },
          schema: { tags, summary, description, params, body, response: { 200: transactionSchema } },
        },
        async ({ caller, params: ref, body: given, log }) => {
          const posting = toPosting(type, given)
          const transaction = await postTransaction(deps, caller, ref, posting)
          const { entry, loan } = transaction
          if (posting.token !== null && posting.amount && !isAmount(entry.amount, posting.amount, loan.terms.currency))
            log.warn({ transaction: entry.id.toString() }, 'a token seen before came with another amount')
          return toTransaction(transaction)
        },
      )

    app.post(
      `${loan}/repayments/:transactionId/adjust`,
      {
        config: { refusals: ['failed_precondition'], examples: { Adjusted: examples.adjusted } },
        schema: {
          tags,
          summary: 'Adjust a transaction',
          description: 'Reverses the original and posts it anew; an amount of 0 only reverses.',
          params: withTransaction,
          body: newAdjustment,
          response: { 200: transactionSchema },
        },
      },
      async ({ caller, params: { ref, transactionId }, body }) => {
        const { transactionAmount: amount, transactionDate: valueDate, note = null } = body
        return toTransaction(await adjustTransaction(deps, caller, ref, transactionId, { amount, valueDate, note }))
      },
    )

    app.post(
      `${loan}/repayments/:transactionId/reverse`,
      {
        config: { refusals: ['failed_precondition'], examples: { Reversed: examples.reversed } },
        schema: {
          tags,
          summary: 'Reverse a transaction',
          description:
            'Operators only (ADMIN). It stays visible with `status: reversed`; the loan becomes what it would be without it.',
          params: withTransaction,
          body: newReversal,
          response: { 200: transactionSchema },
        },
      },
      async ({ caller, params: { ref, transactionId }, body }) =>
        toTransaction(await reverseTransaction(deps, caller, ref, transactionId, body?.note ?? null)),
    )

    app.get(
      `${loan}/repayments`,
      {
        schema: {
          tags,
          summary: 'List repayments',
          description: "The customer's repayments, newest first, reversed ones included.",
          params,
          querystring: pageQuery({ rows: 10 }),
          response: { 200: transactionPage },
        },
      },
      async ({ caller, params: ref, query }) =>
        toPage(await pageRepayments(deps, caller, ref, query), query, toTransaction),
    )

    app.get(
      `${loan}/repayments/:transactionId`,
      {
        schema: {
          tags,
          summary: 'Read a transaction of any type',
          params: withTransaction,
          response: { 200: transactionSchema },
        },
      },
      async ({ caller, params: { ref, transactionId } }) =>
        toTransaction(await getTransaction(deps, caller, ref, transactionId)),
    )
  }
}
