import { setTimeout as pause } from 'node:timers/promises'
import type { Db } from './client.ts'

/** What the service gives ids to, and the sequence they come from. */
const SEQUENCES = { customer: 'customer_id_seq', loan: 'loan_id_seq', entry: 'loan_entry_id_seq' } as const

/** Ids taken from a sequence at once: a change of the book then knows its ids without asking. */
const BLOCK = 500

interface Supply {
  ids: bigint[]
  fetching: Promise<void> | undefined
}

const supplies = new WeakMap<Db, Map<string, Supply>>()

/**
 * Makes sure that `count` ids of a kind can be taken at once; what is not used by the end of the process is lost, as
 * ids of a sequence are.
 * @returns takes the next one; to be called `count` times at most, before anything is awaited
 */
export async function reserveIds(db: Db, kind: keyof typeof SEQUENCES, count: number): Promise<() => bigint> {
  const kinds = supplies.get(db) ?? new Map<string, Supply>()
  supplies.set(db, kinds)
  const supply: Supply = kinds.get(kind) ?? { ids: [], fetching: undefined }
  kinds.set(kind, supply)
  while (supply.ids.length < count) {
    supply.fetching ??= twiceWhereLate(() => fetchIds(db, SEQUENCES[kind], Math.max(BLOCK, count)))
      .then((ids) => {
        supply.ids.push(...ids)
      })
      .finally(() => {
        supply.fetching = undefined
      })
    await supply.fetching
  }
  const taken = supply.ids.splice(0, count)
  return () => taken.shift()!
}

/** Milliseconds after which ids are asked for once more, on another connection: everything waits for them. */
const LATE_MS = 300

/** The first answer of two, the second of which is asked for where the first is late; ids of the other are lost. */
async function twiceWhereLate(fetch: () => Promise<bigint[]>): Promise<bigint[]> {
  const first = fetch()
  const waited = new AbortController()
  const late = pause(LATE_MS, undefined, { signal: waited.signal })
  try {
    const inTime = await Promise.race([first, late])
    return inTime ?? (await Promise.any([first, fetch()]))
  } finally {
    waited.abort()
  }
}

async function fetchIds(db: Db, sequence: string, count: number): Promise<bigint[]> {
  const { rows } = await db.pool.query<{ id: bigint }>({
    name: `ids-${sequence}`,
    text: `SELECT nextval('${sequence}') AS id FROM generate_series(1, $1::int)`,
    values: [count],
  })
  return rows.map(({ id }) => id)
}
