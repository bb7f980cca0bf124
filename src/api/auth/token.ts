import basicAuth from '@fastify/basic-auth'
import { z } from 'zod'
import type { Deps } from '../../app/deps.ts'
import { LendingError } from '../../domain/errors.ts'
import { keepOutOfCaches } from '../http/headers.ts'
import type { StyleApp } from '../style.ts'
import { named } from './registry.ts'

const tokenSchema = named('Token', z.object({ token: z.string().describe('A JWT, valid for 365 days.') }), {
  example: { token: 'eyJhbGciOiJSUzI1NiIsImtpZCI6Ii4uLiJ9.eyJpc3MiOiIuLi4ifQ.c2lnbmF0dXJl' },
})

const LONGEST = { email: 254, password: 1_000 }

/**
 * Adds `GET /v1/auth/token`: e-mail and password for a token (contract 3.1). It refuses with `unauthenticated`, with
 * `resource_exhausted` after too many failures, and with `unavailable` without a database.
 */
export async function tokenRoutes(app: StyleApp, deps: Deps): Promise<void> {
  const tokens = new WeakMap<object, string>()
  await app.register(basicAuth, {
    authenticate: { realm: 'Mkopo' },
    async validate(email, password, request) {
      const fits = email.length <= LONGEST.email && password.length <= LONGEST.password
      const issued = deps.signIn.issueToken(fits ? email : '', fits ? password : '', request.ip, request.id)
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
        description: 'HTTP Basic with e-mail and password. Failed attempts are limited by e-mail and by address.',
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
