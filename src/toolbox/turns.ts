/** The order in which readings of values began: of two at once, that which began last counts, whichever ends last. */
export interface Turns<Key> {
  /** Begins a reading. @returns its turn */
  begin(): number
  /** Returns whether what a reading found for a key is to be kept, and notes its turn; false where that of a later turn is kept. */
  keeps(key: Key, turn: number): boolean
}

/** Creates the order of the readings of values by key. */
export function createTurns<Key>(): Turns<Key> {
  const kept = new Map<Key, number>()
  let last = 0
  return {
    begin: () => ++last,
    keeps(key, turn) {
      if (turn < (kept.get(key) ?? 0)) return false
      kept.set(key, turn)
      return true
    },
  }
}
