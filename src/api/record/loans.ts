import type { z } from 'zod'
import { LOAN_STATUSES } from '../../domain/loan/lifecycle.ts'
import type { Deps } from '../../services/deps.ts'
import type { LoanFilter } from '../../services/loans/loanList.ts'
import {
  createRecordLoan,
  getRecordLoan,
  listRecordLoans,
  type RecordLoan,
  updateRecordLoan,
} from '../../services/loans/recordLoans.ts'
import {
  changedSince,
  disbursedBetween,
  listQuery,
  queryInt64,
  queryWords,
  rangeOf,
  startOfBound,
} from '../lists/query.ts'
import type { StyleApp } from '../style.ts'
import { localDate } from '../wire.ts'
import { createLoanRequest, toAsked, toUpdate, updateLoanRequest } from './loans.wire.ts'
import { loanItem, loanList, toLoan } from './loanView.ts'
import * as examples from './openapi/examples.ts'
import { byId, made, requireSameId, toItem, toList } from './registry.ts'

const tags = ['loans']

export function loanRoutes(app: StyleApp, deps: Deps): void {
  const view = (loan: RecordLoan) => toLoan(loan, deps.config.zone)
  for (const add of [addBooking, addUpdate, addList, addRead]) add(app, deps, view)
}

type View = (loan: RecordLoan) => ReturnType<typeof toLoan>

function addBooking(app: StyleApp, deps: Deps, view: View): void {
  app.post(
    '/v1/loans',
    {
      config: {
        refusals: ['not_found', 'already_exists', 'failed_precondition'],
        explained: {
          not_found: ['No such borrower.', 'no borrower has that id, given as borrower_id'],
          failed_precondition: [
            'The borrower is not Active.',
            'the customer is Closed, and only an Active customer can take a loan',
          ],
        },
        examples: { Basic: toItem(examples.loan), Extended: toItem(examples.extendedLoan) },
      },
      schema: {
        tags,
        operationId: 'createLoan',
        summary: 'Book a loan',
        description:
          'With the basic body: no interest, one instalment, due on `due_date`. With the extended one, recognised by its `loan_…` terms: the schedule that those terms make. A declining loan owes the interest of its schedule whenever it is paid: an earlier repayment makes it no smaller, a later one no larger. The same id with the same content answers the loan again; with other content it is refused. An item of an extended loan may be sent as it was read, too.',
        body: createLoanRequest,
        response: { 200: loanItem },
      },
    },
    async ({ caller, body }, reply) => {
      const { loan_id: id, borrower_id: borrowerId } = body
      return toItem(view(made(reply, await createRecordLoan(deps, caller, { id, borrowerId, request: toAsked(body) }))))
    },
  )
}

function addUpdate(app: StyleApp, deps: Deps, view: View): void {
  app.put(
    '/v1/loans/:id',
    {
      config: {
        refusals: ['failed_precondition', 'aborted'],
        explained: {
          failed_precondition: [
            'Its terms are not to be changed any more, or a repayment would be left without ground.',
            'the loan is Closed (written off): only loan_type, description and products can be changed',
          ],
          aborted: ['Lost a race; try again.', 'the loan is being changed by many others at once; try again'],
        },
        examples: { Updated: toItem(examples.changedLoan) },
      },
      schema: {
        tags,
        operationId: 'updateLoan',
        summary: 'Update a loan',
        description:
          'What is left out stays as it is. Other terms rebuild the schedule and replay the repayments; they are refused once the loan is written off or charged off, and for a loan that came from a product.',
        params: byId,
        body: updateLoanRequest,
        response: { 200: loanItem },
      },
    },
    async ({ caller, params: { id }, body }) => {
      requireSameId('loanId', id, body.loan_id)
      return toItem(view(await updateRecordLoan(deps, caller, id, toUpdate(body))))
    },
  )
}

const loanQuery = listQuery.extend({
  borrower_id: queryInt64({ min: 1n }).optional().describe('Only the loans of this borrower; of an unknown one, none.'),
  status: queryWords(LOAN_STATUSES)
    .optional()
    .describe(`Only loans with one of these statuses, separated by commas: ${LOAN_STATUSES.join(', ')}.`),
  released_from: localDate.optional().describe('Only loans released on this date or later.'),
  released_to: localDate.optional().describe('Only loans released on this date or earlier.'),
  updated_since: changedSince('loans'),
})

function addList(app: StyleApp, deps: Deps, view: View): void {
  app.get(
    '/v1/loans',
    {
      schema: {
        tags,
        operationId: 'listLoans',
        summary: 'List loans',
        description: 'In the order in which they came, whichever style made them. An item must match all filters.',
        querystring: loanQuery,
        response: { 200: loanList },
      },
    },
    async ({ caller, query }) =>
      toList(await listRecordLoans(deps, caller, toLoanFilter(query, deps.config.zone), rangeOf(query)), query, view),
  )
}

function addRead(app: StyleApp, deps: Deps, view: View): void {
  app.get(
    '/v1/loans/:id',
    {
      schema: {
        tags,
        operationId: 'getLoan',
        summary: 'Read a loan',
        description: 'Whichever style made it.',
        params: byId,
        response: { 200: loanItem },
      },
    },
    async ({ caller, params: { id } }) => toItem(view(await getRecordLoan(deps, caller, id))),
  )
}

/** Reads the query of a list of loans as a filter. */
const toLoanFilter = (query: z.infer<typeof loanQuery>, zone: string): LoanFilter => ({
  customerId: query.borrower_id,
  statuses: query.status,
  ...disbursedBetween(query.released_from, query.released_to, zone),
  updatedSince: startOfBound(query.updated_since, zone),
})
