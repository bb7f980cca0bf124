import type pg from 'pg'
import { opsOn } from './ops.ts'
import type { TestService } from './service.ts'

/** A book in which a test plants faults, and the copy from which it is mended. */
export interface WholeBook {
  readonly client: pg.PoolClient
  /** Makes the tables that a fault names what they were when they were copied. @param spoil the SQL of the fault */
  mend(spoil: string): Promise<void>
  /** Runs `book check`. @returns what differs, each as `of: message` */
  check(): Promise<{ readonly code: number; readonly found: string[] }>
}

/** Returns the tables that SQL names. A fault is planted past every trigger and foreign key: it changes no other. */
export const namedIn = (sql: string, tables: readonly string[]): string[] =>
  tables.filter((table) => new RegExp(`\\b${table}\\b`).test(sql))

/** Returns the SQL that makes tables what they were when they were copied. */
export const mending = (tables: readonly string[]): string =>
  tables
    .map((table) => `DELETE FROM ${table}; INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM whole.${table}`)
    .join('; ')

/**
 * Copies tables of a book, in the place of the copy before. A fault may then be planted in them past every foreign key, as the
 * server's owner may do.
 */
export async function copyBook(service: TestService, tables: readonly string[]): Promise<WholeBook> {
  const client = await service.owner.pool.connect()
  await client.query('SET session_replication_role = replica')
  await client.query('DROP SCHEMA IF EXISTS whole CASCADE; CREATE SCHEMA whole')
  for (const table of tables) await client.query(`CREATE TABLE whole.${table} AS TABLE ${table}`)
  return {
    client,
    async mend(spoil) {
      await client.query(mending(namedIn(spoil, tables)))
    },
    async check() {
      const { code, json } = await opsOn(service)('book check --json')
      const differences = json.differences as { of: string; message: string }[]
      return { code, found: differences.map(({ of, message }) => `${of}: ${message}`) }
    },
  }
}
