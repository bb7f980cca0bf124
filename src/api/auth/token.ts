import basicAuth from '@fastify/basic-auth'
import { z } from 'zod'
import { namesOf, PERMISSION_NAMES } from '../../domain/access/permissions.ts'
import { toRfc3339 } from '../../domain/dates.ts'
import { LendingError } from '../../domain/errors.ts'
import { RULES, requireRule } from '../../services/access/caller.ts'
import type { Caches, Core, Deps } from '../../services/deps.ts'
import { LONGEST_CODE } from '../../services/signIn/secondFactor.ts'
import { keepOutOfCaches } from '../http/failure.ts'
import { word } from '../openapi/answers.ts'
import type { StyleApp } from '../style.ts'
import { instant } from '../wire.ts'

/** The header of the code of a second factor. */
const CODE_HEADER = 'x-mkopo-code'

/** The components of the auth style's document. */
export const registry = z.registry<{ id?: string | undefined; [key: string]: unknown }>()

const tokenSchema = named('Token', z.object({ token: z.string().describe('A JWT, valid for 365 days.') }), {
  example: { token: 'eyJhbGciOiJSUzI1NiIsImtpZCI6Ii4uLiJ9.eyJpc3MiOiIuLi4ifQ.c2lnbmF0dXJl' },
})

const LONGEST = { email: 254, password: 1_000 }

/**
 * Adds `GET /v1/auth/token`: e-mail and password for a token (contract 3.1). It refuses with `unauthenticated`, with
 * `resource_exhausted` after too many failures, and with `unavailable` without a database.
 */
export async function tokenRoutes(app: StyleApp, deps: Core & Caches): Promise<void> {
  const tokens = new WeakMap<object, string>()
  await app.register(basicAuth, {
    authenticate: { realm: 'Mkopo' },
    async validate(email, password, request) {
      const fits = email.length <= LONGEST.email && password.length <= LONGEST.password
      const given = request.headers[CODE_HEADER]
      const code = typeof given === 'string' && given.length <= LONGEST_CODE ? given : ''
      const told = { requestId: request.id, code }
      const issued = deps.signIn.issueToken(fits ? email : '', fits ? password : '', request.ip, told)
      tokens.set(request, await issued.catch(notTheCallers))
    },
  })

  app.get(
    '/v1/auth/token',
    {
      onRequest: app.basicAuth,
      config: {
        public: true,
        secret: true,
        refusals: ['unauthenticated', 'resource_exhausted', 'unavailable'],
        explained: {
          unauthenticated: [
            'No such account, another password, or a disabled account.',
            'wrong e-mail or password, or the account is disabled',
          ],
          resource_exhausted: [
            'Too many failed attempts; see Retry-After.',
            'too many failed sign-ins; try again in 840 s',
          ],
        },
      },
      schema: {
        tags: ['tokens'],
        operationId: 'getToken',
        summary: 'Issue a token',
        description:
          'HTTP Basic with e-mail and password. Failed attempts are limited by e-mail and by address. An account with a second factor has to send its code, too, in the header `x-mkopo-code`; programs had better use an API key.',
        security: [{ basic: [] }],
        response: { 200: tokenSchema },
      },
    },
    async (request, reply) => {
      keepOutOfCaches(reply)
      return { token: tokens.get(request) ?? '' }
    },
  )
}

/**
 * Gives an error a status. Of an error without one the plugin makes a 401 with a challenge to sign in, also when the
 * database cannot be reached or there were too many attempts.
 */
function notTheCallers(error: unknown): never {
  const refused = error instanceof LendingError && error.code === 'unauthenticated'
  throw refused ? error : Object.assign(Object(error), { statusCode: 500 })
}

const identitySchema = named(
  'Identity',
  z.object({
    accountId: z.string().describe('The number of the account.'),
    organizationId: z.string().describe('The number of the organization that it belongs to.'),
    email: z.string(),
    roles: z
      .array(z.string())
      .describe('The names of its roles: USER, ADMIN, AUDITOR, and those that the organization has made.'),
    permissions: z.array(word('What the account may do', PERMISSION_NAMES)),
    expiresAt: instant.describe('When the token ends.'),
  }),
  {
    example: {
      accountId: '1',
      organizationId: '1',
      email: 'partner@example.com',
      roles: ['USER'],
      permissions: ['customers.write', 'loans.write', 'repayments.post', 'collections.work'],
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
        '`any` token; the role `user` (an ADMIN passes too); the role `admin`; the role `auditor` (an ADMIN passes too); or a permission.',
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
      permissions: namesOf(caller.permissions),
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

/** Makes a schema that the document holds by name, with an example. */
export function named<T extends z.ZodType>(id: string, schema: T, { example }: { example: z.input<T> }): T {
  registry.add(schema, { id, examples: [example] })
  return schema
}
