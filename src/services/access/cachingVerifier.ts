import type { Identity } from './caller.ts'
import { createReadCache } from './credentialCache.ts'

const MOST_VERIFIED = 20_000

/** The identity that a credential belongs to. */
export interface Verified {
  readonly identity: Identity
  /**
   * Returns whether the key of the credential still verifies; checked at each use, so that the ages of two caches do
   * not add up.
   */
  readonly stillGood?: () => Promise<boolean>
}

/** Returns a check of credentials that keeps each identity for a few seconds; a refusal is never kept. */
export function cachingVerifier(
  now: () => number,
  verify: (credential: string) => Promise<Verified>,
): (credential: string) => Promise<Identity> {
  const verified = createReadCache(now, MOST_VERIFIED, verify)
  return async (credential) => {
    const { identity, stillGood } = await verified.get(credential)
    if (!stillGood || (await stillGood())) return identity
    verified.forget(credential)
    return (await verified.get(credential)).identity
  }
}
