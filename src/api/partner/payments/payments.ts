import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { Deps } from '../../../services/deps.ts'
import type { LoanRef } from '../../../services/loans/loans.ts'
import {
  allocatePayment,
  getPayment,
  listPayments,
  type PaymentView,
  viewOf,
} from '../../../services/payments/payments.ts'
import { type Received, receivePayment } from '../../../services/payments/receivePayments.ts'
import { returnPayment, reverseAllocations } from '../../../services/payments/takeBack.ts'
import { LARGEST_INT32 } from '../../../toolbox/integers.ts'
import { InvalidRequest } from '../../body/json.ts'
import { acceptLines, answerLines, LINES_REFUSED, LINES_TYPE, linesAnswer, MOST_LINES } from '../../body/lines.ts'
import { markMismatched, markReplayed } from '../../http/idempotency.ts'
import { endOfBound, rangeOf, startOfBound } from '../../lists/query.ts'
import type { StyleApp } from '../../style.ts'
import { answerOrWait, WAITS, waitingAnswer } from '../approvals/approvals.wire.ts'
import { toPage } from '../registry.ts'
import * as examples from './examples.ts'
import {
  allocateRequest,
  newPaymentRequest,
  paymentLineAnswer,
  paymentPage,
  paymentParams,
  paymentQuery,
  paymentSchema,
  returnRequest,
  reverseAllocationsRequest,
  toPayment,
  toTold,
} from './payments.wire.ts'

const tags = ['payments']

const DISABLED = ['The channel is disabled.', 'the payment channel is disabled'] as const

/** Adds received payments: told, listed, allocated to loans, returned. */
export function paymentRoutes(app: StyleApp, deps: Deps): void {
  receivingRoutes(app, deps)
  readingRoutes(app, deps)
  allocatingRoute(app, deps)
  takingBackRoutes(app, deps)
}

/** Receives a payment that a body tells of. @returns the payment, and whether it was received before */
async function receive(
  deps: Deps,
  caller: Parameters<typeof receivePayment>[1],
  body: ReturnType<typeof newPaymentRequest.parse>,
): Promise<Pick<Received, 'replayed'> & { readonly view: PaymentView }> {
  const { payment, replayed } = await receivePayment(deps, caller, body.channelId, toTold(body))
  return { view: await viewOf(deps, payment), ...(replayed && { replayed }) }
}

function receivingRoutes(app: StyleApp, deps: Deps): void {
  const { zone } = deps.config
  app.post(
    '/v1/payments',
    {
      config: {
        takesToken: true,
        refusals: ['failed_precondition'],
        explained: { failed_precondition: DISABLED },
      },
      schema: {
        tags,
        operationId: 'postPayment',
        summary: 'Tell of a payment that came in',
        description:
          'Keeps the payment, and allocates it where it fits exactly one loan; else it waits in suspense. Send the same again when no answer comes: a receipt is received once.',
        body: newPaymentRequest,
        response: { 200: paymentSchema },
      },
    },
    async ({ caller, body }, reply) => {
      const { view, replayed } = await receive(deps, caller, body)
      if (replayed) markReplayed(reply)
      if (replayed && replayed.length > 0) markMismatched(reply, replayed)
      return toPayment(view, zone, replayed)
    },
  )
  app.register(async (scope) => {
    const lines = scope.withTypeProvider<ZodTypeProvider>()
    acceptLines(lines)
    lines.post(
      '/v1/payments/batch',
      {
        config: { takesLines: true, explained: LINES_REFUSED },
        schema: {
          tags,
          operationId: 'postPayments',
          summary: 'Tell of many payments',
          description: `A body of lines, each the JSON of one payment; at most ${MOST_LINES}. The answer has a line for each, in their order, with the \`status\` that the payment alone would have had. A line that is refused stops no other. When the connection breaks, send the file again.`,
          consumes: [LINES_TYPE],
          body: newPaymentRequest,
          response: { 200: linesAnswer(paymentLineAnswer) },
        },
      },
      async (request, reply) =>
        answerLines(request, reply, newPaymentRequest, async (body) => {
          const { view, replayed } = await receive(deps, request.caller, body)
          return { payment: toPayment(view, zone, replayed), ...(replayed && { replayed: true }) }
        }) as never,
    )
  })
}

function readingRoutes(app: StyleApp, deps: Deps): void {
  const { zone } = deps.config
  app.get(
    '/v1/payments',
    {
      schema: {
        tags,
        operationId: 'listPayments',
        summary: 'List payments',
        description:
          'In the order in which they were received. Those that wait for somebody have the status `unmatched` or `partly_allocated`, with the loans that they may be for.',
        querystring: paymentQuery,
        response: { 200: paymentPage },
      },
    },
    async ({ caller, query }) => {
      const { status: statuses, channelId, receipt, reference, loanId, from, to } = query
      const filter = {
        statuses,
        receipt,
        reference,
        loanId,
        // A number that no channel can have finds nothing.
        channelId:
          channelId === undefined
            ? undefined
            : Number(channelId !== null && channelId <= LARGEST_INT32 ? channelId : 0n),
        from: startOfBound(from, zone),
        before: endOfBound(to, zone),
      }
      const part = await listPayments(deps, caller, filter, rangeOf(query))
      return toPage(part, query, (view) => toPayment(view, zone))
    },
  )
  app.get(
    '/v1/payments/:id',
    {
      config: {},
      schema: {
        tags,
        operationId: 'getPayment',
        summary: 'Read a payment',
        description: 'Where its money is, its repayments, and the loans that it may be for.',
        params: paymentParams,
        response: { 200: paymentSchema },
      },
    },
    async ({ caller, params: { id } }) => toPayment(await getPayment(deps, caller, id), zone),
  )
}

function allocatingRoute(app: StyleApp, deps: Deps): void {
  const { zone } = deps.config
  app.post(
    '/v1/payments/:id/allocations',
    {
      config: {
        refusals: ['failed_precondition', 'aborted'],
        examples: { Allocated: examples.allocated },
        explained: {
          failed_precondition: [
            'It is more than what is in suspense, or a loan does not take it.',
            '10000.00 TZS is more than what is in suspense of the payment, 0.00 TZS',
          ],
        },
      },
      schema: {
        tags,
        operationId: 'allocatePayment',
        summary: 'Allocate a payment to loans',
        description: 'Posts money in suspense as repayments, with the day of the payment: all parts or none.',
        params: paymentParams,
        body: allocateRequest,
        response: { 200: paymentSchema },
      },
    },
    async ({ caller, params: { id }, body }) => {
      const parts = body.allocations.map(({ loanId, loanExternalId, amount }, index) => ({
        loan: loanOf(loanId, loanExternalId, index),
        amount,
      }))
      return toPayment(await allocatePayment(deps, caller, id, parts), zone)
    },
  )
}

function takingBackRoutes(app: StyleApp, deps: Deps): void {
  const { zone } = deps.config
  app.post(
    '/v1/payments/:id/allocations/reverse',
    {
      config: {
        canWait: true,
        refusals: ['failed_precondition', 'aborted'],
        examples: { Reversed: examples.takenBack },
        explained: {
          failed_precondition: ['Nothing of it stands.', 'the payment has no repayment that stands'],
        },
      },
      schema: {
        tags,
        operationId: 'reversePaymentAllocations',
        summary: 'Take a payment from its loans again',
        description: `Reverses repayments of the payment, all or none: their money is in suspense again. ${WAITS}`,
        params: paymentParams,
        body: reverseAllocationsRequest,
        response: { 200: paymentSchema, ...waitingAnswer },
      },
    },
    async ({ caller, params: { id }, body }, reply) => {
      const { note = null, transactionIds: only } = body ?? {}
      const result = await reverseAllocations(deps, caller, id, { note, only })
      return answerOrWait(reply, result, (view) => toPayment(view, zone), zone)
    },
  )
  app.post(
    '/v1/payments/:id/return',
    {
      config: {
        canWait: true,
        refusals: ['failed_precondition', 'aborted'],
        examples: { Returned: examples.returned },
        explained: { failed_precondition: ['Nothing is in suspense.', 'nothing of the payment is in suspense'] },
      },
      schema: {
        tags,
        operationId: 'returnPayment',
        summary: 'Note that a payment was paid back',
        description: `Money in suspense that you have sent back to the payer. The service moves no money: it books what you did. All returns of the payment count together. ${WAITS}`,
        params: paymentParams,
        body: returnRequest,
        response: { 200: paymentSchema, ...waitingAnswer },
      },
    },
    async ({ caller, params: { id }, body }, reply) => {
      const result = await returnPayment(deps, caller, id, body)
      return answerOrWait(reply, result, (view) => toPayment(view, zone), zone)
    },
  )
}

/** Returns the loan that a part names. @throws InvalidRequest where it names none, or two */
function loanOf(id: bigint | undefined, externalId: string | undefined, index: number): LoanRef {
  if ((id === undefined) === (externalId === undefined)) {
    const field = `allocations[${index}].loanId`
    const message =
      id === undefined
        ? 'is required: a part names its loan by loanId or by loanExternalId'
        : 'cannot be given together with loanExternalId: a part names its loan by one of the two'
    throw new InvalidRequest(message, [{ field, message }])
  }
  return externalId === undefined ? { id: id! } : { externalId }
}
