import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { toRfc3339 } from '../../../domain/dates.ts'
import { currencyOf, minorToNumber, toMinorUnits } from '../../../domain/money.ts'
import {
  ACTION_KINDS,
  ACTION_STATES,
  LONGEST_REASON,
  type PendingAction,
} from '../../../services/approvals/approvals.ts'
import { isWaiting, type Waits } from '../../../services/approvals/waiting.ts'
import { LARGEST_INT32 } from '../../../toolbox/integers.ts'
import { listQuery, queryId, queryInt } from '../../lists/query.ts'
import { count, word } from '../../openapi/answers.ts'
import { idParam, instant, loanNumber, money, smallInt, text } from '../../wire.ts'
import { named, pageOf } from '../registry.ts'
import * as examples from './examples.ts'

/** A number that no pending action has. */
const NONE = 0n

export const actionParams = z
  .object({ id: idParam.meta({ examples: [examples.waitingWriteOff.id] }) })
  .transform(({ id }) => ({ id: id ?? NONE }))

export const actionQuery = listQuery.extend({
  state: z.enum(ACTION_STATES).optional().describe('Only actions in this state.'),
  loanId: queryId('no other filter').optional().describe('Only actions on this loan.'),
  paymentId: queryId('no other filter').optional().describe('Only actions on this payment.'),
  askedBy: queryInt({ min: 1, max: LARGEST_INT32 }).optional().describe('Only what this account asked for.'),
})

export const rejectRequest = named(
  'RejectPendingActionRequest',
  z.strictObject({ reason: text({ max: LONGEST_REASON, lines: true }).describe('Why, for the one who asked.') }),
  { example: examples.reason },
)

export const rejectManyRequest = named(
  'RejectPendingActionsRequest',
  z.strictObject({
    askedBy: smallInt({ min: 1, max: LARGEST_INT32 }).optional().describe('The account that asked.'),
    loanId: loanNumber.optional().describe('The loan. With `askedBy`, what that account asked for on the loan.'),
    reason: rejectRequest.shape.reason,
  }),
  { example: examples.rejectMany },
)

export const rejectedSchema = named(
  'RejectedPendingActions',
  z.object({ rejected: z.array(z.string()).describe('Their ids, in order; at most 1,000.') }),
  { example: examples.rejectedMany },
)

export const pendingActionSchema = named(
  'PendingAction',
  z.object({
    id: z.string(),
    state: word('Whether it waits, or how it ended', ACTION_STATES),
    kind: word('What was asked for', ACTION_KINDS),
    loanId: z.string().optional().describe("The service's number of the loan, of an action on a loan."),
    paymentId: z.string().optional().describe("The service's number of the payment, of an action on a payment."),
    transactionId: z.string().optional().describe('The transaction that is to be reversed or adjusted.'),
    amount: money.describe(
      'Of a reversal what the transactions are of, of an adjustment the larger of its amounts, of a write-off and a waiver what is given up, of a return what is paid back. No more than this is posted.',
    ),
    currencyCode: z.string(),
    transactionAmount: money
      .optional()
      .describe('The amount that was asked for, of an adjustment, a waiver or a return.'),
    transactionDate: z.iso.date().optional().describe('The value date that it will have.'),
    note: z.string().optional().describe('As it was sent.'),
    askedAt: instant,
    askedBy: count.nullable().describe('The account that asked; null: the command line.'),
    requestId: z.string().optional().describe('The request that asked.'),
    decidedAt: instant.optional().describe('When it was approved, rejected or withdrawn.'),
    decidedBy: count.nullable().optional().describe('The account that decided; null: the command line.'),
    reason: z.string().optional().describe('Of a rejected one: why.'),
    postedTransactionId: z
      .string()
      .optional()
      .describe(
        'Of an approved one on a loan: the transaction that was posted or, of a reversal, the one that was reversed.',
      ),
  }),
  { example: examples.waitingWriteOff },
)

export const pendingActionPage = pageOf('PendingActionPage', pendingActionSchema)

/** Builds the view of a pending action. */
export function toPendingAction(action: PendingAction, zone: string): z.infer<typeof pendingActionSchema> {
  const { request, loanId, paymentId, transactionId, reason, decidedAt, decidedBy, postedId, askedRequestId } = action
  const currency = currencyOf(action.currency)
  const asked = request.amount && { units: BigInt(request.amount.units), scale: request.amount.scale }
  return {
    id: String(action.id),
    state: action.state,
    kind: action.kind,
    ...(loanId !== null && { loanId: String(loanId) }),
    ...(paymentId !== null && { paymentId: String(paymentId) }),
    ...(transactionId !== null && { transactionId: String(transactionId) }),
    amount: minorToNumber(action.amount, currency),
    currencyCode: action.currency,
    ...(asked && { transactionAmount: minorToNumber(toMinorUnits(asked, currency), currency) }),
    ...(request.valueDate && { transactionDate: request.valueDate }),
    ...(request.note !== null && { note: request.note }),
    askedAt: toRfc3339(action.askedAt, zone),
    askedBy: action.askedBy,
    ...(askedRequestId !== null && { requestId: askedRequestId }),
    ...(decidedAt !== null && { decidedAt: toRfc3339(decidedAt, zone), decidedBy }),
    ...(reason !== null && { reason }),
    ...(postedId !== null && { postedTransactionId: String(postedId) }),
  }
}

/** The answer 202 of an operation that may wait for a second ADMIN. */
export const waitingAnswer = {
  202: pendingActionSchema.describe('It waits for a second ADMIN; nothing is posted yet.'),
}

/** The sentence about waiting, for the description of an operation. */
export const WAITS =
  'Above `approvalAbove` of your organization, and always where a PROPOSER asks, it waits for a second ADMIN, and answers 202.'

/**
 * Answers with what was posted, or with 202 and what waits.
 * @param view of what was posted
 */
export function answerOrWait<Result extends object, View>(
  reply: FastifyReply,
  result: Result | Waits,
  view: (posted: Result) => View,
  zone: string,
): View | z.infer<typeof pendingActionSchema> {
  if (!isWaiting(result)) return view(result)
  reply.code(202)
  return toPendingAction(result.waits, zone)
}
