import { randomFrom } from './random.ts'

/** The greatest id that a client may choose. */
const GREATEST = 2n ** 63n - 1n
/** Ids at the ends of the range, and the first that a double does not hold. */
const ENDS = [1n, 2n ** 53n + 1n, GREATEST]

/**
 * Returns a source of ids as a record system chooses them, from the whole of int64: the ends first, and then random ones,
 * of which nearly all have 19 digits. Each is given once, as text, for paths.
 */
export function recordIdsFrom(seed: number): () => string {
  const random = randomFrom(seed)
  const given = new Set<bigint>()
  const left = [...ENDS]
  const draw = () => (BigInt(random(2 ** 31)) << 32n) + BigInt(random(2 ** 32))
  return () => {
    let id = left.shift() ?? draw()
    while (id === 0n || given.has(id)) id = draw()
    given.add(id)
    return String(id)
  }
}

/** Returns an id as a member of a body, digit by digit: a number of JavaScript could not carry it. */
export const asJson = (id: string) => JSON.rawJSON(id)
