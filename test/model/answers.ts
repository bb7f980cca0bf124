import { expect } from 'vitest'
import { dayAt, daysFrom, plusDays, rfc3339 } from './calendar.ts'
import { owedOf, type Part, type Row } from './debt.ts'
import { type Happened, type Outcome, outcomeOf, total } from './history.ts'
import { type ModelLoan, statusOf } from './rules.ts'

// The answers that the model expects of the service.

const money = (cents: bigint): number => Number(cents) / 100
const unlessZero = (cents: bigint): number | undefined => (cents === 0n ? undefined : money(cents))

/** Returns fields without those that an answer leaves out. */
const present = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

const sumOf = (rows: readonly Row[], of: (row: Row) => bigint, part?: Part): bigint =>
  total(rows, (row) => (part === undefined || row.part === part ? of(row) : 0n))

const PAID: readonly string[] = ['Repayment', 'Recovery Repayment', 'Refund', 'Credit Balance Refund']

/** Returns the expected answer of a transaction. */
export function transactionAnswer(loanId: string, one: Happened, outcome: Outcome): Record<string, unknown> {
  const effect = outcome.effects.get(one)
  return present({
    id: one.id,
    loanId,
    type: one.kind === 'Recovery Repayment' ? 'Repayment' : one.kind,
    recovery: one.kind === 'Recovery Repayment' || undefined,
    paymentMethod: PAID.includes(one.kind) ? 'Mobile Money' : undefined,
    date: one.day,
    transactionAt: rfc3339(one.postedAt),
    amount: money(one.amount),
    penalty: unlessZero(effect?.parts.penalty ?? 0n),
    interest: unlessZero(effect?.parts.interest ?? 0n),
    principal: unlessZero(effect?.parts.principal ?? 0n),
    overpayment: unlessZero(effect?.overpayment ?? 0n),
    status: one.reversed ? 'reversed' : 'posted',
    idempotencyKey: one.token,
    note: one.note,
    createdAt: rfc3339(one.postedAt),
    updatedAt: rfc3339(one.reversedAt ?? one.postedAt),
  })
}

/** Returns the customer's repayments, newest first. */
const historyAnswer = (loanId: string, loan: ModelLoan, outcome: Outcome): Record<string, unknown>[] =>
  loan.history
    .filter(({ kind }) => kind === 'Repayment' || kind === 'Recovery Repayment')
    .toReversed()
    .map((one) => transactionAnswer(loanId, one, outcome))

/** Returns the expected answer of a loan, without the fields that never change. */
export function loanAnswer(loanId: string, loan: ModelLoan, now: number): Record<string, unknown> {
  const { debt } = loan
  const outcome = outcomeOf(debt, loan.history, now)
  const { rows } = outcome
  const today = dayAt(now)
  const paid = (row: Row) => row.paid
  const due = (row: Row) => row.due
  const instalments = outcome.dueDays
    .map((dueDay, instalment) => ({ dueDay, owed: total(rowsIn(outcome, instalment), owedOf) }))
    .filter(({ owed }) => owed > 0n)
  const late = instalments.filter(({ dueDay }) => dueDay < today)
  const status = statusOf(outcome)
  return present({
    id: loanId,
    status,
    principal: money(debt.principal),
    principalPaid: money(sumOf(rows, paid, 'principal')),
    principalOutstanding: money(sumOf(rows, owedOf, 'principal')),
    interestCharged: money(sumOf(rows, due, 'interest')),
    interestPaid: money(sumOf(rows, paid, 'interest')),
    interestWaived: money(sumOf(rows, (row) => row.waived, 'interest')),
    interestOutstanding: money(sumOf(rows, owedOf, 'interest')),
    feesCharged: 0,
    feesPaid: 0,
    feesOutstanding: 0,
    penaltyCharged: money(sumOf(rows, due, 'penalty')),
    penaltyPaid: money(sumOf(rows, paid, 'penalty')),
    penaltyOutstanding: money(sumOf(rows, owedOf, 'penalty')),
    totalPaid: money(sumOf(rows, paid)),
    totalOutstanding: money(sumOf(rows, owedOf)),
    totalOverpaid: money(outcome.overpaid),
    totalOverdue: money(late.reduce((sum, { owed }) => sum + owed, 0n)),
    totalRecovered: money(sumOf(rows, (row) => row.recovered)),
    totalWrittenOff: money(sumOf(rows, (row) => row.writtenOff)),
    nextDueDate: instalments[0]?.dueDay,
    nextDueAmount: instalments[0] && money(instalments[0].owed),
    dueDate: debt.dueDays.at(-1),
    dueDateTime: rfc3339(debt.dueAt),
    disbursedAt: rfc3339(debt.disbursedAt),
    overdue: late.length > 0,
    daysOverdue: late[0] ? daysFrom(late[0].dueDay, today) : 0,
    overdueSince: late[0] && plusDays(late[0].dueDay, 1),
    chargedOff: outcome.chargedOffOn !== null,
    chargedOffOn: outcome.chargedOffOn ?? undefined,
    closedOn: closedOn(outcome) ?? undefined,
    delinquency: instalments[0] && delinquencyAnswer(late[0] ? daysFrom(late[0].dueDay, today) : 0),
    repaymentSchedule: outcome.dueDays.map((_, instalment) => scheduleLine(outcome, debt.disbursedOn, instalment)),
    repaymentHistory: historyAnswer(loanId, loan, outcome),
  })
}

/** The buckets of the policy `par`, by their last days. */
const PAR: readonly (readonly [name: string, toDays: number])[] = [
  ['current', 0],
  ['1-30', 30],
  ['31-60', 60],
  ['61-90', 90],
  ['over 90', Number.POSITIVE_INFINITY],
]

/** Of `since`, which the tests of the spans count day by day, the form alone. */
const delinquencyAnswer = (daysPastDue: number) => ({
  daysPastDue,
  bucket: PAR.find(([, toDays]) => daysPastDue <= toDays)![0],
  since: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
})

function closedOn(outcome: Outcome): string | null {
  const status = statusOf(outcome)
  if (status === 'Closed (written off)') return outcome.writtenOffOn
  return status === 'Closed (obligations met)' ? outcome.clearSince : null
}

const rowsIn = ({ rows }: Outcome, instalment: number): Row[] => rows.filter((row) => row.instalment === instalment)

function scheduleLine(outcome: Outcome, disbursedOn: string, instalment: number): Record<string, unknown> {
  const rows = rowsIn(outcome, instalment)
  const later = outcome.rows.filter((row) => row.instalment > instalment)
  const owed = total(rows, owedOf)
  return present({
    period: instalment + 1,
    fromDate: outcome.dueDays[instalment - 1] ?? disbursedOn,
    dueDate: outcome.dueDays[instalment],
    principalDue: money(sumOf(rows, (row) => row.due, 'principal')),
    interestDue: money(sumOf(rows, (row) => row.due, 'interest')),
    feesDue: 0,
    penaltyDue: money(sumOf(rows, (row) => row.due, 'penalty')),
    totalDue: money(sumOf(rows, (row) => row.due)),
    principalPaid: money(sumOf(rows, (row) => row.paid, 'principal')),
    interestPaid: money(sumOf(rows, (row) => row.paid, 'interest')),
    totalPaid: money(sumOf(rows, (row) => row.paid)),
    totalOutstanding: money(owed),
    principalBalance: money(sumOf(later, (row) => row.due, 'principal')),
    complete: owed === 0n,
    completedOn: outcome.clear[instalment] ?? undefined,
  })
}
