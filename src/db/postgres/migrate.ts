import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'

const migrations = fileURLToPath(new URL('../../../prisma/migrations', import.meta.url))

/** The number that Prisma's own `migrate` locks, so that the two never migrate at once either. */
export const MIGRATION_LOCK = 72707369

/** A migration may rewrite a large table: an hour, where any other statement has half a minute. */
const patience = 3_600_000

// Prisma's own layout, so that `prisma migrate status` and `deploy` agree with us.
const bookkeeping = `
  CREATE TABLE _prisma_migrations (
    id                  varchar(36) PRIMARY KEY,
    checksum            varchar(64) NOT NULL,
    finished_at         timestamptz,
    migration_name      varchar(255) NOT NULL,
    logs                text,
    rolled_back_at      timestamptz,
    started_at          timestamptz NOT NULL DEFAULT now(),
    applied_steps_count integer NOT NULL DEFAULT 0
  )`

interface Migration {
  readonly name: string
  readonly sql: string
  readonly checksum: string
}

interface Applied {
  readonly migration_name: string
  readonly checksum: string
  readonly finished: boolean
}

/**
 * Brings the database to this program's schema: applies what prisma/migrations has and the database has not, in the
 * order of the names, each in a transaction of its own together with its record.
 *
 * Instances that start at once take turns. The lock is the transaction's, not the session's: it ends with it however
 * that ends, and holds behind a pooler that gives every transaction another session.
 * @returns the names of those applied by this call
 * @throws Error when an applied migration was changed, when the database has one that this program does not know, or
 *   naming the one that failed, which then has left nothing behind
 */
export async function migrate(
  pool: pg.Pool,
  log?: { info(message: string): void },
  folder: string = migrations,
): Promise<string[]> {
  const known = await readMigrations(folder)
  const applied: string[] = []
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    for (;;) {
      const name = await applyNext(client, known)
      if (name === undefined) return applied
      applied.push(name)
      log?.info(`applied migration ${name}`)
    }
  } catch (error) {
    // A session in an unknown state is not given back to the pool.
    broken = error instanceof Error ? error : new Error(String(error))
    throw error
  } finally {
    client.release(broken)
  }
}

/**
 * For a program that changes the book and not its schema.
 * @throws Error when the database has not all of this program's migrations, or others
 */
export async function requireMigrated(pool: pg.Pool, folder: string = migrations): Promise<void> {
  const known = await readMigrations(folder)
  const { rows } = await pool.query(`SELECT to_regclass('_prisma_migrations') IS NOT NULL AS exists`)
  const next = findNext(known, rows[0].exists ? await readApplied(pool) : [])
  if (next)
    throw new Error(`the database has not got migration ${next.name}: start the service on it, or run mkopo migrate`)
}

/** One transaction: the first migration that is missing, or undefined when there is none. */
async function applyNext(client: pg.PoolClient, known: readonly Migration[]): Promise<string | undefined> {
  const run = (text: string, values?: unknown[]) =>
    client.query({ text, values, query_timeout: patience } as pg.QueryConfig)
  await run('BEGIN')
  try {
    await run('SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0')
    await run('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
    const { rows } = await run(`SELECT to_regclass('_prisma_migrations') IS NOT NULL AS exists`)
    if (!rows[0].exists) await run(bookkeeping)
    const next = findNext(known, await readApplied(client))
    if (next) {
      const started = new Date()
      await run(next.sql).catch((error: Error) => {
        throw new Error(`migration ${next.name} failed: ${error.message}`, { cause: error })
      })
      await run(
        `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
         VALUES ($1, $2, $3, $4, clock_timestamp(), 1)`,
        [randomUUID(), next.checksum, next.name, started.toISOString()],
      )
    }
    await run('COMMIT')
    return next?.name
  } catch (error) {
    // When this fails too, the connection is gone, and the transaction with it.
    await run('ROLLBACK').catch(() => undefined)
    throw isForbidden(error) ? mayNot(error) : error
  }
}

/** Postgres's code for a role that may not do what it asks for (insufficient_privilege). */
const FORBIDDEN = '42501'

function isForbidden(error: unknown): error is Error {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } }
  return code === FORBIDDEN || cause?.code === FORBIDDEN
}

const mayNot = (error: Error) =>
  new Error(
    `${error.message}: migrations are for the role that owns the tables; set DATABASE_OWNER_URL to its URL, or run mkopo migrate with that`,
    { cause: error },
  )

/** The records that count. One rolled back by hand counts as never applied. */
async function readApplied(client: pg.PoolClient | pg.Pool): Promise<Applied[]> {
  const applied = await client.query<Applied>(
    `SELECT migration_name, checksum, finished_at IS NOT NULL AS finished
     FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY migration_name`,
  )
  return applied.rows
}

/** The names of the migrations before the baseline: they began with a date and a time. */
const BEFORE_BASELINE = /^202611\d{8}_/

function findNext(known: readonly Migration[], applied: readonly Applied[]): Migration | undefined {
  for (const record of applied) {
    const migration = known.find(({ name }) => name === record.migration_name)
    if (!migration && BEFORE_BASELINE.test(record.migration_name))
      throw new Error(
        'the database was made by a version before the first release, and cannot be carried over: start with an empty database, or with another DATA_DIR',
      )
    if (!migration)
      throw new Error(
        `the database has migration ${record.migration_name}, which this program does not know: the database is newer than this program`,
      )
    if (!record.finished)
      throw new Error(`migration ${migration.name} was begun elsewhere and never finished; see prisma migrate resolve`)
    if (migration.checksum !== record.checksum)
      throw new Error(
        `migration ${migration.name} was changed after it was applied: restore the file, and make a new migration of the change`,
      )
  }
  return known.find(({ name }) => !applied.some((record) => record.migration_name === name))
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  return Promise.all(
    names.sort().map(async (name) => {
      const bytes = await readFile(join(folder, name, 'migration.sql'))
      return { name, sql: bytes.toString('utf8'), checksum: createHash('sha256').update(bytes).digest('hex') }
    }),
  )
}
