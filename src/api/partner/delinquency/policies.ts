import { currencyOf } from '../../../domain/money.ts'
import type { Caller } from '../../../services/access/caller.ts'
import { getPolicy, type PolicyVersion, setPolicy } from '../../../services/delinquency/policies.ts'
import type { Caches, Core } from '../../../services/deps.ts'
import { getOrganization } from '../../../services/organizations/organizations.ts'
import type { StyleApp } from '../../style.ts'
import * as examples from './examples.ts'
import { policyQuery, policySchema, toPolicy, updatePolicyRequest } from './policies.wire.ts'

const tags = ['arrears']

/** Adds the policy by which a lender says how late its loans are (contract 11). */
export function policyRoutes(app: StyleApp, deps: Core & Caches): void {
  const view = async (caller: Caller, policy: PolicyVersion) => {
    const { currency } = await getOrganization(deps, caller)
    return toPolicy(policy, { currency: currencyOf(currency), zone: deps.config.zone })
  }

  app.get(
    '/v1/delinquency-policy',
    {
      config: { examples: { 'Nothing set': examples.firstPolicy } },
      schema: {
        tags,
        operationId: 'getDelinquencyPolicy',
        summary: 'Read the delinquency policy',
        description: 'The policy in force, or an earlier version.',
        querystring: policyQuery,
        response: { 200: policySchema },
      },
    },
    async ({ caller, query: { version } }) => view(caller, await getPolicy(deps, caller, version)),
  )

  app.put(
    '/v1/delinquency-policy',
    {
      schema: {
        tags,
        operationId: 'updateDelinquencyPolicy',
        summary: 'Set the delinquency policy',
        description:
          'A preset by its name, or buckets of your own. It is in force from the next request on, for the days before it, too; each version is kept. The same policy again makes no new version.',
        body: updatePolicyRequest,
        response: { 200: policySchema },
      },
    },
    async ({ caller, body }) => view(caller, await setPolicy(deps, caller, body)),
  )
}
