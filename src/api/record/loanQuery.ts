import type { z } from 'zod'
import { LOAN_STATUSES } from '../../domain/loan/lifecycle.ts'
import type { LoanFilter } from '../../services/loans/loanList.ts'
import { changedSince, disbursedBetween, listQuery, queryInt64, queryWords, startOfBound } from '../lists/query.ts'
import { localDate } from '../wire.ts'

export const loanQuery = listQuery.extend({
  borrower_id: queryInt64({ min: 1n }).optional().describe('Only the loans of this borrower; of an unknown one, none.'),
  status: queryWords(LOAN_STATUSES)
    .optional()
    .describe(`Only loans with one of these statuses, separated by commas: ${LOAN_STATUSES.join(', ')}.`),
  released_from: localDate.optional().describe('Only loans released on this date or later.'),
  released_to: localDate.optional().describe('Only loans released on this date or earlier.'),
  updated_since: changedSince('loans'),
})

/** Reads the query of a list of loans as a filter. */
export const toLoanFilter = (query: z.infer<typeof loanQuery>, zone: string): LoanFilter => ({
  customerId: query.borrower_id,
  statuses: query.status,
  ...disbursedBetween(query.released_from, query.released_to, zone),
  updatedSince: startOfBound(query.updated_since, zone),
})
