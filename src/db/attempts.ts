import pg from 'pg'
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible'
import type { Db } from './client.ts'

/** Counts failures by key, for every instance together, and says how long a key that had too many has to wait. */
export interface Attempts {
  /** Seconds to wait; 0 when the key may go on. */
  waitFor(key: string): Promise<number>
  fail(key: string): Promise<void>
}

/**
 * @param most failures of one key within the window
 * @param windowSeconds from the first failure
 */
export function countAttempts(db: Db, name: string, most: number, windowSeconds: number): Attempts {
  const limiter = new RateLimiterPostgres({
    // The library reads a bigint as text, and ours come as bigints: it gets the driver's own types.
    storeClient: { query: (config: pg.QueryConfig) => db.pool.query({ ...config, types: pg.types }) },
    storeType: 'pool',
    keyPrefix: name,
    tableName: 'rate_limit',
    tableCreated: true,
    points: most,
    duration: windowSeconds,
  })
  return {
    async waitFor(key) {
      const seen = await limiter.get(key)
      return seen !== null && seen.consumedPoints >= most ? Math.max(1, Math.ceil(seen.msBeforeNext / 1000)) : 0
    },
    async fail(key) {
      // Past the limit it rejects with the counter's state, which is no error here.
      await limiter.consume(key).catch((outcome: unknown) => {
        if (!(outcome instanceof RateLimiterRes)) throw outcome
      })
    },
  }
}
