/** Values that were computed from objects that never change, kept with each object. */
export interface Cache<Of extends object, What> {
  get(of: Of): What | undefined
  set(of: Of, what: What): void
  /** Gives the value of one object to another one: the first has none then. */
  move(from: Of, to: Of): void
}

/**
 * Creates a cache that keeps its values in a property that is not enumerable, so that a copy of an object has no cached
 * value. A WeakMap would do too, but the collector of the young generation treats what an old map holds as alive, even
 * where its key is not: all cached values would be copied until the next collection of the whole heap.
 */
export function cacheOf<Of extends object, What>(name: string): Cache<Of, What> {
  const key: unique symbol = Symbol(name)
  const get = (of: Of & { readonly [key]?: What }) => of[key]
  const define = (of: Of, value: What | undefined) => {
    Object.defineProperty(of, key, { value, configurable: true })
  }
  return {
    get,
    set: define,
    move(from, to) {
      const value = get(from)
      if (value === undefined) return
      define(to, value)
      define(from, undefined)
    },
  }
}
