import { z } from 'zod'
import type { Deps } from '../../app/deps.ts'
import { toRfc3339 } from '../../domain/dates.ts'
import { ROLES } from '../../services/access/accounts.ts'
import { RULES, requireRule } from '../../services/access/caller.ts'
import { word } from '../document/answers.ts'
import type { StyleApp } from '../style.ts'
import { instant } from '../wire.ts'
import { named } from './registry.ts'

const identitySchema = named(
  'Identity',
  z.object({
    accountId: z.string().describe('The number of the account.'),
    organizationId: z.string().describe('The number of the organization that it belongs to.'),
    email: z.string(),
    roles: z.array(word('What the account may do', ROLES)),
    expiresAt: instant.describe('When the token ends.'),
  }),
  {
    example: {
      accountId: '1',
      organizationId: '1',
      email: 'partner@example.com',
      roles: ['USER'],
      expiresAt: '2027-01-31T09:30:00.000+03:00',
    },
  },
)

const authorizeRequest = named(
  'AuthorizeRequest',
  z.strictObject({
    rule: z
      .enum(RULES)
      .describe(
        '`any` token; the role `user` (an ADMIN passes too); the role `admin`; the role `auditor` (an ADMIN passes too).',
      ),
  }),
  { example: { rule: 'user' } },
)

/**
 * Adds the call that states whose a token is and what its roles are: for gateways that ask before they let a request
 * through (contract 3.3).
 */
export function authenticateRoutes(app: StyleApp, { config }: Pick<Deps, 'config'>): void {
  app.get(
    '/v1/auth/authenticate',
    {
      schema: {
        tags: ['tokens'],
        operationId: 'authenticate',
        summary: 'Say whose a token is',
        description: 'As the account is now: a role given or taken since the token was issued counts within 5 seconds.',
        response: { 200: identitySchema },
      },
    },
    ({ caller }) => ({
      accountId: String(caller.accountId),
      organizationId: String(caller.organizationId),
      email: caller.email,
      roles: [...caller.roles],
      expiresAt: toRfc3339(caller.expiresAt, config.zone),
    }),
  )

  app.post(
    '/v1/auth/authorize',
    {
      config: { changesNothing: true, refusals: ['permission_denied'] },
      schema: {
        tags: ['tokens'],
        operationId: 'authorize',
        summary: 'Say whether a token may pass',
        description: '204 when it may, 403 `permission_denied` when its role may not; for a gateway’s forward-auth.',
        body: authorizeRequest,
        response: { 204: z.null().describe('It may.') },
      },
    },
    async ({ caller, body }, reply) => {
      requireRule(caller, body.rule)
      return reply.code(204).send(null)
    },
  )
}
