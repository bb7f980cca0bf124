import type { Deps } from '../../app/deps.ts'
import { createLoan, getLoan, type LoanNow, pageLoans } from '../../services/loans/loans.ts'
import type { StyleApp } from '../style.ts'
import * as examples from './document/examples.ts'
import { createLoanRequest, loanPage, loanQuery, loanSchema, loanSummary, toLoan, toLoanSummary } from './loans.wire.ts'
import { LOAN_ADDRESSES, writtenPage } from './registry.ts'

const tags = ['loans']

export function loanRoutes(app: StyleApp, deps: Deps): void {
  app.post(
    '/v1/loans',
    {
      config: {
        refusals: ['not_found', 'already_exists', 'failed_precondition'],
        explained: {
          not_found: ['No such customer or product.', 'no customer has that externalId, given as customerId'],
          failed_precondition: [
            'The customer is not Active, or the product lends no more than the credit limit.',
            'the customer is Closed, and only an Active customer can take a loan',
          ],
        },
        examples: { Disbursed: examples.newLoan },
      },
      schema: {
        tags,
        operationId: 'createLoan',
        summary: 'Create a loan',
        description:
          'Submits, approves and disburses in one call: the loan is Active at once, and every term but the principal comes from the product. The answer has no `repaymentHistory`.',
        body: createLoanRequest,
        response: { 200: loanSummary },
      },
    },
    async ({ caller, body: { customerId, ...asked } }) =>
      toLoanSummary(await createLoan(deps, caller, { ...asked, customerExternalId: customerId })),
  )

  app.get(
    '/v1/loans',
    {
      schema: {
        tags,
        operationId: 'listLoans',
        summary: 'List loans',
        description: 'Each without its `repaymentHistory`. Of an unknown customer: an empty page.',
        querystring: loanQuery,
        response: { 200: loanPage },
      },
    },
    async ({ caller, query: { page, rows, ...filter } }, reply) => {
      const toJson = (now: LoanNow) => Buffer.from(JSON.stringify(toLoanSummary(now)))
      return writtenPage(reply, await pageLoans(deps, caller, { filter, page: { page, rows } }, toJson), { page, rows })
    },
  )

  for (const { path, params, named } of LOAN_ADDRESSES)
    app.get(
      `/v1/loans${path}`,
      {
        schema: {
          tags,
          operationId: named('getLoan'),
          summary: 'Read a loan',
          description: 'As of now, with its schedule and its latest repayments.',
          params,
          response: { 200: loanSchema },
        },
      },
      async ({ caller, params: ref }) => toLoan(await getLoan(deps, caller, ref)),
    )
}
