import { z } from 'zod'
import type { Deps } from '../../app/deps.ts'
import type { StyleApp } from '../style.ts'
import { named } from './registry.ts'

const example = { kty: 'RSA', use: 'sig', alg: 'RS256', kid: '1f0c1d5e-6d0b-4e0e-9a58-0d7f6d1c2b3a', n: '…', e: 'AQAB' }

const key = named(
  'VerificationKey',
  z.object({
    kty: z.string().describe('Always `RSA`.'),
    use: z.string().describe('Always `sig`.'),
    alg: z.string().describe('Always `RS256`.'),
    kid: z.string().describe('The name of the key; a token has it in its header.'),
    n: z.string().describe('The modulus, in base64url.'),
    e: z.string().describe('The exponent, in base64url.'),
  }),
  { example },
)

const keySet = named('KeySet', z.object({ keys: z.array(key).describe('The key that signs now first.') }), {
  example: { keys: [example] },
})

/** Seconds for which a client may keep the set; it reads the set again for a `kid` that is not in it. */
const KEEP_SECONDS = 60

/** Adds the public keys by which other services can verify tokens (contract 3.4; RFC 7517). */
export function jwksRoutes(app: StyleApp, { keys }: Pick<Deps, 'keys'>): void {
  app.get(
    '/.well-known/jwks.json',
    {
      config: { public: true, refusals: ['unavailable'] },
      schema: {
        tags: ['tokens'],
        operationId: 'getKeySet',
        summary: 'Read the keys that may verify a token',
        description:
          'The one that signs now first. Read it again when a token names a key that is not in it: keys rotate.',
        response: { 200: keySet },
      },
    },
    async (_request, reply) => {
      reply.header('cache-control', `public, max-age=${KEEP_SECONDS}`)
      return { keys: [...(await keys.published())] }
    },
  )
}
