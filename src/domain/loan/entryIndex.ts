import { isHead, type LoanHead } from './carriedForward/loanHead.ts'
import type { Entry } from './entry.ts'
import { cacheOf } from './replayCache.ts'
import type { Loan } from './terms/terms.ts'

/** The first `seen` entries of a list, by their keys. */
interface Index<Key> {
  readonly entries: Map<Key, Entry>
  seen: number
}

/**
 * Creates a function that finds an entry by a key that no two entries of a loan have. Most lists are searched once,
 * from their start. A list that is searched again grows with many changes at once: it gets an index. Of a head, only
 * the entries posted since the head was read are searched, because no head is read of a loan that has the key already.
 * @param name the name of the key
 * @param keyOf returns the key of an entry; null where the entry has none
 */
export function entryBy<Key>(name: string, keyOf: (entry: Entry) => Key | null) {
  const indexes = cacheOf<readonly Entry[], Index<Key>>(name)
  return (loan: Pick<Loan, 'entries'> | LoanHead, key: Key): Entry | undefined => {
    if (isHead(loan)) return loan.since.find(({ entry }) => keyOf(entry) === key)?.entry
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
