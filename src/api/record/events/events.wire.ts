import { z } from 'zod'
import { displayName } from '../../../domain/customer/customer.ts'
import { isCustomerRepayment } from '../../../domain/loan/entry.ts'
import { LOAN_STATUSES } from '../../../domain/loan/lifecycle.ts'
import { minorToNumber } from '../../../domain/money.ts'
import type { NamedCustomer, ToldLoan, ToldTransaction } from '../../../services/events/toldEvent.ts'
import { wireInteger } from '../../body/json.ts'
import { eventQuery, feedMembers } from '../../lists/eventFeed.ts'
import {
  ACCOUNTING_MEMBERS,
  CHANNEL_MEMBERS,
  CREDIT_MEMBERS,
  DATA_MEMBERS,
  DELINQUENCY_MEMBERS,
  EVENT_MEMBERS,
  type EventWords,
  eventViewIn,
  inWords,
  PAYMENT_MEMBERS,
  PROMISE_MEMBERS,
  previousMembers,
  RECONCILIATION_MEMBERS,
  REMINDER_MEMBERS,
} from '../../lists/eventView.ts'
import { queryInt64 } from '../../lists/query.ts'
import { money } from '../../wire.ts'
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

/** The words of the record style. */
const WORDS = {
  event: { id: 'id', type: 'type', liveMode: 'live_mode', timestamp: 'timestamp' },
  data: {
    sequence: 'sequence',
    loanVersion: 'loan_version',
    requestId: 'request_id',
    accountId: 'account_id',
    hash: 'hash',
    cursor: 'cursor',
  },
  credit: {
    grade: 'grade',
    score: 'credit_score',
    creditLimit: 'credit_limit',
    availableLimit: 'available_credit_limit',
    boostStatus: 'boost_status',
  },
  accounting: { period: 'period', chartVersion: 'chart_version', provisionsAsOf: 'provisions_as_of' },
  delinquency: {
    bucket: 'bucket',
    class: 'class',
    stage: 'stage',
    daysPastDue: 'days_past_due',
    since: 'since',
    policyVersion: 'policy_version',
    previousBucket: 'previous_bucket',
  },
  payment: {
    id: 'id',
    channelId: 'channel_id',
    receipt: 'receipt',
    status: 'status',
    amount: 'amount',
    currencyCode: 'currency_code',
    allocated: 'allocated',
    returned: 'returned',
    reversed: 'reversed',
    suspense: 'suspense',
    valueDate: 'value_date',
    reference: 'reference',
    cause: 'cause',
  },
  channel: { id: 'id', name: 'name', silentSince: 'silent_since', usualGapSeconds: 'usual_gap_seconds' },
  promise: { id: 'id', state: 'state', amount: 'amount', received: 'received', by: 'by' },
  reminder: {
    amount: 'amount',
    currencyCode: 'currency_code',
    dueOn: 'due_on',
    days: 'days',
    text: 'text',
    language: 'language',
  },
  reconciliation: {
    id: 'id',
    channelId: 'channel_id',
    from: 'from',
    to: 'to',
    balanced: 'balanced',
    difference: 'difference',
    currencyCode: 'currency_code',
  },
  previous: {
    status: 'status',
    totalOutstanding: 'total_outstanding',
    totalPaid: 'total_paid',
    totalOverpaid: 'total_overpaid',
    totalWrittenOff: 'total_written_off',
    totalRecovered: 'total_recovered',
    chargedOffOn: 'charged_off_on',
    principal: 'principal_amount',
    disbursedOn: 'released_date',
    dueOn: 'due_date',
    customerId: 'borrower_id',
    businessName: 'business_name',
    phone: 'phone',
    region: 'region',
    creditLimit: 'credit_limit',
    replacedId: 'repayment_id',
    replacedAmount: 'amount',
  },
} as const satisfies EventWords

const credit = named('EventCredit', z.object(inWords(CREDIT_MEMBERS, WORDS.credit)), { example: examples.credit })

const accounting = named('EventAccounting', z.object(inWords(ACCOUNTING_MEMBERS, WORDS.accounting)), {
  example: examples.accounting,
})

const delinquency = named('EventDelinquency', z.object(inWords(DELINQUENCY_MEMBERS, WORDS.delinquency)), {
  example: examples.delinquency,
})

const payment = named('EventPayment', z.object(inWords(PAYMENT_MEMBERS, WORDS.payment)), {
  example: examples.payment,
})

const channel = named('EventPaymentChannel', z.object(inWords(CHANNEL_MEMBERS, WORDS.channel)), {
  example: examples.channel,
})

const promise = named('EventPromise', z.object(inWords(PROMISE_MEMBERS, WORDS.promise)), { example: examples.promise })

const reminder = named('EventReminder', z.object(inWords(REMINDER_MEMBERS, WORDS.reminder)), {
  example: examples.reminder,
})

const reconciliation = named('EventReconciliation', z.object(inWords(RECONCILIATION_MEMBERS, WORDS.reconciliation)), {
  example: examples.reconciliation,
})

const replaced = {
  replacedId: wireId.optional().describe('Of an adjustment: the repayment that was reversed, and counts no longer.'),
  replacedAmount: money.optional().describe('Of an adjustment: the amount of the repayment that was reversed.'),
}

/** What changed, as it was; each event has some of it. */
const previous = named(
  'EventPrevious',
  z.object(inWords({ ...previousMembers(wireId), ...replaced }, WORDS.previous)),
  { example: examples.previous },
)

const eventData = named(
  'EventData',
  z.object({
    ...inWords(DATA_MEMBERS, WORDS.data),
    loan: loanSchema.optional().describe('The loan after the change.'),
    balances: balances.optional().describe('The balances of the loan right after the change.'),
    repayment: repaymentSchema.optional().describe('The repayment that was posted or reversed.'),
    transaction: toldTransaction.optional().describe('Another transaction that was posted or reversed.'),
    borrower: toldBorrower.optional().describe('The borrower, as known now.'),
    credit: credit.optional().describe('What was decided.'),
    accounting: accounting.optional().describe('What changed in the accounting.'),
    delinquency: delinquency.optional().describe('How late the loan is, of `delinquency.changed`.'),
    payment: payment.optional().describe('The payment right after the change, of `payment.*`.'),
    channel: channel.optional().describe('A payment channel on which nothing came in for long.'),
    promise: promise.optional().describe('What became of a promise, of `promise.*`.'),
    reminder: reminder.optional().describe('What the borrower is reminded of, of `loan.due_soon` and `loan.reminder`.'),
    reconciliation: reconciliation.optional().describe('What a comparison of a statement came to.'),
    previous: previous.optional().describe('What changed, as it was.'),
  }),
  { example: examples.repaymentPosted.data },
)

export const eventSchema = named('Event', z.object({ ...inWords(EVENT_MEMBERS, WORDS.event), data: eventData }), {
  example: examples.repaymentPosted,
})

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
export const toEvent = eventViewIn<EventView>({
  words: WORDS,
  toId: (digits) => wireInteger(BigInt(digits)),
  aboutOf: ({ loan, transaction, customer }, zone) => ({
    ...(loan && { loan: toToldLoan(loan, zone), balances: toBalances(loan) }),
    ...(transaction && toTransaction(transaction, zone)),
    ...(customer && { borrower: toBorrower(customer) }),
  }),
})

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
