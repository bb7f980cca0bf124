import pg from 'pg'
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible'
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

/** Counts attempts by key, for all instances together, and holds each key to a number of them within a window. */
export interface Attempts {
  /**
   * Counts an attempt, before it is made: of several at once, no more than the limit lets through are made.
   * @returns 0 when it may be made; otherwise the seconds until the window ends
   */
  take(key: string): Promise<number>
  /** Takes back an attempt that does not count after all. */
  giveBack(key: string): Promise<void>
  /** Returns whether attempts of a key are counted in a window that has not ended. */
  has(key: string): Promise<boolean>
  /** Forgets the attempts of a key. @returns whether there were any */
  forget(key: string): Promise<boolean>
}

/**
 * @param most attempts of one key within the window
 * @param windowSeconds from the first attempt
 */
export function countAttempts({ pool }: Pick<Db, 'pool'>, name: string, most: number, windowSeconds: number): Attempts {
  const limiter = new RateLimiterPostgres({
    // The library reads a bigint as text, and ours come as bigints: it gets the driver's own types.
    storeClient: { query: (config: pg.QueryConfig) => pool.query({ ...config, types: pg.types }) },
    storeType: 'pool',
    keyPrefix: name,
    tableName: 'rate_limit',
    tableCreated: true,
    // The timer of the library would delete expired counters, too, and never end: purgeCounters deletes them.
    clearExpiredByTimeout: false,
    points: most,
    duration: windowSeconds,
  })
  return {
    async take(key) {
      try {
        await limiter.consume(key)
        return 0
      } catch (outcome) {
        // Past the limit it rejects with the counter's state, which is no error here.
        if (!(outcome instanceof RateLimiterRes)) throw outcome
        return Math.max(1, Math.ceil(outcome.msBeforeNext / 1000))
      }
    },
    async giveBack(key) {
      await limiter.reward(key)
    },
    has: async (key) => (await limiter.get(key)) !== null,
    forget: (key) => limiter.delete(key),
  }
}
