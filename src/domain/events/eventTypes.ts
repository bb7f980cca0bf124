/** The types of events that receivers are told of (contract 8). */
export const EVENT_TYPES = [
  'customer.created',
  'customer.updated',
  'customer.activated',
  'customer.closed',
  'customer.erased',
  'loan.disbursed',
  'loan.restated',
  'loan.restructured',
  'repayment.posted',
  'repayment.reversed',
  'repayment.adjusted',
  'transaction.posted',
  'transaction.reversed',
  'loan.overdue',
  'loan.penalty_raised',
  'loan.penalty_cancelled',
  'loan.interest_accrued',
  'loan.overpaid',
  'loan.closed',
  'loan.reopened',
  'loan.charged_off',
  'loan.written_off',
  'credit.limit_raised',
  'credit.decided',
  'accounting.period_closed',
  'accounting.chart_changed',
  'delinquency.changed',
  'accounting.provisions_booked',
  'payment.received',
  'payment.allocated',
  'payment.unmatched',
  'payment.returned',
  'payment.reversed',
  'reconciliation.completed',
  'channel.silent',
  'promise.kept',
  'promise.broken',
  'loan.due_soon',
  'loan.reminder',
] as const

export type EventType = (typeof EVENT_TYPES)[number]

/** The groups of types, each of which a filter takes whole: `loan.*`. */
const GROUPS = [...new Set(EVENT_TYPES.map((type) => `${type.split('.')[0]}.*`))]

/** The words of a filter of types: each type, and each group of types. */
export const TYPE_WORDS: readonly string[] = [...EVENT_TYPES, ...GROUPS]

/** Returns the types that words of a filter stand for, in the order of `EVENT_TYPES`. */
export const typesOf = (words: readonly string[]): EventType[] =>
  EVENT_TYPES.filter((type) => words.includes(type) || words.includes(`${type.split('.')[0]}.*`))
