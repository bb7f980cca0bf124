import { type Absent, broughtForward } from './carriedForward/broughtForward.ts'
import { NotRead } from './carriedForward/notRead.ts'
import type { Entry } from './entry.ts'
import type { Loan } from './loan.ts'
import { memoOf } from './replayCache.ts'

/** The entries of a list by their keys, as far as it was looked through. */
interface Index<Key> {
  readonly entries: Map<Key, Entry>
  seen: number
}

/**
 * Finds a loan's entry by a key that no two of them have. Most lists are asked once, and are looked through. One that
 * is asked again is growing under many changes at once: it gets an index.
 * @param name of the key
 * @param keyOf null: the entry has none
 */
export function entryBy<Name extends keyof Absent>(name: Name, keyOf: (entry: Entry) => Absent[Name][number] | null) {
  type Key = Absent[Name][number]
  const indexes = memoOf<readonly Entry[], Index<Key>>(name)
  return (loan: Loan, key: Key): Entry | undefined => {
    const forward = broughtForward(loan)
    if (forward) {
      const absent: readonly Key[] = forward.absent[name]
      if (!absent.includes(key)) throw new NotRead(`whether an entry has that ${name}`)
      return forward.since.find((entry) => keyOf(entry) === key)
    }
    const { entries } = loan
    const index = indexes.get(entries)
    if (!index) {
      indexes.set(entries, { entries: new Map(), seen: 0 })
      return entries.find((entry) => keyOf(entry) === key)
    }
    for (const entry of entries.slice(index.seen)) {
      const known = keyOf(entry)
      if (known !== null) index.entries.set(known, entry)
    }
    index.seen = entries.length
    return index.entries.get(key)
  }
}
