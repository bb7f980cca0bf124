/** What was worked out of a value that never changes, kept with the value. */
export interface Memo<Of extends object, What> {
  get(of: Of): What | undefined
  set(of: Of, what: What): void
}

/**
 * Keeps it in a property that is not enumerable: a copy of the value, changed in this or that, is another value and has
 * none. A WeakMap would say the same, but the young generation's collector takes what an old map holds as alive, even
 * where its key is not: everything kept would be copied about until the next collection of the whole heap.
 */
export function memoOf<Of extends object, What>(name: string): Memo<Of, What> {
  const key: unique symbol = Symbol(name)
  return {
    get: (of: Of & { readonly [key]?: What }) => of[key],
    set: (of, what) => {
      Object.defineProperty(of, key, { value: what, configurable: true })
    },
  }
}
