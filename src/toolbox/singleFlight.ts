/**
 * Work that calls for the same key share.
 * @param leave ends the sharing before the work does: a later call begins work of its own
 */
export type SharedWork<Value> = (leave: () => void) => Promise<Value>

/** Does work for a key, or joins the work that is under way for it. */
export type SingleFlight<Key, Value> = (key: Key, work: SharedWork<Value>) => Promise<Value>

/** Creates a single flight: of the calls for one key, the first does its work, and those that arrive meanwhile share it. */
export function createSingleFlight<Key, Value>(): SingleFlight<Key, Value> {
  const underWay = new Map<Key, Promise<Value>>()
  return (key, work) => {
    const known = underWay.get(key)
    if (known) return known
    let isShared = true
    const leave = () => {
      if (!isShared) return
      isShared = false
      underWay.delete(key)
    }
    const value = work(leave).finally(leave)
    if (isShared) underWay.set(key, value)
    return value
  }
}
