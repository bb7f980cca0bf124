/** Counts by key, of what is held now: a key without any is forgotten. */
export class Tally<Key> {
  readonly #held = new Map<Key, number>()

  /** How much the key holds. */
  of(key: Key): number {
    return this.#held.get(key) ?? 0
  }

  /** Adds to what the key holds; less than 0 takes away. @returns what it holds then */
  add(key: Key, amount: number): number {
    const held = this.of(key) + amount
    if (held === 0) this.#held.delete(key)
    else this.#held.set(key, held)
    return held
  }
}
