import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { inject } from 'vitest'
import { CONNECT_PATIENTLY_MS, type DatabaseOptions, type Db, openDatabase } from '../../src/db/postgres/client.ts'

/** A database of one test file's own. */
export interface FreshDatabase {
  /** As the owner of its tables, a superuser: it may change what a service may not. */
  readonly url: string
  readonly db: Db
  /** As a service, with the rights that it has in the template. */
  readonly serviceUrl: string
  /** Closes `db` and removes the database, even while others are connected. */
  drop(): Promise<void>
}

/** The names of the databases of this process that were made and not dropped yet. */
export const openDatabases = new Set<string>()

/** Opens a database whose connections are waited for as those of a command are: how soon one comes is of the machine. */
export const openPatiently = (url: string, options: DatabaseOptions = {}): Db =>
  openDatabase(url, { connectWithin: CONNECT_PATIENTLY_MS, ...options })

/**
 * A new database, with the schema and what the template has: the demonstration data.
 * @param template `template0` for one without the schema
 */
export async function freshDatabase(template = inject('template')): Promise<FreshDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  const server = serverUrl()
  await asAdmin(server, (admin) => createDatabase(admin, name, template))
  openDatabases.add(name)
  const url = databaseUrl(server, name)
  const db = openPatiently(url)
  return {
    url,
    db,
    serviceUrl: asRole(url, inject('serviceRole')),
    drop: async () => {
      await db.close()
      await asAdmin(server, (admin) => admin.query(`DROP DATABASE ${name} WITH (FORCE)`))
      openDatabases.delete(name)
    },
  }
}

/** Returns the URL of the own database of this worker's server. */
const serverUrl = (): string => inject('serverUrls')[Number(process.env.VITEST_POOL_ID) - 1]!

/** `url`, at another database of the same server. */
export function databaseUrl(url: string, database: string): string {
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return changed.href
}

/** `url`, as another role. */
export const asRole = (url: string, { name, password }: { name: string; password: string }): string =>
  Object.assign(new URL(url), { username: name, password }).href

async function createDatabase(admin: pg.Client, name: string, template: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      // By a copy of the files: writing each page to the log of the server takes four times as long.
      await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`)
      return
    } catch (error) {
      // "is being accessed by other users": a session that has not quite left the template.
      if (attempt === 50 || !(error instanceof pg.DatabaseError && error.code === '55006')) throw error
      await sleep(100)
    }
  }
}

/** Runs `work` on a connection to the server's own database. */
export async function asAdmin<T>(url: string, work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client(url)
  await admin.connect()
  try {
    return await work(admin)
  } finally {
    await admin.end()
  }
}
