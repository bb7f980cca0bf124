import { z } from 'zod'
import { CUSTOMER_STATUSES, displayName } from '../../../domain/customer/customer.ts'
import type { NamedCustomer } from '../../../services/events/toldEvent.ts'
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
  trailObject,
} from '../../lists/eventView.ts'
import { queryId } from '../../lists/query.ts'
import { externalId, money } from '../../wire.ts'
import { toAccountNo } from '../customers.wire.ts'
import { loanFigures, toLoanFigures } from '../loans.wire.ts'
import { named } from '../registry.ts'
import { toTransaction, transactionSchema } from '../transactions.wire.ts'
import * as examples from './examples.ts'

export const partnerEventQuery = eventQuery.extend({
  loanId: queryId('externalId').optional().describe("Only events of this loan, by the service's number."),
  customerExternalId: externalId.optional().describe('Only events of this customer and of its loans.'),
})

const toldLoan = named('EventLoan', loanFigures, { example: examples.loanAfter })

const toldCustomer = named(
  'EventCustomer',
  z.object({
    id: z.string().describe("The service's number."),
    accountNo: z.string(),
    externalId: z.string().nullable().describe('Null for a customer made by a record system, until it is given one.'),
    displayName: z.string(),
    status: z.enum(CUSTOMER_STATUSES),
    active: z.boolean(),
    activationDate: z.iso.date().nullable(),
    closedOn: z.iso.date().optional().describe('The day from which the customer is Closed.'),
  }),
  { example: examples.customerAfter },
)

/** The words of the partner style. */
const WORDS = {
  event: { id: 'id', type: 'type', liveMode: 'liveMode', timestamp: 'timestamp' },
  data: {
    sequence: 'sequence',
    loanVersion: 'loanVersion',
    requestId: 'requestId',
    accountId: 'accountId',
    hash: 'hash',
    cursor: 'cursor',
  },
  credit: {
    grade: 'grade',
    score: 'creditScore',
    creditLimit: 'creditLimit',
    availableLimit: 'availableCreditLimit',
    policyVersion: 'policyVersion',
    boostStatus: 'boostStatus',
  },
  accounting: { period: 'period', chartVersion: 'chartVersion', provisionsAsOf: 'provisionsAsOf' },
  delinquency: {
    bucket: 'bucket',
    class: 'class',
    stage: 'stage',
    daysPastDue: 'daysPastDue',
    since: 'since',
    policyVersion: 'policyVersion',
    previousBucket: 'previousBucket',
  },
  payment: {
    id: 'id',
    channelId: 'channelId',
    receipt: 'receipt',
    status: 'status',
    amount: 'amount',
    currencyCode: 'currencyCode',
    allocated: 'allocated',
    returned: 'returned',
    reversed: 'reversed',
    suspense: 'suspense',
    valueDate: 'valueDate',
    reference: 'reference',
    cause: 'cause',
  },
  channel: { id: 'id', name: 'name', silentSince: 'silentSince', usualGapSeconds: 'usualGapSeconds' },
  promise: { id: 'id', state: 'state', amount: 'amount', received: 'received', by: 'by' },
  reminder: {
    amount: 'amount',
    currencyCode: 'currencyCode',
    dueOn: 'dueOn',
    days: 'days',
    text: 'text',
    language: 'language',
  },
  reconciliation: {
    id: 'id',
    channelId: 'channelId',
    from: 'from',
    to: 'to',
    balanced: 'balanced',
    difference: 'difference',
    currencyCode: 'currencyCode',
  },
  previous: {
    status: 'status',
    totalOutstanding: 'totalOutstanding',
    totalPaid: 'totalPaid',
    totalOverpaid: 'totalOverpaid',
    totalWrittenOff: 'totalWrittenOff',
    totalRecovered: 'totalRecovered',
    chargedOffOn: 'chargedOffOn',
    principal: 'principal',
    disbursedOn: 'disbursedOn',
    dueOn: 'dueDate',
    activationDate: 'activationDate',
    externalId: 'externalId',
    customerId: 'customerId',
    creditLimit: 'creditLimit',
    replacedId: 'transactionId',
    replacedAmount: 'transactionAmount',
  },
} as const satisfies EventWords

const credit = named('EventCredit', z.object(inWords(CREDIT_MEMBERS, WORDS.credit)), { example: examples.creditAfter })

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
  replacedId: z.string().optional().describe('Of an adjustment: the transaction that was reversed.'),
  replacedAmount: money.optional().describe('Of an adjustment: the amount of the transaction that was reversed.'),
}

/** What changed, as it was; each event has some of it. */
const previous = named(
  'EventPrevious',
  z.object(inWords({ ...previousMembers(z.string()), ...replaced }, WORDS.previous)),
  { example: examples.previous },
)

const eventData = named(
  'EventData',
  z.object({
    ...inWords(DATA_MEMBERS, WORDS.data),
    loan: toldLoan.optional().describe('The loan right after the change, without its schedule and its history.'),
    transaction: transactionSchema.optional().describe('The transaction that was posted or reversed.'),
    customer: toldCustomer.optional().describe('The customer after the change.'),
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

export const eventFeed = named('EventFeed', z.object({ items: z.array(eventSchema), ...feedMembers }), {
  example: { items: [examples.repaymentPosted], next: examples.repaymentPosted.data.cursor, hasMore: false },
})

export type EventView = z.infer<typeof eventSchema>

/** Builds the partner style's view of an event. */
export const toEvent = eventViewIn<EventView>({
  words: WORDS,
  toId: (digits) => digits,
  aboutOf: ({ type, change, loan, transaction, customer }) => ({
    ...(loan && { loan: toLoanFigures({ ...loan, productName: loan.loan.product?.name ?? null }) }),
    ...(transaction && { transaction: toTransaction(transaction) }),
    // A decision changes nothing of the customer.
    ...(customer && { customer: toToldCustomer(customer, type.startsWith('credit.') ? undefined : change.after) }),
  }),
})

/** Builds a customer: with the state that the change gave it, and the names of now. */
function toToldCustomer(customer: NamedCustomer, after: unknown): z.input<typeof toldCustomer> {
  const { status = customer.status, activationDate = customer.activationDate, closedOn } = trailObject(after)
  return {
    id: String(customer.id),
    accountNo: toAccountNo(customer.accountNo),
    externalId: customer.externalId,
    displayName: displayName(customer),
    status: status as NamedCustomer['status'],
    active: status === 'Active',
    activationDate: activationDate as string | null,
    ...(typeof closedOn === 'string' && { closedOn }),
  }
}
