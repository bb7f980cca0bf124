import { createLru } from './lru.ts'

/** The time for which accounts, keys and lenders that were read are used: a change counts within 5 s (contract 3.6). */
const FRESH_FOR_MS = 4_000

/**
 * Returns whether a value that was read at a moment may still be used; false for a moment in the future, after a clock
 * was set back.
 */
export const isFresh = (at: number, now: number): boolean => at <= now && now < at + FRESH_FOR_MS

/** Values by key, each read within the last seconds. */
export interface ReadCache<Key, Value> {
  get(key: Key): Promise<Value>
  forget(key: Key): void
}

/**
 * Creates a cache that reads values and keeps each for a few seconds; requests for one key at once share one reading. A
 * reading that failed is not kept.
 * @param most the most keys that are kept; the least recent are dropped first
 */
export function createReadCache<Key extends {}, Value>(
  now: () => number,
  most: number,
  read: (key: Key) => Promise<Value>,
): ReadCache<Key, Value> {
  const entries = createLru<Key, { readonly value: Promise<Value>; readonly at: number }>(most)
  return {
    get(key) {
      const known = entries.get(key)
      if (known && isFresh(known.at, now())) return known.value
      const entry = { value: read(key), at: now() }
      entries.set(key, entry)
      entry.value.catch(() => entries.get(key) === entry && entries.delete(key))
      return entry.value
    },
    forget: (key) => void entries.delete(key),
  }
}
