import type { Caches, Core } from '../../../services/deps.ts'
import { organizationSettings, updateOrganization } from '../../../services/organizations/organizations.ts'
import type { StyleApp } from '../../style.ts'
import * as examples from './examples.ts'
import { organizationSchema, toOrganization, updateOrganizationRequest } from './organization.wire.ts'

const tags = ['organization']

/** Adds the settings of the caller's organization (contract 14.7). */
export function organizationRoutes(app: StyleApp, deps: Core & Caches): void {
  app.get(
    '/v1/organization',
    {
      config: { examples: { 'Nothing set': examples.firstOrganization } },
      schema: {
        tags,
        operationId: 'getOrganization',
        summary: 'Read your organization',
        description: 'The lender that the account belongs to, with its settings.',
        response: { 200: organizationSchema },
      },
    },
    async ({ caller }) => toOrganization(await organizationSettings(deps, caller)),
  )

  app.patch(
    '/v1/organization',
    {
      schema: {
        tags,
        operationId: 'updateOrganization',
        summary: 'Change the settings of your organization',
        description:
          'What documents say of the lender, and the amount above which changes wait for a second ADMIN. A field that is left out stays, and null clears it. `approvalAbove` counts within 5 seconds; it can be set and lowered, and the operators of the service raise or clear it.',
        body: updateOrganizationRequest,
        response: { 200: organizationSchema },
      },
    },
    async ({ caller, body }) => toOrganization(await updateOrganization(deps, caller, body)),
  )
}
