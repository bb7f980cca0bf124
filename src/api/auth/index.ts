import jwt, { type JWT } from '@fastify/jwt'
import { z } from 'zod'
import type { Claims, TokenSigner } from '../../services/access/tokens.ts'
import type { Deps } from '../../services/deps.ts'
import { requireBearer } from '../http/bearer.ts'
import { failureWords } from '../http/failure.ts'
import type { Style, StyleApp } from '../style.ts'
import { authenticateRoutes, named, registry, tokenRoutes } from './token.ts'

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

const ALGORITHM = 'RS256'
const REQUIRED = ['iss', 'sub', 'org', 'iat', 'exp', 'jti']

/** The header of a token that is not verified yet. */
interface Read {
  readonly header: { readonly alg?: unknown; readonly kid?: unknown }
}

const signerOf = (plugin: JWT, now: () => number): TokenSigner => ({
  sign: (claims, { kid, privatePem }) => plugin.sign(claims, { kid, key: privatePem }),
  keyIdOf(token) {
    const { header } = plugin.decode<Read & object>(token)!
    // Before the key is looked up: a token of the algorithm `none` then costs no reading of the keys.
    if (header.alg !== ALGORITHM) throw new Error('the token names another algorithm')
    return header.kid
  },
  verify: (token, publicPem) => plugin.verify<Claims>(token, { key: publicPem, clockTimestamp: now() }),
})

/** The style of the host that issues tokens and states whose they are (contract 3). */
export const authStyle: Style = {
  name: 'auth',
  title: 'Mkopo: tokens',
  description: 'Issues the tokens that every other call needs, and says who a token belongs to.',
  tags: [{ name: 'tokens', description: 'Get a token, and ask whose a token is and what it may do.' }],
  chapters: [],
  registry,
  faultNames: {},
  failureBody: failureWords,
  async routes(app, deps) {
    await registerTokenSigner(app, deps)
    requireBearer(app, deps)
    await tokenRoutes(app, deps)
    authenticateRoutes(app, deps)
    jwksRoutes(app, deps)
  },
}

/** Adds the public keys by which other services can verify tokens (contract 3.4; RFC 7517). */
function jwksRoutes(app: StyleApp, { keys }: Pick<Deps, 'keys'>): void {
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

/**
 * Registers the plugin that signs tokens and verifies their signatures, and makes it the signer of the service: the
 * other hosts and the operators' pages verify with it, too.
 */
async function registerTokenSigner(
  app: StyleApp,
  { config, machineNow, tokenSigner }: Pick<Deps, 'config' | 'machineNow' | 'tokenSigner'>,
): Promise<void> {
  await app.register(jwt, {
    secret: { private: requireKey, public: requireKey },
    decode: { complete: true },
    sign: { algorithm: ALGORITHM },
    verify: {
      algorithms: [ALGORITHM],
      allowedIss: config.authUrl,
      requiredClaims: REQUIRED,
      // The service checks the expiry: the plugin takes a token for a moment longer, and checks the expiry before the
      // issuer.
      ignoreExpiration: true,
    },
  })
  tokenSigner.mount(signerOf(app.jwt, machineNow))
}

/** The plugin has no key of its own: the key depends on the token, and changes when keys rotate. */
async function requireKey(): Promise<string> {
  throw new Error('a token is signed and verified with the key that is given with it')
}
