import { newLoan, posted } from '../openapi/examples.ts'

/** The request for a holiday of one period. */
export const newRestructure = {
  change: { postponeBy: { periods: 1 } },
  interest: 'none' as const,
  reason: 'hardship' as const,
  note: 'The harvest is late.',
}

/** The restructure as a transaction. */
const entry = posted(16, 'Restructure', '2026-02-20', { amount: 0, note: newRestructure.note })

/** A restructure of a loan. */
export const restructure = {
  id: entry.id,
  on: entry.date,
  change: newRestructure.change,
  interest: newRestructure.interest,
  reason: newRestructure.reason,
  countsAs: 'hardship' as const,
  interestAdded: 0,
  note: newRestructure.note,
}

const [instalment] = newLoan.repaymentSchedule

/** The line of the schedule as it was lent. */
export const line = {
  period: 1,
  fromDate: instalment!.fromDate,
  dueDate: instalment!.dueDate,
  principal: instalment!.principalDue,
  interest: instalment!.interestDue,
  fees: 0,
  total: instalment!.totalDue,
}

/** The first version of the schedule. */
export const firstVersion = { version: 1, numberOfRepayments: 1, dueDate: line.dueDate }

/** The first version with its instalments. */
export const lentVersion = { ...firstVersion, repaymentSchedule: [line] }

const POSTPONED = { dueDate: '2026-03-28' }

/** The loan in the story of the reference, where it can be restructured. */
const before = {
  ...newLoan,
  interestPaid: 8_000,
  interestWaived: 1_000,
  interestOutstanding: 1_000,
  principalOutstanding: 101_000,
  totalPaid: 8_000,
  totalOutstanding: 102_000,
  nextDueAmount: 102_000,
  updatedAt: '2026-02-20T09:30:00.000+03:00',
  repaymentSchedule: [
    {
      ...instalment!,
      principalDue: 101_000,
      totalDue: 111_000,
      interestPaid: 8_000,
      totalPaid: 8_000,
      totalOutstanding: 102_000,
    },
  ],
}

/** The loan after the restructure. */
export const restructuredLoan = {
  ...before,
  dueDate: POSTPONED.dueDate,
  dueDateTime: '2026-03-28T09:30:00.000+03:00',
  nextDueDate: POSTPONED.dueDate,
  repaymentSchedule: [{ ...before.repaymentSchedule[0]!, ...POSTPONED }],
  scheduleVersion: 2,
  restructures: [restructure],
}

/** The loan after the reversal of the restructure. */
export const reversedLoan = { ...before, scheduleVersion: 1, restructures: [] }
