import pg from 'pg'
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible'
import type { Db } from '../postgres/client.ts'

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
    // The library reads a bigint as text, and ours come as bigints: it gets the driver's own types. Its timer keeps this
    // function for the life of the process, so the function refers to the pool alone.
    storeClient: { query: (config: pg.QueryConfig) => pool.query({ ...config, types: pg.types }) },
    storeType: 'pool',
    keyPrefix: name,
    tableName: 'rate_limit',
    tableCreated: true,
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
