/** Counts what each key holds now; a key that holds nothing is forgotten. */
export class Tally<Key> {
  readonly #held = new Map<Key, number>()

  /** Returns how much the key holds. */
  of(key: Key): number {
    return this.#held.get(key) ?? 0
  }

  /**
   * Adds to what the key holds; a negative amount takes away.
   * @returns what the key holds then
   */
  add(key: Key, amount: number): number {
    const held = this.of(key) + amount
    if (held === 0) this.#held.delete(key)
    else this.#held.set(key, held)
    return held
  }
}
