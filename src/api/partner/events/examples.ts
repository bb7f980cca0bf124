import type { EventType } from '../../../domain/events/eventTypes.ts'
import { afterEvent, encodeEventCursor } from '../../../services/events/eventCursor.ts'
import * as story from '../openapi/examples.ts'

// The events of the story that the document shows: a customer, its loan and what became of it.

const { repaymentSchedule: _, ...newLoan } = story.newLoan
const { repaymentSchedule: __, ...loanSummary } = story.loanSummary

export const loanAfter = loanSummary

export const customerAfter = {
  id: story.customer.id,
  accountNo: story.customer.accountNo,
  externalId: story.customer.externalId,
  displayName: story.customer.displayName,
  status: story.customer.status,
  active: story.customer.active,
  activationDate: story.customer.activationDate,
}

export const creditAfter = {
  grade: story.scorecard.grade,
  creditScore: story.scorecard.creditScore,
  creditLimit: story.scorecard.creditLimit,
  availableCreditLimit: story.scorecard.availableCreditLimit,
  policyVersion: '1',
}

export const accounting = { period: '2026-01' }

/** A loan whose only instalment was due on 28 February. */
export const delinquency = {
  bucket: '1-30',
  daysPastDue: 1,
  since: '2026-03-01',
  policyVersion: '0',
  previousBucket: 'current',
}

export const previous = { totalOutstanding: 110_000, totalPaid: 0 }

const HASH = 'c0535e4be2b79ffd93291305436bf889314e4a3faec05ecffcbb7df31ad9e51a'
const cursorAfter = (sequence: number) =>
  encodeEventCursor(afterEvent({ sequence: BigInt(sequence), hash: Buffer.from(HASH, 'hex') }))

/** An event of the story. */
const told = <Type extends EventType, Data extends object>(
  sequence: number,
  type: Type,
  timestamp: string,
  data: Data,
) => ({
  id: `evt_1_${sequence}`,
  type,
  liveMode: true,
  timestamp,
  data: {
    sequence: String(sequence),
    requestId: 'caller:checkout-7781',
    accountId: 1,
    hash: HASH,
    cursor: cursorAfter(sequence),
    ...data,
  },
})

const ofTime = { requestId: null, accountId: null }
const ofLoan = <Loan extends object>(loanVersion: number, changes: Loan) => ({
  loanVersion,
  loan: { ...loanAfter, ...changes },
})

const { createdAt: made } = story.customer
const restructured = story.posted(9, 'Restructure', '2026-02-14', { amount: 0, note: 'The harvest is late.' })
const closed = { status: 'Closed' as const, active: false }
const pseudonym = `erased-${customerAfter.id}`
const erased = {
  externalId: pseudonym,
  displayName: `${pseudonym} Customer`,
  firstname: pseudonym,
}

export const payment = {
  id: '4000000000000001',
  channelId: '1',
  receipt: 'SKL7XA9K2P',
  status: 'received',
  amount: 10_000,
  currencyCode: 'TZS',
  allocated: 0,
  returned: 0,
  reversed: 0,
  suspense: 10_000,
  valueDate: '2026-02-10',
  reference: story.newLoan.externalId,
  cause: null,
}

export const reconciliation = {
  id: '4000000000000003',
  channelId: '1',
  from: '2026-02-10',
  to: '2026-02-10',
  balanced: true,
  difference: 0,
  currencyCode: 'TZS',
}

export const promise = { id: '1', state: 'kept', amount: 10_000, received: 10_000, by: '2026-03-05' }

export const reminder = {
  amount: 10_000,
  currencyCode: 'TZS',
  dueOn: '2026-03-05',
  days: 3,
  text: 'Mkopo Ltd: TZS 10,000 of your loan 1 is due on 2026-03-05.',
  language: 'en',
}

export const channel = {
  id: '1',
  name: 'Paybill 400200',
  silentSince: '2026-02-10T09:30:00.000+03:00',
  usualGapSeconds: 25_200,
}

export const customerCreated = told(1, 'customer.created', made, { customer: customerAfter })

export const repaymentPosted = told(4, 'repayment.posted', story.repayment.transactionAt, {
  ...ofLoan(2, {}),
  transaction: story.repayment,
  previous,
})

const overdue = { overdue: true, daysOverdue: 1, overdueSince: '2026-03-01', totalOverdue: 100_000 }
const paidOff = { principalPaid: 100_000, principalOutstanding: 0, totalPaid: 110_000, totalOutstanding: 0 }
const isClosed = { ...paidOff, status: 'Closed (obligations met)' as const, closedOn: '2026-02-14' }
const overpaid = { ...paidOff, status: 'Overpaid' as const, totalOverpaid: 40_000 }
const withPenalty = { penaltyCharged: 10_000, penaltyOutstanding: 10_000, totalOutstanding: 110_000 }
const chargedOff = { ...overdue, daysOverdue: 93, chargedOff: true, chargedOffOn: story.chargeOff.date }
const writtenOff = { status: 'Closed (written off)' as const, totalWrittenOff: 92_000, closedOn: story.writeOff.date }
const reversedRepayment = { ...story.reversed, type: 'Repayment' as const, id: story.repayment.id, amount: 10_000 }

/** An event of each type. */
export const BY_TYPE: Readonly<Record<EventType, { readonly type: EventType }>> = {
  'customer.created': customerCreated,
  'customer.updated': told(9, 'customer.updated', made, { customer: customerAfter, previous: { externalId: null } }),
  'customer.activated': told(9, 'customer.activated', made, {
    customer: customerAfter,
    previous: { status: 'Pending', activationDate: null },
  }),
  'customer.erased': told(44, 'customer.erased', story.closedCustomer.updatedAt, {
    customer: { ...customerAfter, ...closed, ...erased },
  }),
  'customer.closed': told(40, 'customer.closed', story.closedCustomer.updatedAt, {
    customer: { ...customerAfter, ...closed, closedOn: '2026-06-01' },
    previous: { status: 'Active' },
  }),
  'loan.disbursed': told(3, 'loan.disbursed', story.newLoan.disbursedAt, { loanVersion: 1, loan: newLoan }),
  'loan.restated': told(8, 'loan.restated', made, { ...ofLoan(3, {}), previous: { principal: 90_000 } }),
  'loan.restructured': told(9, 'loan.restructured', restructured.transactionAt, {
    ...ofLoan(3, {}),
    transaction: restructured,
  }),
  'repayment.posted': repaymentPosted,
  'repayment.reversed': told(6, 'repayment.reversed', story.reversed.updatedAt, {
    ...ofLoan(5, { interestPaid: 0, totalPaid: 0, totalOutstanding: 110_000 }),
    transaction: reversedRepayment,
    previous: { totalPaid: 10_000, totalOutstanding: 100_000 },
  }),
  'repayment.adjusted': told(7, 'repayment.adjusted', story.adjusted.transactionAt, {
    ...ofLoan(4, overpaid),
    transaction: story.adjusted,
    previous: { status: 'Active', transactionId: story.repayment.id, transactionAmount: 10_000 },
  }),
  'transaction.posted': told(5, 'transaction.posted', story.refund.transactionAt, {
    ...ofLoan(3, { totalPaid: 9_500, totalOutstanding: 100_500 }),
    transaction: story.refund,
    previous: { totalPaid: 10_000, totalOutstanding: 100_000 },
  }),
  'transaction.reversed': told(30, 'transaction.reversed', story.reversed.updatedAt, {
    ...ofLoan(12, {}),
    transaction: story.reversed,
    previous: { chargedOffOn: story.chargeOff.date },
  }),
  'loan.overdue': told(20, 'loan.overdue', '2026-03-01T00:00:00.000+03:00', { ...ofTime, ...ofLoan(9, overdue) }),
  'loan.penalty_raised': told(19, 'loan.penalty_raised', '2026-02-28T09:30:00.000+03:00', {
    ...ofTime,
    ...ofLoan(8, withPenalty),
    previous: { totalOutstanding: 100_000 },
  }),
  'loan.penalty_cancelled': told(22, 'loan.penalty_cancelled', '2026-03-02T09:30:00.000+03:00', {
    ...ofLoan(10, isClosed),
    previous: { totalOutstanding: 110_000 },
  }),
  'loan.interest_accrued': told(21, 'loan.interest_accrued', '2026-03-02T00:00:00.000+03:00', {
    ...ofTime,
    ...ofLoan(10, { ...overdue, daysOverdue: 2, interestAfterDue: 300, totalOutstanding: 110_300 }),
    previous: { totalOutstanding: 110_000 },
  }),
  'loan.overpaid': told(8, 'loan.overpaid', story.adjusted.transactionAt, {
    ...ofLoan(4, overpaid),
    transaction: story.adjusted,
    previous: { status: 'Active' },
  }),
  'loan.closed': told(12, 'loan.closed', story.adjusted.transactionAt, {
    ...ofLoan(6, isClosed),
    previous: { status: 'Active' },
  }),
  'loan.reopened': told(14, 'loan.reopened', story.adjusted.transactionAt, {
    ...ofLoan(7, {}),
    previous: { status: 'Closed (obligations met)' },
  }),
  'loan.charged_off': told(28, 'loan.charged_off', story.chargeOff.transactionAt, {
    ...ofLoan(11, chargedOff),
    transaction: story.chargeOff,
    previous: { chargedOffOn: null },
  }),
  'loan.written_off': told(36, 'loan.written_off', story.writeOff.transactionAt, {
    ...ofLoan(16, writtenOff),
    transaction: story.writeOff,
    previous: { status: 'Active', totalWrittenOff: 0 },
  }),
  'credit.decided': told(38, 'credit.decided', story.scorecard.scoredAt, {
    customer: customerAfter,
    credit: creditAfter,
  }),
  'credit.limit_raised': told(39, 'credit.limit_raised', story.scorecard.scoredAt, {
    customer: customerAfter,
    credit: { boostStatus: 'raised', creditLimit: story.boost.creditLimit },
    previous: { creditLimit: story.scorecard.creditLimit },
  }),
  'accounting.period_closed': told(41, 'accounting.period_closed', story.closedCustomer.updatedAt, { accounting }),
  'accounting.chart_changed': told(42, 'accounting.chart_changed', story.closedCustomer.updatedAt, {
    accounting: { chartVersion: '2' },
  }),
  'delinquency.changed': told(21, 'delinquency.changed', '2026-03-01T00:00:20.000+03:00', {
    ...ofTime,
    ...ofLoan(9, overdue),
    delinquency,
  }),
  'accounting.provisions_booked': told(43, 'accounting.provisions_booked', story.closedCustomer.updatedAt, {
    accounting: { provisionsAsOf: '2026-01-31' },
  }),
  'payment.received': told(44, 'payment.received', story.repayment.transactionAt, { payment }),
  'payment.allocated': told(45, 'payment.allocated', story.repayment.transactionAt, {
    ...ofTime,
    payment: { ...payment, status: 'allocated', allocated: 10_000, suspense: 0 },
  }),
  'payment.unmatched': told(45, 'payment.unmatched', story.repayment.transactionAt, {
    ...ofTime,
    payment: { ...payment, status: 'unmatched', reference: 'JUMA', cause: 'no loan fits the reference' },
  }),
  'payment.returned': told(46, 'payment.returned', story.repayment.transactionAt, {
    payment: { ...payment, status: 'returned', returned: 10_000, suspense: 0 },
  }),
  'reconciliation.completed': told(48, 'reconciliation.completed', story.repayment.transactionAt, { reconciliation }),
  'promise.kept': told(50, 'promise.kept', '2026-03-01T00:00:20.000+03:00', {
    ...ofTime,
    ...ofLoan(9, overdue),
    promise,
  }),
  'promise.broken': told(51, 'promise.broken', '2026-03-01T00:00:20.000+03:00', {
    ...ofTime,
    ...ofLoan(9, overdue),
    promise: { ...promise, state: 'broken', received: 0 },
  }),
  'loan.due_soon': told(52, 'loan.due_soon', '2026-03-01T00:00:20.000+03:00', {
    ...ofTime,
    ...ofLoan(9, overdue),
    reminder,
  }),
  'loan.reminder': told(53, 'loan.reminder', '2026-03-01T00:00:20.000+03:00', {
    ...ofTime,
    ...ofLoan(9, overdue),
    reminder: {
      ...reminder,
      text: 'Mkopo Ltd: TZS 10,000 of your loan 1 has been due since 2026-03-05. Please pay now.',
    },
  }),
  'channel.silent': told(49, 'channel.silent', story.repayment.transactionAt, { channel }),
  'payment.reversed': told(47, 'payment.reversed', story.repayment.transactionAt, {
    ...ofTime,
    payment: {
      ...payment,
      status: 'reversed',
      reversed: 10_000,
      suspense: 0,
      cause: 'reversed by the provider: SKL9QQ0001',
    },
  }),
}
