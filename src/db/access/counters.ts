import type { Db } from '../postgres/client.ts'
import { statement } from '../queries/statement.ts'

/** The points that are added to a counter, and the time at which the counter is forgotten. */
export interface Addition {
  readonly key: string
  readonly points: number
  /** Milliseconds since 1970. */
  readonly expires: number
}

/** Most expired counters removed by one statement. */
export const PURGE = 5_000

/** In the order of the keys, so that two instances that add to the same ones never wait for each other in a circle. */
const add = statement<{ keys: string[]; points: number[]; expires: number[] }>(
  'add-to-counters',
  (p) => `
  INSERT INTO rate_limit (key, points, expire)
  SELECT * FROM unnest(${p('keys')}::text[], ${p('points')}::int[], ${p('expires')}::bigint[]) AS added (key, points, expire)
  ORDER BY key
  ON CONFLICT (key) DO UPDATE SET points = rate_limit.points + excluded.points
  RETURNING key, points`,
)

/** Adds to counters that all instances share, in one statement. @returns the points of each counter */
export async function addToCounters(db: Db, additions: readonly Addition[]): Promise<Map<string, number>> {
  const { rows } = await db.pool.query<{ key: string; points: number }>(
    add({
      keys: additions.map(({ key }) => key),
      points: additions.map(({ points }) => points),
      expires: additions.map(({ expires }) => expires),
    }),
  )
  return new Map(rows.map(({ key, points }) => [key, points]))
}

/**
 * Instances that remove at the same moment take other counters each, and none waits for another. An array, because a
 * joined subquery may be asked again for every row, and each time lets through as many as its limit.
 */
const REMOVE = `
  DELETE FROM rate_limit WHERE key = ANY (ARRAY(
    SELECT key FROM rate_limit WHERE expire < $1 LIMIT ${PURGE} FOR UPDATE SKIP LOCKED
  ))`

/**
 * Removes counters whose time is over, `PURGE` of them at most: those of requests, and those of failed sign-ins.
 * @returns how many they were
 */
export async function purgeCounters(db: Db, now: number): Promise<number> {
  const { rowCount } = await db.pool.query({ name: 'purge-counters', text: REMOVE, values: [now] })
  return rowCount ?? 0
}
