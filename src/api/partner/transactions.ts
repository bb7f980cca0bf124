import type { Deps } from '../../deps.ts'
import { getTransaction, pageRepayments, postRepayment } from '../../services/transactions.ts'
import type { StyleApp } from '../style.ts'
import { pageQuery } from '../wire.ts'
import { ADDRESSES, toPage } from './registry.ts'
import { newRepayment, toPosting, toTransaction, transactionPage, transactionSchema } from './transactions.wire.ts'

const tags = ['repayments']

export function transactionRoutes(app: StyleApp, deps: Deps): void {
  for (const { path, params, withTransaction } of ADDRESSES) {
    const repayments = `/v1/loans${path}/repayments`

    app.post(
      repayments,
      {
        config: { refusals: ['failed_precondition'] },
        schema: {
          tags,
          summary: 'Post a repayment',
          description:
            'Applied to the oldest instalment first, and within one to penalty, fees, interest, principal; what exceeds the loan is overpayment. A token seen before on the loan answers the original.',
          params,
          body: newRepayment,
          response: { 200: transactionSchema },
        },
      },
      async ({ caller, params: ref, body }) => toTransaction(await postRepayment(deps, caller, ref, toPosting(body))),
    )

    app.get(
      repayments,
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
      `${repayments}/:transactionId`,
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
