import { z } from 'zod'
import { resetSecondFactor } from '../../../services/access/accounts.ts'
import type { Core } from '../../../services/deps.ts'
import { getSignIn, LONGEST, MOST_MAPPED, type SignInView, updateSignIn } from '../../../services/signIn/settings.ts'
import type { StyleApp } from '../../style.ts'
import { codec, idParam, Refused, text } from '../../wire.ts'
import { named } from '../registry.ts'
import * as examples from './examples.ts'

const tags = ['organization']

const roleMap = named(
  'RoleOfClaim',
  codec<Record<string, string>>(
    (value) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        return new Refused('must be an object: a role for each value of the claim')
      const entries = Object.entries(value)
      if (entries.length > MOST_MAPPED || entries.some(([, role]) => typeof role !== 'string'))
        return new Refused(`must give a role to 1 to ${MOST_MAPPED} values of the claim`)
      return Object.fromEntries(entries)
    },
    {
      type: 'object',
      maxProperties: MOST_MAPPED,
      additionalProperties: { type: 'string', maxLength: 40, pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$' },
      description: 'The role of the organization for each value of the claim.',
    },
  ),
  { example: examples.officeSignIn.provider.roles },
)

const shownRoles = named('ShownRoleOfClaim', z.record(z.string(), z.string()), {
  example: examples.officeSignIn.provider.roles,
})

const provider = {
  issuer: text({ max: LONGEST.issuer }).describe('The issuer, from which what it offers is read.'),
  clientId: text({ max: LONGEST.clientId }),
  roleClaim: text({ max: LONGEST.roleClaim }).describe(
    'The claim of userinfo that names roles: a name, or a path such as `realm_access.roles`.',
  ),
  roles: roleMap,
}

const shownProvider = named(
  'SignInProvider',
  z.object({
    issuer: z.string(),
    clientId: z.string(),
    roleClaim: z.string().describe('The claim of userinfo that names roles.'),
    roles: shownRoles.describe('The role of the organization for each value of the claim.'),
  }),
  { example: examples.officeSignIn.provider },
)

const providerRequest = named(
  'SignInProviderRequest',
  z.strictObject({
    ...provider,
    clientSecret: text({ max: LONGEST.clientSecret })
      .optional()
      .describe('Left out: that of before, of the same issuer and client.'),
  }),
  { example: examples.updateOfficeSignIn.provider },
)

const signInSchema = named(
  'OfficeSignIn',
  z.object({
    secondFactorRequired: z.boolean().describe('Whether accounts with a password have to set up a second factor.'),
    provider: shownProvider
      .optional()
      .describe(
        'The provider by which people sign in, beside passwords; its secret is never shown. Left out where there is none.',
      ),
  }),
  { example: examples.officeSignIn },
)

const updateOfficeSignInRequest = named(
  'UpdateOfficeSignInRequest',
  z.strictObject({
    secondFactorRequired: z.boolean().optional(),
    provider: providerRequest.optional(),
    withoutProvider: z
      .boolean()
      .optional()
      .describe('True takes the provider away; the accounts that it knows sign in no more.'),
  }),
  { example: examples.updateOfficeSignIn },
)

const accountParams = z.object({ id: idParam })

const toSignIn = ({ secondFactorRequired, provider: one }: SignInView) => ({
  secondFactorRequired,
  ...(one && { provider: { ...one, roles: { ...one.roles } } }),
})

/** Adds how the people of the organization sign in at the office pages (contract 19.3). */
export function officeSignInRoutes(app: StyleApp, deps: Core): void {
  app.get(
    '/v1/office-sign-in',
    {
      config: { examples: { 'Nothing set': examples.passwordsAlone } },
      schema: {
        tags,
        operationId: 'getOfficeSignIn',
        summary: 'Read how people sign in',
        response: { 200: signInSchema },
      },
    },
    async ({ caller }) => toSignIn(await getSignIn(deps, caller)),
  )

  app.patch(
    '/v1/office-sign-in',
    {
      schema: {
        tags,
        operationId: 'updateOfficeSignIn',
        summary: 'Say how people sign in',
        description:
          'A field that is left out stays. It counts within 5 seconds. Roles of the provider can have only permissions that you have.',
        body: updateOfficeSignInRequest,
        response: { 200: signInSchema },
      },
    },
    async ({ caller, body: { withoutProvider, ...asked } }) =>
      toSignIn(await updateSignIn(deps, caller, withoutProvider ? { ...asked, provider: null } : asked)),
  )

  app.post(
    '/v1/accounts/:id/reset-second-factor',
    {
      config: {
        refusals: ['failed_precondition'],
        explained: {
          failed_precondition: ['The account has no second factor.', 'the account has no second factor'],
          not_found: ['No such account of your organization.', 'no account has that id'],
        },
      },
      schema: {
        tags,
        operationId: 'resetSecondFactor',
        summary: 'Take a second factor away',
        description: 'The account signs in by its password alone, until it sets up another second factor.',
        params: accountParams,
        response: { 204: z.null().describe('Done.') },
      },
    },
    async ({ caller, params: { id } }, reply) => {
      await resetSecondFactor(deps, caller, { id: id ?? 0n })
      return reply.code(204).send(null)
    },
  )
}
