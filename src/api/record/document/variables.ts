import type { StoryVariables } from '../../document/collection/variables.ts'

/** The ids of the story of the examples that the collection of requests has as variables. */
export const VARIABLES: StoryVariables = {
  chosen: {
    borrowerId: { value: 1, members: ['id', 'borrower_id'] },
    loanId: { value: 1, members: ['loan_id'] },
    repaymentId: { value: 1, members: ['repayment_id'] },
  },
  answered: { eventId: { operationId: 'listEvents', at: ['items', 0, 'id'] } },
  inPaths: {
    '/v1/borrowers/{id}': 'borrowerId',
    '/v1/loans/{id}': 'loanId',
    '/v1/repayments/{id}': 'repaymentId',
    '/v1/events/{id}': 'eventId',
  },
}
