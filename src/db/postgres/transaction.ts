import { createHash } from 'node:crypto'
import type pg from 'pg'
import type { Stamping } from '../audit/stamp.ts'
import type { Sealing } from '../customers/personBox.ts'
import type { Db } from './client.ts'

/** One connection with a transaction open on it. */
export type Transaction = Pick<pg.PoolClient, 'query'> & Stamping & Sealing

/**
 * Runs `work` in a transaction, which is rolled back where it throws, or answers undefined: nothing is to be saved.
 * @throws what `work` throws
 */
export async function inTransaction<T extends NonNullable<unknown> | undefined>(
  db: Pick<Db, 'pool'>,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const client = (await db.pool.connect()) as pg.PoolClient & Stamping & Sealing
  let broken = false
  try {
    await client.query('BEGIN')
    const result = await work(client)
    await client.query(result === undefined ? 'ROLLBACK' : 'COMMIT')
    return result
  } catch (error) {
    // A connection that cannot be rolled back is of no use to its next user: it is not given back.
    await client.query('ROLLBACK').catch(() => (broken = true))
    throw error
  } finally {
    client.release(broken)
  }
}

/** The book as it is at one moment, whatever is changed meanwhile. */
export type Snapshot = Transaction

/** Milliseconds that one statement about a whole book may take. */
export const OF_A_WHOLE_BOOK_MS = 3_600_000

/** Milliseconds that one statement about a whole portfolio may take. */
export const OF_A_PORTFOLIO_MS = 120_000

/** The server says first that a statement took too long; this much later the connection is taken for dead. */
const SAID_WITHIN_MS = 2_000

/**
 * Returns a snapshot each of whose statements may take longer than those of requests, for the server and for the client. By a
 * `query_timeout`, which the client's watch of silent connections leaves alone: answers of many megabytes are still read when the server has
 * nothing more to do.
 */
async function patiently(client: Snapshot, mostMs: number): Promise<Snapshot> {
  await client.query(`SET LOCAL statement_timeout = ${mostMs}`)
  const query = (asked: string | pg.QueryConfig, values?: unknown[]) =>
    client.query({
      ...(typeof asked === 'string' ? { text: asked } : asked),
      ...(values && { values }),
      query_timeout: mostMs + SAID_WITHIN_MS,
    } as pg.QueryConfig)
  return Object.assign(Object.create(client) as Snapshot, { query })
}

/**
 * Runs reads that all see the same moment. Nobody waits for them; the database keeps what is changed meanwhile until
 * they are done.
 * @param options.mostMs milliseconds that each of its statements may take; as for a request when left out
 */
export async function inSnapshot<T>(
  db: Pick<Db, 'pool'>,
  read: (snapshot: Snapshot) => Promise<T>,
  { mostMs }: { readonly mostMs?: number } = {},
): Promise<T> {
  const client = (await db.pool.connect()) as pg.PoolClient & Stamping & Sealing
  let broken: Error | undefined
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const result = await read(mostMs === undefined ? client : await patiently(client, mostMs))
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

/** Returns the first number of a lock by its name; the second is the organization. */
const numberOf = (name: string): number => createHash('sha256').update(`mkopo ${name}`).digest().readInt32BE()

/**
 * Returns whether nobody else, on any instance, does the named work for an organization, until the end of the transaction.
 */
export async function isAlone(transaction: Transaction, name: string, organizationId: number): Promise<boolean> {
  const { rows } = await transaction.query<{ alone: boolean }>('SELECT pg_try_advisory_xact_lock($1, $2) AS alone', [
    numberOf(name),
    organizationId,
  ])
  return rows[0]!.alone
}

/**
 * Runs work of an organization while nobody else, on any instance, does the work of the same name.
 * @returns undefined where somebody else does it
 */
export const aloneFor = <T extends NonNullable<unknown>>(
  db: Pick<Db, 'pool'>,
  { name, organizationId }: { readonly name: string; readonly organizationId: number },
  work: () => Promise<T>,
): Promise<T | undefined> =>
  inTransaction(db, async (transaction) => {
    // The transaction stands idle while the work has connections of its own.
    await transaction.query('SET LOCAL idle_in_transaction_session_timeout = 0')
    return (await isAlone(transaction, name, organizationId)) ? work() : undefined
  })
