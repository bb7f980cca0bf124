import { z } from 'zod'
import { CUSTOMER_STATUSES, displayName } from '../../../domain/customer/customer.ts'
import { toRfc3339 } from '../../../domain/dates.ts'
import { type Currency, currencyOf } from '../../../domain/money.ts'
import { afterEvent, encodeEventCursor } from '../../../services/events/eventCursor.ts'
import { eventIdOf, type NamedCustomer, type ToldEvent } from '../../../services/events/toldEvent.ts'
import type { Organization } from '../../../services/organizations/organizations.ts'
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
import { queryId } from '../../lists/query.ts'
import { count } from '../../openapi/answers.ts'
import { externalId, instant, money } from '../../wire.ts'
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

const credit = named(
  'EventCredit',
  z.object({
    grade: z.string().optional(),
    creditScore: count.optional(),
    creditLimit: money.optional(),
    availableCreditLimit: money.optional(),
    policyVersion: z.string().optional(),
    boostStatus: z.string().optional().describe('Of a statement: whether it raised the limit.'),
  }),
  { example: examples.creditAfter },
)

const accounting = named(
  'EventAccounting',
  z.object({
    period: z.string().optional().describe('The month that was closed: `2026-01`.'),
    chartVersion: z.string().optional().describe('The version of the chart that was set.'),
    provisionsAsOf: z.string().optional().describe('The day as of which provisions were booked: `2026-01-31`.'),
  }),
  { example: examples.accounting },
)

const delinquency = named(
  'EventDelinquency',
  z.object({
    bucket: z.string().describe('The bucket of the loan, by its name in the policy.'),
    class: z.string().optional().describe('The class of the supervisor, where the policy has one.'),
    stage: count.optional().describe('The stage of IFRS 9, 1 to 3, where the policy has one.'),
    daysPastDue: count,
    since: z.iso.date().describe('The first day in the bucket.'),
    policyVersion: z.string().describe('The version of the policy; `0` before the first one was set.'),
    previousBucket: z.string().describe('The bucket that was told before.'),
  }),
  { example: examples.delinquency },
)

/** What changed, as it was; each event has some of it. */
const previous = named(
  'EventPrevious',
  z.object({
    status: z.string().optional(),
    totalOutstanding: money.optional(),
    totalPaid: money.optional(),
    totalOverpaid: money.optional(),
    totalWrittenOff: money.optional(),
    totalRecovered: money.optional(),
    chargedOffOn: z.iso.date().nullable().optional(),
    principal: money.optional(),
    disbursedOn: z.iso.date().optional(),
    dueDate: z.iso.date().optional(),
    activationDate: z.iso.date().nullable().optional(),
    externalId: z.string().nullable().optional(),
    customerId: z.string().optional(),
    creditLimit: money.optional(),
    transactionId: z.string().optional().describe('Of an adjustment: the transaction that was reversed.'),
    transactionAmount: money.optional().describe('Of an adjustment: the amount of the transaction that was reversed.'),
  }),
  { example: examples.previous },
)

const eventData = named(
  'EventData',
  z.object({
    sequence: z.string().describe('The number of the event: 1, 2, 3 … without a gap in your organization.'),
    loanVersion: count
      .optional()
      .describe('The number of changes of the loan by then. Drop an event whose number is below the one you have.'),
    requestId: z.string().nullable().describe('The request that made the change; null: time, or the service itself.'),
    accountId: count.nullable().describe('The account that made the change; null: the service, or its command line.'),
    hash: z.string().describe('The hash of the event in the chain of changes.'),
    cursor: z.string().describe('The cursor after the event: send it as `after` to get the events that follow.'),
    loan: toldLoan.optional().describe('The loan right after the change, without its schedule and its history.'),
    transaction: transactionSchema.optional().describe('The transaction that was posted or reversed.'),
    customer: toldCustomer.optional().describe('The customer after the change.'),
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
    liveMode,
    timestamp: instant.describe('When the change was made.'),
    data: eventData,
  }),
  { example: examples.repaymentPosted },
)

export const eventFeed = named('EventFeed', z.object({ items: z.array(eventSchema), ...feedMembers }), {
  example: { items: [examples.repaymentPosted], next: examples.repaymentPosted.data.cursor, hasMore: false },
})

export type EventView = z.infer<typeof eventSchema>

/** Builds the partner style's view of an event. */
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
    liveMode: organization.mode === 'live',
    timestamp: toRfc3339(event.at, zone),
    data: {
      sequence: String(event.sequence),
      ...(loan && { loanVersion: loan.state.version }),
      requestId: change.requestId,
      accountId: change.accountId,
      hash: Buffer.from(event.hash).toString('hex'),
      cursor: encodeEventCursor(afterEvent(event)),
      ...(loan && { loan: toLoanFigures({ ...loan, productName: loan.loan.product?.name ?? null }) }),
      ...(transaction && { transaction: toTransaction(transaction) }),
      ...(customer && !event.type.startsWith('credit.') && { customer: toToldCustomer(customer, change.after) }),
      ...(customer && event.type.startsWith('credit.') && creditOf(event, customer, currency)),
      ...accountingOf(event),
      ...delinquencyOf(event),
      ...(Object.keys(before).length > 0 && { previous: before }),
    },
  }
}

/** Builds a customer: with the state that the change gave it, and the names of now. */
function toToldCustomer(customer: NamedCustomer, after: unknown): z.input<typeof toldCustomer> {
  const { status = customer.status, activationDate = customer.activationDate, closedOn } = keptOf(after)
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

const CREDIT = { grade: 'grade', score: 'creditScore', policyVersion: 'policyVersion', boostStatus: 'boostStatus' }
const CREDIT_MONEY = { creditLimit: 'creditLimit', availableLimit: 'availableCreditLimit' }

function creditOf({ change }: ToldEvent, customer: NamedCustomer, currency: Currency) {
  const after = keptOf(change.after)
  return {
    customer: toToldCustomer(customer, undefined),
    credit: { ...renamed(after, CREDIT), ...renamed(after, CREDIT_MONEY, toMoney(currency)) },
  }
}

function accountingOf({ type, change: { entityId } }: ToldEvent): { accounting?: z.infer<typeof accounting> } {
  if (type === 'accounting.period_closed') return { accounting: { period: entityId } }
  if (type === 'accounting.provisions_booked') return { accounting: { provisionsAsOf: entityId } }
  return type === 'accounting.chart_changed' ? { accounting: { chartVersion: entityId } } : {}
}

function delinquencyOf({ type, change }: ToldEvent): { delinquency?: z.input<typeof delinquency> } {
  const told = type === 'delinquency.changed' ? bucketOf(change) : undefined
  return told ? { delinquency: told } : {}
}

/** The names of what the trail keeps, as the partner style says them. */
const STATE = { status: 'status', chargedOffOn: 'chargedOffOn', disbursedOn: 'disbursedOn', dueOn: 'dueDate' }
const OF_CUSTOMER = { activationDate: 'activationDate', externalId: 'externalId' }
const AMOUNTS = Object.fromEntries(
  [
    'totalOutstanding',
    'totalPaid',
    'totalOverpaid',
    'totalWrittenOff',
    'totalRecovered',
    'principal',
    'creditLimit',
  ].map((name) => [name, name]),
)

/** Returns what the change changed, as it was before: of what the trail keeps. */
function previousOf({ change }: ToldEvent, currency: Currency): Kept {
  const changed = changedBefore(change)
  const replaced = replacedBy(change)
  return {
    ...renamed(changed, { ...STATE, ...OF_CUSTOMER }),
    ...renamed(changed, AMOUNTS, toMoney(currency)),
    ...renamed(changed, { customerId: 'customerId' }, digitsOf),
    ...(replaced && {
      transactionId: digitsOf(replaced.id),
      transactionAmount: toMoney(currency)(replaced.amount),
    }),
  }
}
