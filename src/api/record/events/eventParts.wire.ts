import { z } from 'zod'
import { count } from '../../document/answers.ts'
import { money } from '../../wire.ts'
import { named, wireId } from '../registry.ts'
import * as examples from './examples.ts'

// The parts of the data of an event, besides the loan, the repayment and the borrower.

export const credit = named(
  'EventCredit',
  z.object({
    grade: z.string().optional(),
    credit_score: count.optional(),
    credit_limit: money.optional(),
    available_credit_limit: money.optional(),
    boost_status: z.string().optional().describe('Of a statement: whether it raised the limit.'),
  }),
  { example: examples.credit },
)

export const accounting = named(
  'EventAccounting',
  z.object({
    period: z.string().optional().describe('The month that was closed: `2026-01`.'),
    chart_version: z.string().optional().describe('The version of the chart that was set.'),
    provisions_as_of: z.string().optional().describe('The day as of which provisions were booked: `2026-01-31`.'),
  }),
  { example: examples.accounting },
)

export const delinquency = named(
  'EventDelinquency',
  z.object({
    bucket: z.string().describe('The bucket of the loan, by its name in the policy.'),
    class: z.string().optional().describe('The class of the supervisor, where the policy has one.'),
    stage: count.optional().describe('The stage of IFRS 9, 1 to 3, where the policy has one.'),
    days_past_due: count,
    since: z.iso.date().describe('The first day in the bucket.'),
    policy_version: z.string().describe('The version of the policy; `0` before the first one was set.'),
    previous_bucket: z.string().describe('The bucket that was told before.'),
  }),
  { example: examples.delinquency },
)

/** What changed, as it was; each event has some of it. */
export const previous = named(
  'EventPrevious',
  z.object({
    status: z.string().optional(),
    total_outstanding: money.optional(),
    total_paid: money.optional(),
    total_overpaid: money.optional(),
    total_written_off: money.optional(),
    total_recovered: money.optional(),
    charged_off_on: z.iso.date().nullable().optional(),
    principal_amount: money.optional(),
    released_date: z.iso.date().optional(),
    due_date: z.iso.date().optional(),
    borrower_id: wireId.optional(),
    business_name: z.string().nullable().optional(),
    phone: z.string().nullable().optional(),
    region: z.string().nullable().optional(),
    credit_limit: money.optional(),
    repayment_id: wireId
      .optional()
      .describe('Of an adjustment: the repayment that was reversed, and counts no longer.'),
    amount: money.optional().describe('Of an adjustment: the amount of the repayment that was reversed.'),
  }),
  { example: examples.previous },
)
