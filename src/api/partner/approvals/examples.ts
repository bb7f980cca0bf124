import { newLoan } from '../openapi/examples.ts'
import { transactionId } from '../openapi/story.ts'

/** A write-off that waits. */
export const waitingWriteOff = {
  id: '1',
  state: 'pending' as const,
  kind: 'write-off' as const,
  loanId: newLoan.id,
  amount: 105_000,
  currencyCode: 'TZS',
  transactionDate: '2026-06-01',
  note: 'Cannot be recovered',
  askedAt: '2026-06-01T09:30:00.000+03:00',
  askedBy: 2,
  requestId: 'checkout-7781',
}

/** The same, once another ADMIN has approved it. */
export const approved = {
  ...waitingWriteOff,
  state: 'approved' as const,
  decidedAt: '2026-06-01T10:15:00.000+03:00',
  decidedBy: 3,
  postedTransactionId: transactionId(21),
}

export const reason = { reason: 'The customer has begun to pay again' }

export const rejected = {
  ...waitingWriteOff,
  state: 'rejected' as const,
  decidedAt: approved.decidedAt,
  decidedBy: 3,
  ...reason,
}

/** What waits on a loan is rejected together. */
export const rejectMany = { loanId: newLoan.id, ...reason }
export const rejectedMany = { rejected: ['1', '2'] }

export const withdrawn = {
  ...waitingWriteOff,
  state: 'withdrawn' as const,
  decidedAt: approved.decidedAt,
  decidedBy: 2,
}
