import { z } from 'zod'
import { PROMISE_STATES } from '../../../domain/collections/promise.ts'
import { toRfc3339 } from '../../../domain/dates.ts'
import { minorToNumber } from '../../../domain/money.ts'
import { cancelPromise, type JudgedPromise, listPromises, makePromise } from '../../../services/collections/promises.ts'
import type { Deps } from '../../../services/deps.ts'
import { listQuery, rangeOf } from '../../lists/query.ts'
import { word } from '../../openapi/answers.ts'
import type { StyleApp } from '../../style.ts'
import { amount, instant, localDate, money } from '../../wire.ts'
import { LOAN_ADDRESSES, named, pageOf, toPage } from '../registry.ts'
import { recordedBy, tags, words } from './contacts.ts'
import * as examples from './examples.ts'

const createPromiseRequest = named(
  'CreatePromiseRequest',
  z.strictObject({
    amount: amount.describe('In the currency of the loan; at most what the loan owes.'),
    by: localDate.describe('The last day on which a repayment counts: today or later, within 92 days.'),
    note: words('What was said.').optional(),
  }),
  { example: examples.newPromise },
)

const cancelPromiseRequest = named(
  'CancelPromiseRequest',
  z.strictObject({ reason: words('Why it is cancelled.').optional() }),
  { example: examples.cancellation },
)

export const promiseSchema = named(
  'PaymentPromise',
  z.object({
    id: z.string().describe("The service's number."),
    loanId: z.string(),
    amount: money,
    currencyCode: z.string(),
    madeOn: z.iso.date().describe('The day of the promise: repayments from this day on count.'),
    by: z.iso.date(),
    state: word('What became of it, by what is known now', PROMISE_STATES),
    received: money.describe('What of the repayments counts for the promise by now.'),
    note: z
      .string()
      .nullable()
      .describe('Null: nothing was noted, the customer was erased, or the caller has no `collections.work`.'),
    cancelReason: z.string().optional(),
    accountId: recordedBy,
    createdAt: instant,
    updatedAt: instant,
  }),
  { example: examples.promise },
)

const promisePage = pageOf('PaymentPromisePage', promiseSchema)

/** Builds the view of a promise. */
export const toPromise = (promise: JudgedPromise, zone: string): z.infer<typeof promiseSchema> => ({
  id: String(promise.id),
  loanId: String(promise.loanId),
  amount: minorToNumber(promise.amount, promise.currency),
  currencyCode: promise.currency.code,
  madeOn: promise.madeOn,
  by: promise.by,
  state: promise.state,
  received: minorToNumber(promise.received, promise.currency),
  note: promise.note,
  ...(promise.cancelReason !== null && { cancelReason: promise.cancelReason }),
  accountId: promise.accountId,
  createdAt: toRfc3339(promise.createdAt, zone),
  updatedAt: toRfc3339(promise.updatedAt, zone),
})

type Address = (typeof LOAN_ADDRESSES)[number]

/** Adds the promises on loans. */
export function promiseRoutes(app: StyleApp, deps: Deps): void {
  for (const address of LOAN_ADDRESSES) {
    addMaking(app, deps, address)
    addCancelling(app, deps, address)
  }
}

function addMaking(app: StyleApp, deps: Deps, { path, params, named }: Address): void {
  const { zone } = deps.config
  app.post(
    `/v1/loans${path}/promises`,
    {
      config: {
        refusals: ['failed_precondition'],
        explained: {
          failed_precondition: ['The loan owes nothing, or has too many open promises.', 'the loan owes nothing'],
        },
      },
      schema: {
        tags,
        operationId: named('createPromise', 'Loan'),
        summary: 'Record what a customer promises to pay',
        description:
          'At the end of the day `by` it is kept or broken, by the value dates of the repayments: one that is told late still counts, and one that is reversed does not. Each change is told as `promise.kept` or `promise.broken`. A loan has at most 10 open promises; each cent counts for one of them, that of the earliest day first.',
        params,
        body: createPromiseRequest,
        response: { 200: promiseSchema },
      },
    },
    async ({ caller, params: ref, body }) => toPromise(await makePromise(deps, caller, ref, body), zone),
  )
  app.get(
    `/v1/loans${path}/promises`,
    {
      schema: {
        tags,
        operationId: named('listPromises', 'Loan'),
        summary: 'List the promises on a loan',
        description: 'In the order in which they were made, each as a replay of the loan judges it now.',
        params,
        querystring: listQuery,
        response: { 200: promisePage },
      },
    },
    async ({ caller, params: ref, query }) =>
      toPage(await listPromises(deps, caller, ref, rangeOf(query)), query, (one) => toPromise(one, zone)),
  )
}

function addCancelling(app: StyleApp, deps: Deps, { path, withPart, named }: Address): void {
  const operationId = named('cancelPromise', 'Loan')
  app.post(
    `/v1/loans${path}/promises/:promiseId/cancel`,
    {
      config: {
        refusals: ['failed_precondition'],
        explained: {
          failed_precondition: [
            'Its day is over.',
            'the day of the promise, 2026-02-04, is over: it is kept or broken',
          ],
        },
        examples: { Cancelled: examples.cancelledPromise },
        ...(operationId !== 'cancelPromise' && { prefilled: { params: { promiseId: '2' } } }),
      },
      schema: {
        tags,
        operationId,
        summary: 'Cancel a promise',
        description: 'It is neither kept nor broken then. A second time changes nothing.',
        params: withPart('promiseId'),
        body: cancelPromiseRequest.optional(),
        response: { 200: promiseSchema },
      },
    },
    async ({ caller, params, body }) =>
      toPromise(await cancelPromise(deps, caller, params, body ?? {}), deps.config.zone),
  )
}
