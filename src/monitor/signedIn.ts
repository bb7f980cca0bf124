import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Deps } from '../app/deps.ts'
import { LendingError } from '../domain/errors.ts'
import { type Identity, requireReader } from '../services/access/caller.ts'
import { enterOrganization } from '../services/testClock/enter.ts'

/** A verified password is remembered for this long: verifying one is slow on purpose, and a page renews itself. */
const VERIFIED_FOR_MS = 300_000
const MOST_VERIFIED = 100
const LONGEST_HEADER = 2_000

/** Returns the operator of an Authorization header of HTTP Basic. */
export type SignedIn = (header: string | undefined, address: string) => Promise<Identity>

/**
 * Makes a sign-in with the same accounts, limits and refusals as the token call. It remembers a token, so that a
 * disabled account is refused here as soon as elsewhere.
 * @throws LendingError `unauthenticated`, `permission_denied`, `resource_exhausted`
 */
export function signInOperators(deps: Pick<Deps, 'signIn' | 'organizations' | 'testClocks'>): SignedIn {
  const { signIn } = deps
  const tokens = new LRUCache<string, string>({ max: MOST_VERIFIED, ttl: VERIFIED_FOR_MS })
  return async (header, address) => {
    const key = createHash('sha256').update(String(header)).digest('base64')
    const verify = async () => {
      const { email, password } = readBasic(header)
      const token = await signIn.issueToken(email, password, address)
      tokens.set(key, token)
      return signIn.identify(token)
    }
    const token = tokens.get(key)
    const identity = await (token === undefined ? verify() : signIn.identify(token)).catch((error: unknown) => {
      const isRefused = error instanceof LendingError && error.code === 'unauthenticated'
      // A token ends with its key, or when all tokens of an account are revoked; the password may still be right.
      if (token === undefined || !isRefused) throw error
      tokens.delete(key)
      return verify()
    })
    requireReader(identity)
    await enterOrganization(deps, identity.organizationId)
    return identity
  }
}

function readBasic(header = ''): { email: string; password: string } {
  const encoded = header.length > LONGEST_HEADER ? undefined : /^Basic +([\w+/=-]+) *$/i.exec(header)?.[1]
  const text = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 1) throw new LendingError('unauthenticated', 'sign in with the e-mail and password of an operator')
  return { email: text.slice(0, colon), password: text.slice(colon + 1) }
}
