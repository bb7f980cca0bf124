import type { EventType } from '../../../domain/events/eventTypes.ts'
import { afterEvent, encodeEventCursor } from '../../../services/events/eventCursor.ts'
import * as story from '../openapi/examples.ts'

// The events of the story that the document shows: a borrower, its loan, and the first repayment.

export const balances = {
  status: 'Active' as const,
  principal_outstanding: 200_000,
  interest_outstanding: 0,
  fees_outstanding: 0,
  penalty_outstanding: 0,
  total_paid: 50_000,
  total_outstanding: 200_000,
  total_overpaid: 0,
  total_overdue: 0,
  total_written_off: 0,
  total_recovered: 0,
  next_due_date: story.loan.due_date,
}

export const accounting = { period: '2026-01' }

export const delinquency = {
  bucket: '1-30',
  days_past_due: 1,
  since: '2026-05-01',
  policy_version: '0',
  previous_bucket: 'current',
}

export const previous = { total_outstanding: 250_000, total_paid: 0 }

export const credit = { grade: 'C', credit_score: 440, credit_limit: 100_000, available_credit_limit: 100_000 }

export const payment = {
  id: '4000000000000001',
  channel_id: '1',
  receipt: 'SKL7XA9K2P',
  status: 'received',
  amount: 50_000,
  currency_code: 'TZS',
  allocated: 0,
  returned: 0,
  reversed: 0,
  suspense: 50_000,
  value_date: '2026-04-10',
  reference: '000000001',
  cause: null,
}

export const reconciliation = {
  id: '4000000000000003',
  channel_id: '1',
  from: '2026-04-10',
  to: '2026-04-10',
  balanced: true,
  difference: 0,
  currency_code: 'TZS',
}

export const promise = { id: '1', state: 'kept', amount: 50_000, received: 50_000, by: '2026-03-05' }

export const reminder = {
  amount: 50_000,
  currency_code: 'TZS',
  due_on: '2026-03-05',
  days: 3,
  text: 'Mkopo Ltd: TZS 50,000 of your loan 1 is due on 2026-03-05.',
  language: 'en',
}

export const channel = {
  id: '1',
  name: 'Paybill 400200',
  silent_since: '2026-04-10T09:30:00.000+03:00',
  usual_gap_seconds: 25_200,
}

export const borrower = {
  id: story.borrower.id,
  business_name: story.borrower.business_name,
  phone: story.borrower.phone,
  region: story.borrower.region,
}

export const transaction = {
  transaction_id: 4_000_000_000_000_001,
  loan_id: story.loan.loan_id,
  type: 'Waive Interest',
  amount: 500,
  date: story.repayment.collection_date,
  description: 'Goodwill',
}

const HASH = 'c0535e4be2b79ffd93291305436bf889314e4a3faec05ecffcbb7df31ad9e51a'
const cursorAfter = (sequence: number) =>
  encodeEventCursor(afterEvent({ sequence: BigInt(sequence), hash: Buffer.from(HASH, 'hex') }))

const told = <Data extends object>(sequence: number, type: EventType, timestamp: string, data: Data) => ({
  id: `evt_1_${sequence}`,
  type,
  live_mode: true,
  timestamp,
  data: {
    sequence: String(sequence),
    request_id: 'caller:sync-0031',
    account_id: 1,
    hash: HASH,
    cursor: cursorAfter(sequence),
    ...data,
  },
})

export const borrowerCreated = told(1, 'customer.created', story.borrower.created_at, { borrower })

export const repaymentPosted = told(4, 'repayment.posted', story.repayment.created_at, {
  loan_version: 2,
  loan: { ...story.loan, updated_at: story.repayment.created_at },
  balances,
  repayment: story.repayment,
  previous,
})

const ofLoan = (loan_version: number, changes: object) => ({
  loan_version,
  loan: story.loan,
  balances: { ...balances, ...changes },
})
const { created_at: booked } = story.loan
const closed = {
  status: 'Closed (obligations met)',
  principal_outstanding: 0,
  total_paid: 250_000,
  total_outstanding: 0,
}
const overpaid = { ...closed, status: 'Overpaid', total_overpaid: 5_000 }
const reversedRepayment = { ...story.repayment, status: 'reversed', reversed: true }
const whole = { principal_outstanding: 250_000, total_paid: 0, total_outstanding: 250_000 }
const overdue = { total_overdue: 200_000, overdue_since: '2026-05-01' }

const restructured = { ...transaction, type: 'Restructure' as const, amount: 0 }

/** An event of each type. */
export const BY_TYPE: Readonly<Record<EventType, { readonly type: EventType }>> = {
  'customer.created': borrowerCreated,
  'customer.updated': told(6, 'customer.updated', booked, { borrower: { ...borrower, ...story.borrowerChanges } }),
  'customer.activated': told(6, 'customer.activated', booked, { borrower }),
  'customer.erased': told(21, 'customer.erased', booked, {
    borrower: { id: borrower.id, business_name: `erased-${borrower.id} Customer`, phone: '', region: '' },
  }),
  'customer.closed': told(20, 'customer.closed', booked, { borrower }),
  'loan.disbursed': told(2, 'loan.disbursed', booked, ofLoan(1, whole)),
  'loan.restated': told(7, 'loan.restated', story.changedLoan.updated_at, ofLoan(3, {})),
  'loan.restructured': told(7, 'loan.restructured', booked, { ...ofLoan(3, {}), transaction: restructured }),
  'repayment.posted': repaymentPosted,
  'repayment.reversed': told(8, 'repayment.reversed', booked, { ...ofLoan(4, whole), repayment: reversedRepayment }),
  'repayment.adjusted': told(8, 'repayment.adjusted', booked, {
    ...ofLoan(4, {}),
    repayment: story.repayment,
    previous: { repayment_id: 2, amount: 40_000 },
  }),
  'transaction.posted': told(9, 'transaction.posted', booked, { ...ofLoan(5, {}), transaction }),
  'transaction.reversed': told(10, 'transaction.reversed', booked, {
    ...ofLoan(6, {}),
    transaction: { ...transaction, reversed: true },
  }),
  'loan.overdue': told(11, 'loan.overdue', booked, ofLoan(7, overdue)),
  'loan.penalty_raised': told(12, 'loan.penalty_raised', booked, ofLoan(8, { ...overdue, penalty_outstanding: 1_000 })),
  'loan.penalty_cancelled': told(13, 'loan.penalty_cancelled', booked, ofLoan(9, {})),
  'loan.interest_accrued': told(21, 'loan.interest_accrued', booked, ofLoan(9, overdue)),
  'loan.overpaid': told(14, 'loan.overpaid', booked, ofLoan(10, overpaid)),
  'loan.closed': told(15, 'loan.closed', booked, ofLoan(11, closed)),
  'loan.reopened': told(16, 'loan.reopened', booked, ofLoan(12, {})),
  'loan.charged_off': told(17, 'loan.charged_off', booked, ofLoan(13, overdue)),
  'loan.written_off': told(18, 'loan.written_off', booked, ofLoan(14, { status: 'Closed (written off)' })),
  'credit.decided': told(4, 'credit.decided', booked, { borrower, credit }),
  'credit.limit_raised': told(5, 'credit.limit_raised', booked, { borrower, credit }),
  'accounting.period_closed': told(19, 'accounting.period_closed', booked, { accounting }),
  'accounting.chart_changed': told(20, 'accounting.chart_changed', booked, { accounting: { chart_version: '2' } }),
  'delinquency.changed': told(21, 'delinquency.changed', booked, { ...ofLoan(7, overdue), delinquency }),
  'accounting.provisions_booked': told(21, 'accounting.provisions_booked', booked, {
    accounting: { provisions_as_of: '2026-01-31' },
  }),
  'payment.received': told(22, 'payment.received', booked, { payment }),
  'payment.allocated': told(23, 'payment.allocated', booked, {
    payment: { ...payment, status: 'allocated', allocated: 50_000, suspense: 0 },
  }),
  'payment.unmatched': told(23, 'payment.unmatched', booked, {
    payment: { ...payment, status: 'unmatched', cause: 'no loan fits the reference' },
  }),
  'payment.returned': told(24, 'payment.returned', booked, {
    payment: { ...payment, status: 'returned', returned: 50_000, suspense: 0 },
  }),
  'reconciliation.completed': told(25, 'reconciliation.completed', booked, { reconciliation }),
  'promise.kept': told(27, 'promise.kept', booked, { ...ofLoan(9, overdue), promise }),
  'promise.broken': told(28, 'promise.broken', booked, {
    ...ofLoan(9, overdue),
    promise: { ...promise, state: 'broken', received: 0 },
  }),
  'loan.due_soon': told(29, 'loan.due_soon', booked, { ...ofLoan(9, overdue), reminder }),
  'loan.reminder': told(30, 'loan.reminder', booked, {
    ...ofLoan(9, overdue),
    reminder: {
      ...reminder,
      text: 'Mkopo Ltd: TZS 50,000 of your loan 1 has been due since 2026-03-05. Please pay now.',
    },
  }),
  'channel.silent': told(26, 'channel.silent', booked, { channel }),
  'payment.reversed': told(24, 'payment.reversed', booked, {
    payment: { ...payment, status: 'reversed', reversed: 50_000, suspense: 0 },
  }),
}
