import type { Deps } from '../../../app/deps.ts'
import { getDelinquency } from '../../../services/delinquency/loanDelinquency.ts'
import { lastInstantOf } from '../../lists/lastInstant.ts'
import type { StyleApp } from '../../style.ts'
import { LOAN_ADDRESSES } from '../registry.ts'
import { delinquencyQuery, delinquencySchema, toDelinquency } from './delinquency.wire.ts'

/** Adds the history of a loan's arrears (contract 11). */
export function delinquencyRoutes(app: StyleApp, deps: Deps): void {
  for (const { path, params, named } of LOAN_ADDRESSES)
    app.get(
      `/v1/loans${path}/delinquency`,
      {
        schema: {
          tags: ['loans'],
          operationId: named('getDelinquency', 'Loan'),
          summary: 'Read the arrears of a loan',
          description:
            'The days past due from disbursement on, in buckets, for any day and as it was known at any instant.',
          params,
          querystring: delinquencyQuery,
          response: { 200: delinquencySchema },
        },
      },
      async ({ caller, params: ref, query: { asOf, knownAt, policy } }) => {
        const known = knownAt && lastInstantOf(knownAt, deps, caller.organizationId)
        return toDelinquency(await getDelinquency(deps, caller, ref, { asOf, policy, knownAt: known }))
      },
    )
}
