import { z } from 'zod'
import { toRfc3339 } from '../../domain/dates.ts'
import { minorToNumber } from '../../domain/money.ts'
import type { RepaymentRequest } from '../../domain/recordStyle/recordRepayment.ts'
import type { RecordRepayment } from '../../services/loans/recordRepayments.ts'
import { word } from '../answers.ts'
import { wireInteger } from '../body/json.ts'
import { amount, instant, localDate, money, note, pageQuery, queryInt64, text } from '../wire.ts'
import * as examples from './document/examples.ts'
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
    ...answerFields('status', 'created_at', 'updated_at'),
  }),
  { example: examples.newRepayment },
)

export const repaymentQuery = pageQuery.extend({
  loan_id: queryInt64({ min: 1n }).optional().describe('Only the repayments of this loan; of an unknown one, none.'),
})

const repaymentSchema = named(
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
    created_at: instant,
    updated_at: instant,
  }),
  { example: examples.repayment },
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
  ...(repayment.reversedAt !== null && { status: 'reversed' as const }),
  created_at: toRfc3339(repayment.postedAt, zone),
  updated_at: toRfc3339(repayment.reversedAt ?? repayment.postedAt, zone),
})
