import type { Deps } from '../../app/deps.ts'
import { getLoanWithDelinquency } from '../../services/delinquency/loanDelinquency.ts'
import { createLoan } from '../../services/loans/loans.ts'
import type { StyleApp } from '../style.ts'
import { settlementRoutes } from './charges/settlement.ts'
import { delinquencyRoutes } from './delinquency/delinquency.ts'
import * as examples from './document/examples.ts'
import { addLoanList } from './lists/loanList.ts'
import { createLoanRequest, loanSchema, loanSummary, toLoan, toLoanSummary } from './loans.wire.ts'
import { LOAN_ADDRESSES } from './registry.ts'

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

  addLoanList(app, deps)

  settlementRoutes(app, deps)
  delinquencyRoutes(app, deps)

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
      async ({ caller, params: ref }) => toLoan(await getLoanWithDelinquency(deps, caller, ref)),
    )
}
