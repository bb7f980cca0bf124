import { LRUCache } from 'lru-cache'
import type { Identity } from './caller.ts'

/** How long a verified credential is taken as read: what is revoked is refused within 5 s (contract 3.6). */
const VERIFIED_FOR_MS = 4_000
const MOST_VERIFIED = 20_000

/** A check of credentials that remembers for a few seconds whom it found; a refusal is never remembered. */
export function remembering(
  now: () => number,
  verify: (credential: string) => Promise<Identity>,
): (credential: string) => Promise<Identity> {
  const verified = new LRUCache<string, { identity: Promise<Identity>; until: number }>({ max: MOST_VERIFIED })
  return (credential) => {
    const known = verified.get(credential)
    if (known && now() < known.until) return known.identity
    const identity = verify(credential)
    verified.set(credential, { identity, until: now() + VERIFIED_FOR_MS })
    identity.catch(() => verified.delete(credential))
    return identity
  }
}
