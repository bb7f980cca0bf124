import { z } from 'zod'
import { displayName } from '../../../domain/customer/customer.ts'
import { toRfc3339 } from '../../../domain/dates.ts'
import { isCustomerRepayment } from '../../../domain/loan/entry.ts'
import { LOAN_STATUSES } from '../../../domain/loan/lifecycle.ts'
import { type Currency, currencyOf, minorToNumber } from '../../../domain/money.ts'
import { afterEvent, encodeEventCursor } from '../../../services/events/eventCursor.ts'
import {
  eventIdOf,
  type NamedCustomer,
  type ToldEvent,
  type ToldLoan,
  type ToldTransaction,
} from '../../../services/events/toldEvent.ts'
import type { Organization } from '../../../services/organizations/organizations.ts'
import { wireInteger } from '../../body/json.ts'
import {
  bucketOf,
  changedBefore,
  digitsOf,
  eventMembers,
  eventQuery,
  feedMembers,
  type Kept,
  keptOf,
  liveMode,
  renamed,
  replacedBy,
  toMoney,
} from '../../lists/eventFeed.ts'
import { queryInt64 } from '../../lists/query.ts'
import { count } from '../../openapi/answers.ts'
import { instant, money } from '../../wire.ts'
import { loanSchema, toLoan } from '../loanView.ts'
import { named, wireId } from '../registry.ts'
import { repaymentSchema, toRepayment } from '../repayments.wire.ts'
import * as examples from './examples.ts'

export const recordEventQuery = eventQuery.extend({
  loan_id: queryInt64({ min: 1n }).optional().describe('Only events of this loan.'),
  borrower_id: queryInt64({ min: 1n }).optional().describe('Only events of this borrower and of its loans.'),
})

const balances = named(
  'LoanBalances',
  z.object({
    status: z.enum(LOAN_STATUSES),
    principal_outstanding: money,
    interest_outstanding: money,
    fees_outstanding: money,
    penalty_outstanding: money,
    total_paid: money,
    total_outstanding: money,
    total_overpaid: money,
    total_overdue: money,
    total_written_off: money,
    total_recovered: money.describe('What borrowers paid of what was written off.'),
    charged_off_on: z.iso.date().optional().describe('Absent where the loan is not charged off.'),
    next_due_date: z.iso.date().optional().describe('Absent once nothing is owed.'),
    overdue_since: z.iso.date().optional().describe('Absent where nothing is overdue.'),
  }),
  { example: examples.balances },
)

const toldTransaction = named(
  'EventTransaction',
  z.object({
    transaction_id: wireId,
    loan_id: wireId,
    type: z.string().describe('Such as `Refund`, `Waive Interest`, `Charge-off` or `Write-off`.'),
    amount: money,
    date: z.iso.date().describe('The value date: the day it counts from.'),
    description: z.string().describe('An empty text where there is none.'),
    reversed: z.boolean().optional().describe('True of a transaction that counts no longer, else absent.'),
  }),
  { example: examples.transaction },
)

const toldBorrower = named(
  'EventBorrower',
  z.object({
    id: wireId.describe('Your own id; of a borrower that a partner made, the number of the service.'),
    business_name: z.string(),
    phone: z.string(),
    region: z.string(),
  }),
  { example: examples.borrower },
)

// The parts of the data of an event, besides the loan, the repayment and the borrower.

const credit = named(
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

const accounting = named(
  'EventAccounting',
  z.object({
    period: z.string().optional().describe('The month that was closed: `2026-01`.'),
    chart_version: z.string().optional().describe('The version of the chart that was set.'),
    provisions_as_of: z.string().optional().describe('The day as of which provisions were booked: `2026-01-31`.'),
  }),
  { example: examples.accounting },
)

const delinquency = named(
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
const previous = named(
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

const eventData = named(
  'EventData',
  z.object({
    sequence: z.string().describe('The number of the event: 1, 2, 3 … without a gap in your organization.'),
    loan_version: count
      .optional()
      .describe('The number of changes of the loan by then. Drop an event whose number is below the one you have.'),
    request_id: z.string().nullable().describe('The request that made the change; null: time, or the service itself.'),
    account_id: count.nullable().describe('The account that made the change; null: the service, or its command line.'),
    hash: z.string().describe('The hash of the event in the chain of changes.'),
    cursor: z.string().describe('The cursor after the event: send it as `after` to get the events that follow.'),
    loan: loanSchema.optional().describe('The loan after the change.'),
    balances: balances.optional().describe('The balances of the loan right after the change.'),
    repayment: repaymentSchema.optional().describe('The repayment that was posted or reversed.'),
    transaction: toldTransaction.optional().describe('Another transaction that was posted or reversed.'),
    borrower: toldBorrower.optional().describe('The borrower, as known now.'),
    credit: credit.optional().describe('What was decided.'),
    accounting: accounting.optional().describe('What changed in the accounting.'),
    delinquency: delinquency.optional().describe('How late the loan is, of `delinquency.changed`.'),
    previous: previous.optional().describe('What changed, as it was.'),
  }),
  { example: examples.repaymentPosted.data },
)

export const eventSchema = named(
  'Event',
  z.object({
    ...eventMembers,
    live_mode: liveMode,
    timestamp: instant.describe('When the change was made.'),
    data: eventData,
  }),
  { example: examples.repaymentPosted },
)

const success = z.boolean().describe('True; a refusal has false.')

export const eventItem = named('EventItem', z.object({ item: eventSchema, success }), {
  example: { item: examples.repaymentPosted, success: true },
})

export const eventFeed = named('EventFeed', z.object({ items: z.array(eventSchema), ...feedMembers, success }), {
  example: {
    items: [examples.repaymentPosted],
    next: examples.repaymentPosted.data.cursor,
    hasMore: false,
    success: true,
  },
})

export type EventView = z.infer<typeof eventSchema>

/** Builds the record style's view of an event. */
export function toEvent(
  event: ToldEvent,
  organization: Pick<Organization, 'currency' | 'mode'>,
  zone: string,
): EventView {
  const { change, loan, transaction, customer } = event
  const currency = loan?.loan.terms.currency ?? currencyOf(organization.currency)
  const before = previousOf(event, currency)
  return {
    id: eventIdOf(event),
    type: event.type,
    live_mode: organization.mode === 'live',
    timestamp: toRfc3339(event.at, zone),
    data: {
      sequence: String(event.sequence),
      ...(loan && { loan_version: loan.state.version }),
      request_id: change.requestId,
      account_id: change.accountId,
      hash: Buffer.from(event.hash).toString('hex'),
      cursor: encodeEventCursor(afterEvent(event)),
      ...(loan && { loan: toToldLoan(loan, zone), balances: toBalances(loan) }),
      ...(transaction && toTransaction(transaction, zone)),
      ...(customer && { borrower: toBorrower(customer) }),
      ...(event.type.startsWith('credit.') && { credit: creditOf(event, currency) }),
      ...accountingOf(event),
      ...delinquencyOf(event),
      ...(Object.keys(before).length > 0 && { previous: before }),
    },
  }
}

function creditOf({ change }: ToldEvent, currency: Currency): z.input<typeof credit> {
  const after = keptOf(change.after)
  const limits = { creditLimit: 'credit_limit', availableLimit: 'available_credit_limit' }
  return {
    ...renamed(after, { grade: 'grade', score: 'credit_score', boostStatus: 'boost_status' }),
    ...renamed(after, limits, toMoney(currency)),
  }
}

function accountingOf({ type, change: { entityId } }: ToldEvent): { accounting?: z.infer<typeof accounting> } {
  if (type === 'accounting.period_closed') return { accounting: { period: entityId } }
  if (type === 'accounting.provisions_booked') return { accounting: { provisions_as_of: entityId } }
  return type === 'accounting.chart_changed' ? { accounting: { chart_version: entityId } } : {}
}

function delinquencyOf({ type, change }: ToldEvent): { delinquency?: z.input<typeof delinquency> } {
  const told = type === 'delinquency.changed' ? bucketOf(change) : undefined
  if (!told) return {}
  const { daysPastDue: days_past_due, policyVersion: policy_version, previousBucket: previous_bucket, ...rest } = told
  return { delinquency: { ...rest, days_past_due, policy_version, previous_bucket } }
}

/** The names of what the trail keeps, as the record style says them. */
const WORDS = {
  status: 'status',
  chargedOffOn: 'charged_off_on',
  disbursedOn: 'released_date',
  dueOn: 'due_date',
  businessName: 'business_name',
  phone: 'phone',
  region: 'region',
}
const AMOUNTS = {
  totalOutstanding: 'total_outstanding',
  totalPaid: 'total_paid',
  totalOverpaid: 'total_overpaid',
  totalWrittenOff: 'total_written_off',
  totalRecovered: 'total_recovered',
  principal: 'principal_amount',
  creditLimit: 'credit_limit',
}

/** Returns what the change changed, as it was before: of what the trail keeps. */
function previousOf({ change }: ToldEvent, currency: Currency): Kept {
  const changed = changedBefore(change)
  const replaced = replacedBy(change)
  const toId = (id: unknown) => wireInteger(BigInt(digitsOf(id)))
  return {
    ...renamed(changed, WORDS),
    ...renamed(changed, AMOUNTS, toMoney(currency)),
    ...renamed(changed, { customerId: 'borrower_id' }, toId),
    ...(replaced && { repayment_id: toId(replaced.id), amount: toMoney(currency)(replaced.amount) }),
  }
}

const toToldLoan = ({ loan }: ToldLoan, zone: string) =>
  toLoan(
    {
      ...loan,
      borrowerId: loan.customerId,
      currency: loan.terms.currency,
      principal: loan.terms.principal,
      disbursedOn: loan.terms.disbursedOn,
      dueOn: loan.terms.dueOn,
      numberOfRepayments: loan.terms.numberOfRepayments,
    },
    zone,
  )

function toBalances({ loan, state }: ToldLoan): z.infer<typeof balances> {
  const number = (minor: bigint) => minorToNumber(minor, loan.terms.currency)
  const { outstanding } = state
  return {
    status: state.status,
    principal_outstanding: number(outstanding.principal),
    interest_outstanding: number(outstanding.interest),
    fees_outstanding: number(outstanding.fees),
    penalty_outstanding: number(outstanding.penalty),
    total_paid: number(state.totalPaid),
    total_outstanding: number(state.totalOutstanding),
    total_overpaid: number(state.totalOverpaid),
    total_overdue: number(state.totalOverdue),
    total_written_off: number(state.totalWrittenOff),
    total_recovered: number(state.totalRecovered),
    ...(state.chargedOffOn !== null && { charged_off_on: state.chargedOffOn }),
    ...(state.nextDueOn !== null && { next_due_date: state.nextDueOn }),
    ...(state.overdueSince !== null && { overdue_since: state.overdueSince }),
  }
}

/** Builds a repayment, or another transaction. */
function toTransaction({ loan, entry }: ToldTransaction, zone: string): Partial<EventView['data']> {
  const { currency } = loan.terms
  if (isCustomerRepayment(entry.type)) {
    const { record = null, paymentMethod = null } = entry
    return { repayment: toRepayment({ ...entry, record, paymentMethod, loanId: loan.id, currency }, zone) }
  }
  const transaction = {
    transaction_id: wireInteger(entry.id),
    loan_id: wireInteger(loan.id),
    type: entry.type,
    amount: minorToNumber(entry.amount, currency),
    date: entry.valueDate,
    description: entry.note ?? '',
    ...(entry.reversedAt !== null && { reversed: true }),
  }
  return { transaction }
}

const toBorrower = (customer: NamedCustomer): z.infer<typeof toldBorrower> => ({
  id: wireInteger(customer.id),
  business_name: customer.businessName ?? displayName(customer),
  phone: customer.phone ?? '',
  region: customer.region ?? '',
})
