import { setTimeout as pause } from 'node:timers/promises'
import { latestTrail, type TrailFilter, type TrailRow } from '../db/auditTail.ts'
import type { Deps } from '../deps.ts'

export type { TrailFilter, TrailRow } from '../db/auditTail.ts'

/** Rows get their numbers before they are committed: one may appear below another that was seen already. */
const LOOK_BACK = 20_000n
const EVERY_MS = 500
const MOST_AT_ONCE = 10_000

/** The latest rows of the trail, oldest first, of every organization unless told otherwise. For operators. */
export const readTrail = ({ db }: Pick<Deps, 'db'>, filter: TrailFilter, most: number): Promise<TrailRow[]> =>
  latestTrail(db, filter, most)

/** The latest rows, and then each as it is written, until the signal fires. */
export async function* followTrail(
  { db }: Pick<Deps, 'db'>,
  filter: TrailFilter,
  most: number,
  stopping: AbortSignal,
): AsyncGenerator<TrailRow> {
  // Whatever the filter, following begins at the trail's own highest number.
  const [newest] = await latestTrail(db, {}, 1)
  let highest = newest?.id ?? 0n
  const before = await latestTrail(db, { ...filter, above: highest - LOOK_BACK }, Number(LOOK_BACK))
  const seen = new Set(before.map(({ id }) => id))
  yield* (before.length >= most ? before : await latestTrail(db, filter, most)).slice(-most)
  while (!stopping.aborted) {
    await pause(EVERY_MS, undefined, { signal: stopping }).catch(() => undefined)
    const above = highest > LOOK_BACK ? highest - LOOK_BACK : 0n
    const rows = await latestTrail(db, { ...filter, above }, MOST_AT_ONCE)
    for (const row of rows) {
      if (seen.has(row.id)) continue
      seen.add(row.id)
      if (row.id > highest) highest = row.id
      yield row
    }
    for (const id of seen) if (id < above) seen.delete(id)
  }
}
