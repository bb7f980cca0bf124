import { z } from 'zod'
import type { Deps } from '../../../app/deps.ts'
import type { LoanRef } from '../../../services/loans/loans.ts'
import {
  type ListedTransaction,
  listTransactions,
  type TransactionFilter,
} from '../../../services/loans/transactionList.ts'
import {
  changedSince,
  endOfBound,
  listQuery,
  queryInstant,
  queryWords,
  rangeOf,
  startOfBound,
} from '../../lists/query.ts'
import type { StyleApp } from '../../style.ts'
import { localDate, text } from '../../wire.ts'
import * as examples from '../document/examples.ts'
import { LOAN_ADDRESSES, named, pageOf, toPage } from '../registry.ts'
import { entryTypesOf, TRANSACTION_TYPES, toTransaction, transactionSchema } from '../transactions.wire.ts'

const transactionQuery = listQuery.extend({
  type: queryWords(TRANSACTION_TYPES)
    .optional()
    .describe(
      `Only transactions of one of these types, separated by commas: ${TRANSACTION_TYPES.join(', ')}. Recoveries are repayments.`,
    ),
  status: z.enum(['posted', 'reversed']).optional().describe('Only transactions that stand, or only reversed ones.'),
  idempotencyKey: text({ max: 100 })
    .optional()
    .describe('Only transactions with this key; each loan has keys of its own.'),
  postedFrom: queryInstant
    .optional()
    .describe('Only what was posted from this instant on; a date stands for its first instant.'),
  postedTo: queryInstant
    .optional()
    .describe('Only what was posted before this instant; of a date, the whole day is included.'),
  dateFrom: localDate.optional().describe('Only transactions whose value date is this date or later.'),
  dateTo: localDate.optional().describe('Only transactions whose value date is this date or earlier.'),
  updatedSince: changedSince('transactions'),
})

type TransactionQuery = z.infer<typeof transactionQuery>

const toFilter = (query: TransactionQuery, zone: string): TransactionFilter => ({
  types: query.type?.flatMap(entryTypesOf),
  isReversed: query.status && query.status === 'reversed',
  token: query.idempotencyKey,
  postedFrom: startOfBound(query.postedFrom, zone),
  postedBefore: endOfBound(query.postedTo, zone),
  dateFrom: query.dateFrom,
  dateTo: query.dateTo,
  updatedSince: startOfBound(query.updatedSince, zone),
})

const listedTransaction = named(
  'ListedTransaction',
  transactionSchema.extend({
    loanExternalId: z.string().nullable().describe('Your own id of the loan; null where it has none.'),
    customerId: z.string().describe("The service's number of the customer."),
    customerExternalId: z.string().nullable().describe('Your own id of the customer; null where it has none.'),
  }),
  { example: examples.listedTransaction },
)

const transactionList = pageOf('ListedTransactionPage', listedTransaction)

const toListed = (transaction: ListedTransaction): z.infer<typeof listedTransaction> => ({
  ...toTransaction(transaction),
  loanExternalId: transaction.loan.externalId,
  customerId: String(transaction.loan.customerId),
  customerExternalId: transaction.loan.customerExternalId,
})

const description =
  'Every transaction of every type, reversed ones too, in the order in which they were posted, with its portions as they are now. An item must match all filters.'

/** Adds the lists of transactions: of all loans, and of one. */
export function transactionListRoutes(app: StyleApp, deps: Deps): void {
  const list = async (caller: Parameters<typeof listTransactions>[1], query: TransactionQuery, ref?: LoanRef) => {
    const request = { ref, filter: toFilter(query, deps.config.zone), range: rangeOf(query) }
    return toPage(await listTransactions(deps, caller, request, toListed), query, (view) => view)
  }

  app.get(
    '/v1/transactions',
    {
      schema: {
        tags: ['transactions'],
        operationId: 'listTransactions',
        summary: 'List transactions',
        description: `${description} To reconcile a day: \`postedFrom\` and \`postedTo\` with that day.`,
        querystring: transactionQuery,
        response: { 200: transactionList },
      },
    },
    ({ caller, query }) => list(caller, query),
  )

  for (const { path, params, named: operation } of LOAN_ADDRESSES)
    app.get(
      `/v1/loans${path}/transactions`,
      {
        schema: {
          tags: ['transactions'],
          operationId: operation('listLoanTransactions', 'Loan'),
          summary: 'List the transactions of a loan',
          description,
          params,
          querystring: transactionQuery,
          response: { 200: transactionList },
        },
      },
      ({ caller, params: ref, query }) => list(caller, query, ref),
    )
}
