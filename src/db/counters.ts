import type { Db } from './client.ts'

/** What is added to a counter, and when the counter is forgotten. */
export interface Addition {
  readonly key: string
  readonly points: number
  /** Milliseconds since 1970. */
  readonly expires: number
}

/** Most expired counters removed at a time. */
const PURGE = 5_000

/** In the order of the keys, so that two instances that add to the same ones never wait for each other in a circle. */
const ADD = `
  INSERT INTO rate_limit (key, points, expire)
  SELECT * FROM unnest($1::text[], $2::int[], $3::bigint[]) AS added (key, points, expire) ORDER BY key
  ON CONFLICT (key) DO UPDATE SET points = rate_limit.points + excluded.points
  RETURNING key, points`

/** Adds to counters that all instances share, in one statement, and says where each stands. */
export async function addToCounters(db: Db, additions: readonly Addition[]): Promise<Map<string, number>> {
  const { rows } = await db.pool.query<{ key: string; points: number }>({
    name: 'add-to-counters',
    text: ADD,
    values: [
      additions.map(({ key }) => key),
      additions.map(({ points }) => points),
      additions.map(({ expires }) => expires),
    ],
  })
  return new Map(rows.map(({ key, points }) => [key, points]))
}

/** Removes counters whose time is over: those of requests, and those of failed sign-ins. */
export async function purgeCounters(db: Db, now: number): Promise<void> {
  await db.pool.query({
    name: 'purge-counters',
    text: `DELETE FROM rate_limit WHERE key IN (SELECT key FROM rate_limit WHERE expire < $1 LIMIT ${PURGE})`,
    values: [now],
  })
}
