import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { migrate } from '../../../src/db/postgres/migrate.ts'
import { type FreshDatabase, freshDatabase } from '../../support/database.ts'

let fresh: FreshDatabase
let folder: string

beforeEach(async () => {
  fresh = await freshDatabase('template0')
  folder = await mkdtemp(join(tmpdir(), 'mkopo-migrations-'))
  await add('20300101000000_first', 'CREATE TABLE one (n integer); INSERT INTO one VALUES (1);')
  await add('20300102000000_second', 'CREATE TABLE two AS SELECT n FROM one;')
})
afterEach(async () => {
  await fresh.drop()
  await rm(folder, { recursive: true, force: true })
})

async function add(name: string, sql: string): Promise<void> {
  await mkdir(join(folder, name), { recursive: true })
  await writeFile(join(folder, name, 'migration.sql'), sql)
}

const run = () => migrate(fresh.db.pool, undefined, folder)
const column = async (sql: string) => (await fresh.db.pool.query({ text: sql, rowMode: 'array' })).rows.flat()
const tables = () => column(`SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`)

describe('migrate', () => {
  it('applies what is missing, in order, and says what it was', async () => {
    expect(await run()).toEqual(['20300101000000_first', '20300102000000_second'])
    expect(await column('SELECT n FROM two')).toEqual([1])
    expect(await run()).toEqual([])
    await add('20300103000000_third', 'CREATE TABLE three ();')
    expect(await run()).toEqual(['20300103000000_third'])
  })

  it("records it as Prisma does: checksum of the file's bytes, finished, one step", async () => {
    await run()
    const { rows } = await fresh.db.pool.query(
      `SELECT migration_name, checksum, applied_steps_count, finished_at >= started_at AS ordered, rolled_back_at, length(id) AS id
       FROM _prisma_migrations ORDER BY migration_name LIMIT 1`,
    )
    expect(rows).toEqual([
      {
        migration_name: '20300101000000_first',
        // sha256sum of the file
        checksum: '6a64c3f1a0ca44b42c8772eda4880384cb361b2540272dd5b62ba3b36217cc1f',
        applied_steps_count: 1,
        ordered: true,
        rolled_back_at: null,
        id: 36,
      },
    ])
  })

  it('applies each once when several instances start together', async () => {
    const applied = await Promise.all([run(), run(), run(), run()])
    expect(applied.flat().sort()).toEqual(['20300101000000_first', '20300102000000_second'])
    expect(await column('SELECT n FROM one')).toEqual([1])
    expect(await column('SELECT count(*) FROM _prisma_migrations')).toEqual([2n])
  })

  it('refuses when an applied file was changed, naming it', async () => {
    await run()
    await add('20300101000000_first', 'CREATE TABLE one (n bigint);')
    await expect(run()).rejects.toThrow('migration 20300101000000_first was changed after it was applied')
  })

  it('refuses a database that is newer than the program', async () => {
    await run()
    await rm(join(folder, '20300102000000_second'), { recursive: true })
    await expect(run()).rejects.toThrow(
      'the database has migration 20300102000000_second, which this program does not know: the database is newer than this program',
    )
  })

  it('refuses what another tool began and did not finish; applies again what was rolled back by hand', async () => {
    await run()
    await fresh.db.pool.query(
      `UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = '20300102000000_second'`,
    )
    await expect(run()).rejects.toThrow('20300102000000_second was begun elsewhere and never finished')
    await fresh.db.pool.query(
      `DROP TABLE two; UPDATE _prisma_migrations SET rolled_back_at = now() WHERE finished_at IS NULL`,
    )
    expect(await run()).toEqual(['20300102000000_second'])
  })

  it('leaves nothing of a migration that fails, and the next run applies it', async () => {
    await add('20300102000000_second', 'CREATE TABLE two (); SELECT no_such_column;')
    await expect(run()).rejects.toThrow(
      'migration 20300102000000_second failed: column "no_such_column" does not exist',
    )
    expect(await tables()).toEqual(['_prisma_migrations', 'one'])
    await add('20300102000000_second', 'CREATE TABLE two ();')
    expect(await run()).toEqual(['20300102000000_second'])
  })

  it('refuses a database from before the baseline, in one line', async () => {
    await run()
    await fresh.db.pool.query(
      `UPDATE _prisma_migrations SET migration_name = '20261121090000_book' WHERE migration_name LIKE '%first'`,
    )
    await expect(run()).rejects.toThrow(
      /^the database was made by a version before the first release, and cannot be carried over: start with an empty database, or with another DATA_DIR$/,
    )
  })

  it("finds the service's own migrations by itself", async () => {
    const own = new URL('../../../prisma/migrations/', import.meta.url)
    const names = (await readdir(own, { withFileTypes: true })).filter((entry) => entry.isDirectory())
    expect(await migrate(fresh.db.pool)).toEqual(names.map(({ name }) => name).sort())
    expect(await tables()).toContain('loan_entry')
  })
})
