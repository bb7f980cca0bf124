/** The types of events that receivers are told of (contract 8). */
export const EVENT_TYPES = [
  'customer.created',
  'customer.updated',
  'customer.activated',
  'customer.closed',
  'loan.disbursed',
  'loan.restated',
  'repayment.posted',
  'repayment.reversed',
  'repayment.adjusted',
  'transaction.posted',
  'transaction.reversed',
  'loan.overdue',
  'loan.penalty_raised',
  'loan.penalty_cancelled',
  'loan.overpaid',
  'loan.closed',
  'loan.reopened',
  'loan.charged_off',
  'loan.written_off',
  'credit.limit_raised',
  'credit.decided',
] as const

export type EventType = (typeof EVENT_TYPES)[number]
