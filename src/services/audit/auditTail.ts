import { setTimeout as pause } from 'node:timers/promises'
import type { Deps } from '../../app/deps.ts'
import { latestTrail, listTrailKeys, readTrailRows, type TrailFilter, type TrailRow } from '../../db/audit/auditTail.ts'

export type { TrailFilter, TrailRow } from '../../db/audit/auditTail.ts'

/** Rows get their numbers before they are committed: one may appear below another that was seen already. */
const LOOK_BACK = 20_000n
const EVERY_MS = 500
/** Rounds, two minutes of them, after which nothing appears below a number: no change takes that long. */
const SETTLED_AFTER = 240
/** Numbers read at once: those looked back at, and new ones besides. */
const MOST_AT_ONCE = 50_000
const ROWS_AT_ONCE = 1_000

/** The latest rows of the trail, oldest first, of every organization unless told otherwise. For operators. */
export const readTrail = ({ db }: Pick<Deps, 'db'>, filter: TrailFilter, most: number): Promise<TrailRow[]> =>
  latestTrail(db, filter, most)

/**
 * The latest rows, and then each as it is written, once, until the signal fires. Where nothing is written, looking costs
 * two statements that answer next to nothing: rows are looked for by their numbers, and read when they are new.
 */
export async function* followTrail(
  { db }: Pick<Deps, 'db'>,
  filter: TrailFilter,
  most: number,
  stopping: AbortSignal,
  everyMs = EVERY_MS,
): AsyncGenerator<TrailRow> {
  // Whatever the filter, what is followed are the trail's own numbers: they go on where no row is let through.
  const newest = async () => (await latestTrail(db, {}, 1))[0]?.id ?? 0n
  const keysAbove = (above: bigint) => listTrailKeys(db, { ...filter, above }, MOST_AT_ONCE)
  let highest = await newest()
  const seen = new Set((await keysAbove(highest - LOOK_BACK)).map(({ id }) => id))
  const latest = await latestTrail(db, filter, most)
  // What was written between the two reads is among the latest, and not to be told again.
  for (const { id } of latest) seen.add(id)
  yield* latest
  const before: bigint[] = []
  while (!stopping.aborted) {
    await pause(everyMs, undefined, { signal: stopping }).catch(() => undefined)
    const number = await newest()
    before.push(highest)
    const settled = before.length > SETTLED_AFTER ? before.shift()! : 0n
    const above = settled > highest - LOOK_BACK ? settled : highest - LOOK_BACK
    const keys = await keysAbove(above)
    const fresh = keys.filter(({ id }) => !seen.has(id))
    for (let from = 0; from < fresh.length; from += ROWS_AT_ONCE)
      yield* await readTrailRows(db, fresh.slice(from, from + ROWS_AT_ONCE))
    for (const { id } of fresh) seen.add(id)
    for (const id of seen) if (id <= above) seen.delete(id)
    highest = keys.length < MOST_AT_ONCE ? number : keys.at(-1)!.id
  }
}
