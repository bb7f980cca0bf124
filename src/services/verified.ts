import { LRUCache } from 'lru-cache'
import type { Identity } from './caller.ts'

/** How long what was read of accounts and keys is relied on: what is revoked is refused within 5 s (contract 3.6). */
const FRESH_FOR_MS = 4_000
const MOST_VERIFIED = 20_000

/** Whether what was read at a moment is to be relied on; what a clock that was put back has yet to come to is not. */
export const isFresh = (at: number, now: number): boolean => at <= now && now < at + FRESH_FOR_MS

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
  const remembered = new LRUCache<string, { verified: Promise<Verified>; at: number }>({ max: MOST_VERIFIED })
  return async (credential) => {
    const known = remembered.get(credential)
    if (known && isFresh(known.at, now())) {
      const { identity, stillGood } = await known.verified
      if (!stillGood || (await stillGood())) return identity
    }
    const entry = { verified: verify(credential), at: now() }
    remembered.set(credential, entry)
    entry.verified.catch(() => remembered.get(credential) === entry && remembered.delete(credential))
    return (await entry.verified).identity
  }
}
