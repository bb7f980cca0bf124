import { LRUCache } from 'lru-cache'

/** How long what was read of accounts, keys and lenders is relied on: a change counts within 5 s (contract 3.6). */
const FRESH_FOR_MS = 4_000

/** Whether what was read at a moment is to be relied on; what a clock that was put back has yet to come to is not. */
export const isFresh = (at: number, now: number): boolean => at <= now && now < at + FRESH_FOR_MS

/** Values by key, each as it is now or was a few seconds ago. */
export interface Remembered<Key, Value> {
  get(key: Key): Promise<Value>
  forget(key: Key): void
}

/**
 * Reads values, and remembers each for a few seconds; requests for one key at once share one reading. A reading that
 * failed is not remembered.
 * @param most keys remembered; the least recent are forgotten first
 */
export function rememberEach<Key extends {}, Value>(
  now: () => number,
  most: number,
  read: (key: Key) => Promise<Value>,
): Remembered<Key, Value> {
  const entries = new LRUCache<Key, { readonly value: Promise<Value>; readonly at: number }>({ max: most })
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
