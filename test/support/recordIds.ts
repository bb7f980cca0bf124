import { randomFrom } from './random.ts'

/** An id as a client of the record style chooses it: a bigint where a double does not hold it. */
export type RecordId = number | bigint

/** The greatest id that a client may choose. */
const GREATEST = 2n ** 63n - 1n
/** Ids at the ends of the range, and the first that a double does not hold. */
const ENDS = [1n, 2n ** 53n + 1n, GREATEST]

/**
 * Returns a source of ids from the whole range that clients may choose from: the ends first, then random ones, of which
 * nearly all have 19 digits. Each is given once.
 * @param taken ids that the test gives itself
 */
export function recordIdsFrom(seed: number, taken: readonly RecordId[] = []): () => RecordId {
  const random = randomFrom(seed)
  const given = new Set([0n, ...taken.map(BigInt)])
  const left = [...ENDS]
  const draw = () => (BigInt(random(2 ** 31)) << 32n) + BigInt(random(2 ** 32))
  return () => {
    let id = left.shift() ?? draw()
    while (given.has(id)) id = left.shift() ?? draw()
    given.add(id)
    return exactly(id)
  }
}

const exactly = (id: bigint): RecordId => (Number.isSafeInteger(Number(id)) ? Number(id) : id)

/** Writes JSON; a bigint is a number, digit by digit. */
export const writeJson = (value: unknown): string =>
  JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? JSON.rawJSON(String(part)) : part))

/** Reads JSON; a whole number that a double does not hold is a bigint. */
export const readJson = (text: string): unknown =>
  JSON.parse(text, (_, value, { source = '' }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value,
  )
