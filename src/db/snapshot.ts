import type pg from 'pg'
import type { Db } from './client.ts'

/** The book as it is at one moment, whatever is changed meanwhile. */
export type Snapshot = Pick<pg.PoolClient, 'query'>

/**
 * Runs reads that all see the same moment. Nobody waits for them; the database keeps what is changed meanwhile until
 * they are done.
 */
export async function inSnapshot<T>(db: Pick<Db, 'pool'>, read: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  const client = await db.pool.connect()
  let broken: Error | undefined
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const result = await read(client)
    await client.query('COMMIT')
    return result
  } catch (error) {
    // A read that was given up in the middle leaves the connection in an unknown state: it is not given back.
    broken = error instanceof Error ? error : new Error(String(error))
    throw error
  } finally {
    client.release(broken)
  }
}
