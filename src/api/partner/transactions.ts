import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { invariant } from '../../domain/errors.ts'
import { type EntryType, isCustomerRepayment } from '../../domain/loan/entry.ts'
import type { Mismatch } from '../../domain/loan/loan.ts'
import type { Deps } from '../../services/deps.ts'
import type { LoanRef } from '../../services/loans/loans.ts'
import {
  type ListedTransaction,
  listTransactions,
  type TransactionFilter,
} from '../../services/loans/transactionList.ts'
import {
  adjustTransaction,
  getTransaction,
  listRepayments,
  postTransaction,
  reverseTransaction,
  type TransactionNow,
} from '../../services/loans/transactions.ts'
import { InvalidRequest } from '../body/json.ts'
import { acceptLines, answerLines, LINES_REFUSED, LINES_TYPE, linesAnswer, MOST_LINES } from '../body/lines.ts'
import { markMismatched, markReplayed } from '../http/idempotency.ts'
import { changedSince, endOfBound, listQuery, queryInstant, queryWords, rangeOf, startOfBound } from '../lists/query.ts'
import type { StyleApp } from '../style.ts'
import { localDate, text } from '../wire.ts'
import { answerOrWait, WAITS, waitingAnswer } from './approvals/approvals.wire.ts'
import { chargeRoutes } from './charges/charges.ts'
import * as examples from './openapi/examples.ts'
import { prefilledFor } from './openapi/story.ts'
import { POSTINGS, refusalOf, WRONG_STATE } from './postings.ts'
import { LOAN_ADDRESSES, named, pageOf, toPage } from './registry.ts'
import {
  adjustTransactionRequest,
  entryTypesOf,
  repaymentLine,
  repaymentLineAnswer,
  reverseTransactionRequest,
  TRANSACTION_TYPES,
  toPosting,
  toTransaction,
  transactionPage,
  transactionSchema,
} from './transactions.wire.ts'

const tags = ['repayments']

const repaymentQuery = listQuery.extend({
  updatedSince: queryInstant
    .optional()
    .describe(
      'Only repayments that were posted or reversed from this instant on; a date stands for its first instant.',
    ),
})

type Address = (typeof LOAN_ADDRESSES)[number]

/** Adds the transactions of a loan, and its single charges. */
export function transactionRoutes(app: StyleApp, deps: Deps): void {
  for (const address of LOAN_ADDRESSES) {
    for (const kind of POSTINGS) addPosting(app, deps, address, kind)
    addList(app, deps, address)
    addRead(app, deps, address)
    addAdjustment(app, deps, address)
    addReversal(app, deps, address)
  }
  addBatch(app, deps)
  chargeRoutes(app, deps)
}

/** Adds the batch of repayments, each line of which is a repayment as `POST …/repayments` takes it. */
function addBatch(app: StyleApp, deps: Deps): void {
  app.register(async (scope) => {
    const lines = scope.withTypeProvider<ZodTypeProvider>()
    acceptLines(lines)
    lines.post(
      '/v1/repayments/batch',
      {
        config: {
          takesLines: true,
          explained: LINES_REFUSED,
        },
        schema: {
          tags,
          operationId: 'postRepayments',
          summary: 'Post many repayments',
          description: `A body of lines, each the JSON of one repayment of one loan; at most ${MOST_LINES}. The answer has a line for each, in their order, with the \`status\` that the repayment alone would have had, and \`repayment\` or the members of a refusal. A line that is refused stops no other. When the connection breaks, send the file again: what was posted is answered again.`,
          consumes: [LINES_TYPE],
          body: repaymentLine,
          response: { 200: linesAnswer(repaymentLineAnswer) },
        },
      },
      async (request, reply) =>
        answerLines(request, reply, repaymentLine, async ({ loanId, loanExternalId, ...body }) => {
          const ref = loanOfLine(loanId, loanExternalId)
          const posted = await postTransaction(deps, request.caller, ref, toPosting('Repayment', body))
          invariant('entry' in posted, 'a repayment waits for nobody')
          return toLineAnswer(posted)
        }) as never,
    )
  })
}

/** Returns the loan that a line of a batch names. @throws InvalidRequest where it names none, or two */
function loanOfLine(id: bigint | undefined, externalId: string | undefined): LoanRef {
  const isOne = (id === undefined) !== (externalId === undefined)
  if (!isOne) {
    const message = `${id === undefined ? 'is required' : 'cannot be given together with loanExternalId'}: a line names its loan by loanId or by loanExternalId`
    throw new InvalidRequest(message, [{ field: 'loanId', message }])
  }
  return externalId === undefined ? { id: id! } : { externalId }
}

/** Builds the members of the answer to a line: the repayment, and where it was posted before, in what the line differs. */
function toLineAnswer(posted: TransactionNow) {
  const { replayed } = posted
  return {
    repayment: toTransaction(posted),
    ...(replayed && { replayed: true }),
    ...(replayed && replayed.length > 0 && { mismatch: replayed.map((name) => MEMBERS[name]) }),
  }
}

/** The types whose posting may wait for a second ADMIN. */
const lossTypes: ReadonlySet<EntryType> = new Set(['Write-off', 'Waive Interest'])

/** The members of a body, by what they are of a posting; the path says the type. */
const MEMBERS: Readonly<Record<Mismatch, string>> = {
  type: 'type',
  amount: 'transactionAmount',
  valueDate: 'transactionDate',
  note: 'note',
}

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

const description =
  'Every transaction of every type, reversed ones too, in the order in which they were posted, with its portions as they are now. An item must match all filters.'

function addPosting(
  app: StyleApp,
  deps: Deps,
  { path: ofLoan, params, named }: Address,
  { path, type, example, body, tag, operation, summary, description }: (typeof POSTINGS)[number],
): void {
  app.post(
    `/v1/loans${ofLoan}${path}`,
    {
      config: {
        refusals: ['failed_precondition'],
        ...(isCustomerRepayment(type) && { takesToken: true as const }),
        ...(lossTypes.has(type) && { canWait: true as const }),
        explained: { failed_precondition: [WRONG_STATE, refusalOf(type)] },
        examples: { [example.type]: example },
      },
      schema: {
        tags: [tag],
        operationId: named(operation, 'Loan'),
        summary,
        description: lossTypes.has(type) ? `${description} ${WAITS}` : description,
        params,
        body,
        response: { 200: transactionSchema, ...(lossTypes.has(type) && waitingAnswer) },
      },
    },
    async ({ caller, params: ref, body: given }, reply) => {
      const posting = toPosting(type, given)
      const view = (transaction: TransactionNow) => {
        const { replayed } = transaction
        if (replayed) markReplayed(reply)
        if (replayed && replayed.length > 0)
          markMismatched(
            reply,
            replayed.map((name) => MEMBERS[name]),
          )
        return toTransaction(transaction)
      }
      return answerOrWait(reply, await postTransaction(deps, caller, ref, posting), view, deps.config.zone)
    },
  )
}

function addAdjustment(app: StyleApp, deps: Deps, { path, withTransaction, named }: Address): void {
  const operationId = named('adjustTransaction', 'Loan')
  app.post(
    `/v1/loans${path}/repayments/:transactionId/adjust`,
    {
      config: {
        canWait: true,
        refusals: ['failed_precondition'],
        explained: { failed_precondition: [WRONG_STATE, 'the transaction is reversed already'] },
        examples: { Adjusted: examples.adjusted },
        prefilled: prefilledFor(operationId),
      },
      schema: {
        tags: ['corrections'],
        operationId,
        summary: 'Adjust a transaction',
        description: `Reverses the original and posts it again; an amount of 0 only reverses. ${WAITS}`,
        params: withTransaction,
        body: adjustTransactionRequest,
        response: { 200: transactionSchema, ...waitingAnswer },
      },
    },
    async ({ caller, params: { ref, transactionId }, body }, reply) => {
      const { transactionAmount: amount, transactionDate: valueDate, note = null } = body
      const adjusted = await adjustTransaction(deps, caller, { ref, transactionId }, { amount, valueDate, note })
      return answerOrWait(reply, adjusted, toTransaction, deps.config.zone)
    },
  )
}

function addReversal(app: StyleApp, deps: Deps, { path, withTransaction, named }: Address): void {
  const operationId = named('reverseTransaction', 'Loan')
  app.post(
    `/v1/loans${path}/repayments/:transactionId/reverse`,
    {
      config: {
        canWait: true,
        refusals: ['failed_precondition'],
        explained: { failed_precondition: [WRONG_STATE, 'the transaction is reversed already'] },
        examples: { Reversed: examples.reversed },
        prefilled: prefilledFor(operationId),
      },
      schema: {
        tags: ['losses and reversals'],
        operationId,
        summary: 'Reverse a transaction',
        description: `It stays visible with \`status: reversed\`; the loan becomes what it would be without it. ${WAITS}`,
        params: withTransaction,
        body: reverseTransactionRequest,
        response: { 200: transactionSchema, ...waitingAnswer },
      },
    },
    async ({ caller, params: { ref, transactionId }, body }, reply) => {
      const reversed = await reverseTransaction(deps, caller, { ref, transactionId }, body?.note ?? null)
      return answerOrWait(reply, reversed, toTransaction, deps.config.zone)
    },
  )
}

function addList(app: StyleApp, deps: Deps, { path, params, named }: Address): void {
  app.get(
    `/v1/loans${path}/repayments`,
    {
      schema: {
        tags,
        operationId: named('listRepayments', 'Loan'),
        summary: 'List repayments',
        description:
          "The customer's repayments, newest first, reversed ones included. A cursor goes back in time; repayments that are posted meanwhile are not in it.",
        params,
        querystring: repaymentQuery,
        response: { 200: transactionPage },
      },
    },
    async ({ caller, params: ref, query }) => {
      const updatedSince = startOfBound(query.updatedSince, deps.config.zone)
      const request = { range: rangeOf(query), updatedSince }
      return toPage(await listRepayments(deps, caller, ref, request), query, toTransaction)
    },
  )
}

function addRead(app: StyleApp, deps: Deps, { path, withTransaction, named }: Address): void {
  app.get(
    `/v1/loans${path}/repayments/:transactionId`,
    {
      schema: {
        tags,
        operationId: named('getTransaction', 'Loan'),
        summary: 'Read a transaction',
        description: 'Of any type, a reversed one too.',
        params: withTransaction,
        response: { 200: transactionSchema },
      },
    },
    async ({ caller, params: { ref, transactionId } }) =>
      toTransaction(await getTransaction(deps, caller, ref, transactionId)),
  )
}

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

const toListed = (transaction: ListedTransaction): z.infer<typeof listedTransaction> => ({
  ...toTransaction(transaction),
  loanExternalId: transaction.loan.externalId,
  customerId: String(transaction.loan.customerId),
  customerExternalId: transaction.loan.customerExternalId,
})

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
