import { isHead, type LoanHead } from './carriedForward/loanHead.ts'
import type { Entry } from './entry.ts'
import { cacheOf } from './replayCache.ts'
import type { Loan } from './terms/terms.ts'

/** The first `seen` entries of a list, by their keys. */
interface Index {
  readonly entries: Map<unknown, Entry>
  seen: number
}

/** The indexes of a list, by the name of the key. */
const indexes = cacheOf<readonly Entry[], Map<string, Index>>('indexes')

/**
 * Returns a list with one more entry. It takes over the indexes of the list before it, in which few search afterwards. To copy
 * the list takes a thousandth of a millisecond for 2,000 entries, and an eighth of one for 20,000.
 */
export function withEntry(entries: readonly Entry[], posted: Entry): readonly Entry[] {
  const more = entries.concat([posted])
  indexes.move(entries, more)
  return more
}

/**
 * Creates a function that finds an entry by a key that no two entries of a loan have. Most lists are searched once,
 * from their start. A loan whose entries are searched again grows with many changes at once: it gets an index. Of a head, only
 * the entries posted since the head was read are searched, because no head is read of a loan that has the key already.
 * @param name the name of the key
 * @param keyOf returns the key of an entry; null where the entry has none
 */
export function entryBy<Key>(name: string, keyOf: (entry: Entry) => Key | null) {
  return (loan: Pick<Loan, 'entries'> | LoanHead, key: Key): Entry | undefined => {
    if (isHead(loan)) return loan.since.find(({ entry }) => keyOf(entry) === key)?.entry
    const { entries } = loan
    const ofList = indexes.get(entries) ?? new Map<string, Index>()
    indexes.set(entries, ofList)
    const index = ofList.get(name)
    if (!index) {
      ofList.set(name, { entries: new Map(), seen: 0 })
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
