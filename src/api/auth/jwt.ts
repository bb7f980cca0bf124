import jwt, { type JWT } from '@fastify/jwt'
import type { Deps } from '../../app/deps.ts'
import type { Claims, TokenSigner } from '../../services/access/tokenSigner.ts'
import type { StyleApp } from '../style.ts'

const ALGORITHM = 'RS256'
const REQUIRED = ['iss', 'sub', 'org', 'iat', 'exp', 'jti']

/** The header of a token that is not verified yet. */
interface Read {
  readonly header: { readonly alg?: unknown; readonly kid?: unknown }
}

/**
 * Registers the plugin that signs tokens and verifies their signatures, and makes it the signer of the service: the
 * other hosts and the operators' pages verify with it, too.
 */
export async function registerTokenSigner(
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
