import { z } from 'zod'
import { toRfc3339 } from '../../domain/dates.ts'
import { minorToNumber } from '../../domain/money.ts'
import type { RepaymentRequest } from '../../domain/recordStyle/loanRecord.ts'
import type { RecordRepayment, RepaymentFilter } from '../../services/loans/recordRepayments.ts'
import { wireInteger } from '../body/json.ts'
import { lineMembers } from '../body/lines.ts'
import { changedSince, listQuery, queryBoolean, queryInt64, startOfBound } from '../lists/query.ts'
import { word } from '../openapi/answers.ts'
import { amount, instant, localDate, money, note, text } from '../wire.ts'
import * as examples from './openapi/examples.ts'
import { answerFields, itemOf, listOf, named, recordId, wireId } from './registry.ts'

const remark = text({ min: 0, max: 100 })

export const postRepaymentRequest = named(
  'PostRepaymentRequest',
  z.strictObject({
    repayment_id: recordId.describe('Your own id of the repayment; unique, and its dedupe token.'),
    loan_id: recordId.describe('Your own id of the loan.'),
    amount: amount.describe("Greater than 0, in the loan's currency."),
    collection_date: localDate.describe("On or after the loan's released_date, not in the future."),
    method: remark.optional().describe("How it was paid. Default: the lender's payment method."),
    collected_by: remark.optional().describe('Who took the money.'),
    description: note.optional().describe('A remark for people.'),
    ...answerFields('status', 'reversed', 'created_at', 'updated_at'),
  }),
  { example: examples.newRepayment },
)

export const repaymentQuery = listQuery.extend({
  loan_id: queryInt64({ min: 1n }).optional().describe('Only the repayments of this loan; of an unknown one, none.'),
  collection_from: localDate.optional().describe('Only repayments collected on this date or later.'),
  collection_to: localDate.optional().describe('Only repayments collected on this date or earlier.'),
  include_reversed: queryBoolean
    .optional()
    .describe('True: reversed repayments too, each with `reversed: true`. Default: false.'),
  updated_since: changedSince('repayments'),
})

/** Reads the query of a list of repayments as a filter. */
export const toRepaymentFilter = (query: z.infer<typeof repaymentQuery>, zone: string): RepaymentFilter => ({
  loanId: query.loan_id,
  isReversed: query.include_reversed === true ? undefined : false,
  dateFrom: query.collection_from,
  dateTo: query.collection_to,
  updatedSince: startOfBound(query.updated_since, zone),
})

export const repaymentSchema = named(
  'Repayment',
  z.object({
    repayment_id: wireId.describe('Your own id; of a repayment that a partner posted, the number of the service.'),
    loan_id: wireId.describe('The id of the loan.'),
    amount: money,
    collection_date: z.iso.date().describe('The value date: the day it counts from.'),
    method: z.string().describe("As it was sent; otherwise the lender's payment method."),
    collected_by: z.string().describe('An empty text where nothing is known.'),
    description: z.string().describe('An empty text where there is none.'),
    status: word('Of a repayment that counts no longer, and which lists leave out; else absent', [
      'reversed',
    ]).optional(),
    reversed: z.boolean().optional().describe('True of a repayment that counts no longer, else absent.'),
    created_at: instant,
    updated_at: instant,
  }),
  { example: examples.repayment },
)

/** The answer to a line of a batch. */
export const repaymentLineAnswer = named(
  'RepaymentLine',
  z.object({
    ...lineMembers,
    success: z.boolean(),
    item: repaymentSchema.optional().describe('Where the status is 200.'),
  }),
  { example: { line: 1, status: 200, success: true, item: examples.repayment } },
)

export const repaymentItem = itemOf('RepaymentItem', repaymentSchema)
export const repaymentList = listOf('RepaymentList', repaymentSchema)

export type RepaymentView = z.infer<typeof repaymentSchema>

/** Reads a body as a repayment. An empty text means none. */
export const toTold = (body: z.infer<typeof postRepaymentRequest>): RepaymentRequest => ({
  id: body.repayment_id,
  amount: body.amount,
  collectedOn: body.collection_date,
  description: body.description || null,
  record: { method: body.method || null, collectedBy: body.collected_by || null },
})

/** Builds the record style's view of a repayment. */
export const toRepayment = (repayment: RecordRepayment, zone: string): RepaymentView => ({
  repayment_id: wireInteger(repayment.id),
  loan_id: wireInteger(repayment.loanId),
  amount: minorToNumber(repayment.amount, repayment.currency),
  collection_date: repayment.valueDate,
  method: repayment.record?.method ?? repayment.paymentMethod ?? '',
  collected_by: repayment.record?.collectedBy ?? '',
  description: repayment.note ?? '',
  ...(repayment.reversedAt !== null && { status: 'reversed', reversed: true }),
  created_at: toRfc3339(repayment.postedAt, zone),
  updated_at: toRfc3339(repayment.reversedAt ?? repayment.postedAt, zone),
})
