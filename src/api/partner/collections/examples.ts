import { customer, newLoan } from '../openapi/examples.ts'

const AT = '2026-02-03T09:30:00.000+03:00'

export const newContact = { channel: 'call' as const, outcome: 'reached' as const, note: 'Asks for a day more' }

export const contact = {
  id: '1',
  customerId: customer.id,
  ...newContact,
  contactedAt: AT,
  accountId: 1,
  createdAt: AT,
}

export const newPromise = { amount: 1_000, by: '2026-02-27', note: 'After the market day' }

export const promise = {
  id: '1',
  loanId: newLoan.id,
  amount: newPromise.amount,
  madeOn: '2026-02-03',
  by: '2026-02-27',
  note: newPromise.note,
  state: 'open',
  received: 0,
  currencyCode: 'TZS',
  accountId: 1,
  createdAt: AT,
  updatedAt: AT,
}

export const cancellation = { reason: 'Promised again, for another day' }

export const cancelledPromise = { ...promise, state: 'cancelled', cancelReason: cancellation.reason }

export const newHold = { what: 'reminders' as const, until: '2026-03-06', reason: 'In hospital' }

export const hold = {
  id: '1',
  loanId: newLoan.id,
  what: newHold.what,
  from: '2026-02-03',
  until: '2026-03-06',
  reason: newHold.reason,
  accountId: 1,
  createdAt: AT,
  updatedAt: AT,
}

export const release = { reason: 'Is well again' }

export const releasedHold = {
  ...hold,
  releasedOn: '2026-02-05',
  releaseReason: release.reason,
  updatedAt: '2026-02-05T09:30:00.000+03:00',
}

export const newAssignment = { accountId: 1 }

export const assignment = { loanId: newLoan.id, accountId: 1, assignedAt: '2026-02-05T09:30:00.000+03:00' }

export const worklist = {
  asOf: '2026-02-05',
  items: [
    {
      loanId: newLoan.id,
      loanExternalId: newLoan.externalId,
      customerId: customer.id,
      customerExternalId: customer.externalId,
      customerName: customer.displayName,
      status: 'Active',
      daysPastDue: 4,
      bucket: 'watch',
      currencyCode: 'TZS',
      totalOverdue: 10_000,
      totalOutstanding: 110_000,
      brokenPromises: 1,
      lastContact: { at: AT, channel: 'call', outcome: 'reached' },
      nextOn: '2026-02-05',
      promise: { id: '2', amount: 5_000, by: '2026-02-06' },
      holds: ['reminders'],
      assignedTo: 1,
    },
  ],
  total: 1,
  page: 1,
  rowsPerPage: 50,
}

export const reminderPolicy = {
  daysBefore: [1],
  daysAfter: [1, 7],
  language: 'en' as const,
  dueSoonText: 'Dear customer, {currency} {amount} is due on {dueOn}. {lender}',
  overdueText: null,
}
