import type { Identity } from './caller.ts'
import { rememberEach } from './credentialCache.ts'

const MOST_VERIFIED = 20_000

/** Whom a credential belongs to. */
export interface Verified {
  readonly identity: Identity
  /** Whether what it was verified with still holds, where that has an age of its own: the two must not add up. */
  readonly stillGood?: () => Promise<boolean>
}

/** A check of credentials that remembers for a few seconds whom it found; a refusal is never remembered. */
export function remembering(
  now: () => number,
  verify: (credential: string) => Promise<Verified>,
): (credential: string) => Promise<Identity> {
  const verified = rememberEach(now, MOST_VERIFIED, verify)
  return async (credential) => {
    const { identity, stillGood } = await verified.get(credential)
    if (!stillGood || (await stillGood())) return identity
    verified.forget(credential)
    return (await verified.get(credential)).identity
  }
}
