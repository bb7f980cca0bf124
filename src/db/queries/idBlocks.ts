import type { Db } from '../postgres/client.ts'

/** What the service gives ids to, and the sequence they come from. */
const SEQUENCES = { customer: 'customer_id_seq', loan: 'loan_id_seq', entry: 'loan_entry_id_seq' } as const

/** A kind of number that is drawn in blocks: a change of the book then knows its numbers without asking. */
export interface Kind {
  readonly name: string
  /** Numbers that are drawn at once: `least`, and twice as many each time that the last block lasted under a second. */
  readonly block: { readonly least: number; readonly most: number }
  fetch(count: number): Promise<bigint[]>
}

interface Supply {
  ids: bigint[]
  fetching: Promise<void> | undefined
  /** The size of the last block, and when it was drawn. */
  size: number
  drawnAt: number
}

const supplies = new WeakMap<Db, Map<string, Supply>>()

function supplyOf(db: Db, { name }: Kind): Supply {
  const kinds = supplies.get(db) ?? new Map<string, Supply>()
  supplies.set(db, kinds)
  const supply = kinds.get(name) ?? { ids: [], fetching: undefined, size: 0, drawnAt: Number.NEGATIVE_INFINITY }
  kinds.set(name, supply)
  return supply
}

const LONG_MS = 1_000

/**
 * Makes sure that `count` numbers of a kind can be taken at once; those that are not used by the end of the process are
 * lost, as numbers of a sequence are.
 * @returns takes the next one; to be called `count` times at most, before anything is awaited
 */
export async function reserve(db: Db, kind: Kind, count: number): Promise<() => bigint> {
  const supply = supplyOf(db, kind)
  while (supply.ids.length < count) {
    supply.fetching ??= refill(supply, kind, count).finally(() => {
      supply.fetching = undefined
    })
    await supply.fetching
  }
  const taken = supply.ids.splice(0, count)
  return () => taken.shift()!
}

async function refill(supply: Supply, { block, fetch }: Kind, count: number): Promise<void> {
  const now = performance.now()
  supply.size = now - supply.drawnAt < LONG_MS ? Math.min(supply.size * 2, block.most) : block.least
  supply.drawnAt = now
  supply.ids.push(...(await fetch(Math.max(supply.size, count - supply.ids.length))))
}

/** Gives back a number that was taken and not used, for the next who takes one. */
export function returnUnused(db: Db, kind: Kind, unused: bigint): void {
  supplyOf(db, kind).ids.unshift(unused)
}

const BLOCK = 500

/** `reserve` for the ids of customers, loans or entries. */
export function reserveIds(db: Db, of: keyof typeof SEQUENCES, count: number): Promise<() => bigint> {
  const fetch = (size: number) => fetchIds(db, SEQUENCES[of], size)
  return reserve(db, { name: of, block: { least: BLOCK, most: BLOCK }, fetch }, count)
}

async function fetchIds(db: Db, sequence: string, count: number): Promise<bigint[]> {
  const { rows } = await db.pool.query<{ id: bigint }>({
    name: `ids-${sequence}`,
    text: `SELECT nextval('${sequence}') AS id FROM generate_series(1, $1::int)`,
    values: [count],
  })
  return rows.map(({ id }) => id)
}
