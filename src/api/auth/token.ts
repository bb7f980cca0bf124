import basicAuth from '@fastify/basic-auth'
import { z } from 'zod'
import type { Deps } from '../../deps.ts'
import type { StyleApp } from '../style.ts'
import { named } from './registry.ts'

const tokenSchema = named('Token', z.object({ token: z.string().describe('A JWT, valid for 365 days.') }), {
  example: { token: 'eyJhbGciOiJSUzI1NiIsImtpZCI6Ii4uLiJ9.eyJpc3MiOiIuLi4ifQ.c2lnbmF0dXJl' },
})

const LONGEST = { email: 254, password: 1_000 }

export async function tokenRoutes(app: StyleApp, deps: Deps): Promise<void> {
  const tokens = new WeakMap<object, string>()
  await app.register(basicAuth, {
    authenticate: { realm: 'Mkopo' },
    async validate(email, password, request) {
      const fits = email.length <= LONGEST.email && password.length <= LONGEST.password
      tokens.set(request, await deps.signIn.issueToken(fits ? email : '', fits ? password : '', request.ip))
    },
  })

  app.get(
    '/v1/auth/token',
    {
      onRequest: app.basicAuth,
      config: { public: true, refusals: ['unauthenticated', 'resource_exhausted', 'unavailable'] },
      schema: {
        tags: ['tokens'],
        summary: 'Issue a token',
        description: 'HTTP Basic with e-mail and password. Failed attempts are limited by e-mail and by address.',
        security: [{ basic: [] }],
        response: { 200: tokenSchema },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      return { token: tokens.get(request) ?? '' }
    },
  )
}
