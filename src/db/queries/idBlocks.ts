import type { Db } from '../postgres/client.ts'

/** A kind of number that is drawn in blocks: a change of the book then knows its numbers without asking. */
export interface Kind {
  readonly name: string
  /** Numbers that are drawn at once: `least`, and twice as many each time that the last block lasted under a second. */
  readonly block: { readonly least: number; readonly most: number }
  fetch(count: number): Promise<bigint[]>
}

/** Blocks of numbers that the database gave and that are not used yet. Those left at the end of the process are lost. */
export interface IdBlocks {
  /**
   * Waits until `count` numbers of a kind are there.
   * @returns a function that takes the next number; call it `count` times at most
   */
  reserve(kind: Kind, count: number): Promise<() => bigint>
  /** Gives back a number that was taken and not used; the next caller takes it. */
  giveBack(kind: Kind, unused: bigint): void
  /** Forgets the numbers that were drawn: an organization has come from another book, which may have used them. */
  forget(): void
}

/** The database, and the blocks of numbers drawn from it. */
export interface NumberedDb {
  readonly db: Db
  readonly idBlocks: IdBlocks
}

interface Supply {
  ids: bigint[]
  fetching: Promise<void> | undefined
  /** The size of the last block, and when it was drawn. */
  size: number
  drawnAt: number
}

const LONG_MS = 1_000

/** Creates the blocks of a database; there is one set of them in a process. */
export function createIdBlocks(): IdBlocks {
  const supplies = new Map<string, Supply>()

  const supplyOf = ({ name }: Kind): Supply => {
    const supply = supplies.get(name) ?? { ids: [], fetching: undefined, size: 0, drawnAt: Number.NEGATIVE_INFINITY }
    supplies.set(name, supply)
    return supply
  }

  return {
    async reserve(kind, count) {
      const supply = supplyOf(kind)
      while (supply.ids.length < count) {
        supply.fetching ??= refill(supply, kind, count).finally(() => {
          supply.fetching = undefined
        })
        await supply.fetching
      }
      const taken = supply.ids.splice(0, count)
      return () => taken.shift()!
    },
    giveBack: (kind, unused) => void supplyOf(kind).ids.unshift(unused),
    forget: () => supplies.clear(),
  }
}

async function refill(supply: Supply, { block, fetch }: Kind, count: number): Promise<void> {
  const now = performance.now()
  supply.size = now - supply.drawnAt < LONG_MS ? Math.min(supply.size * 2, block.most) : block.least
  supply.drawnAt = now
  supply.ids.push(...(await fetch(Math.max(supply.size, count - supply.ids.length))))
}

/** The rows that the service gives ids to, and the sequence that each id comes from. */
const SEQUENCES = {
  customer: 'customer_id_seq',
  loan: 'loan_id_seq',
  entry: 'loan_entry_id_seq',
  payment: 'payment_id_seq',
} as const

const BLOCK = 500

/** Reserves ids of customers, loans, entries or payments; see `IdBlocks.reserve`. */
export function reserveIds({ db, idBlocks }: NumberedDb, of: keyof typeof SEQUENCES, count: number) {
  const fetch = (size: number) => fetchIds(db, SEQUENCES[of], size)
  return idBlocks.reserve({ name: of, block: { least: BLOCK, most: BLOCK }, fetch }, count)
}

async function fetchIds(db: Db, sequence: string, count: number): Promise<bigint[]> {
  const { rows } = await db.pool.query<{ id: bigint }>({
    name: `ids-${sequence}`,
    text: `SELECT nextval('${sequence}') AS id FROM generate_series(1, $1::int)`,
    values: [count],
  })
  return rows.map(({ id }) => id)
}

/** A client would have to take this many of the service's ids in a row before an insert fails. */
const MOST_DRAWS = 1_000

/**
 * Runs an insert for which the service draws an id. Its ids come from a band of their own, but a record system may have
 * taken one of them: then the next is drawn.
 * @param insert answers undefined where the id that it drew is taken
 */
export async function retryOnTakenId<T>(insert: () => Promise<T | undefined>): Promise<T> {
  for (let draw = 1; draw <= MOST_DRAWS; draw++) {
    const result = await insert()
    if (result !== undefined) return result
  }
  throw new Error(`each of ${MOST_DRAWS} ids in a row was taken by a client`)
}
