import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'

const NAME = 'database-url'

/**
 * Leaves the URL of the running database in the directory, for whoever may read the data anyway: the command line
 * reaches the same server there while the service runs.
 * @returns what takes it away again
 */
export async function leaveUrl(directory: string, url: string): Promise<() => Promise<void>> {
  const path = join(directory, NAME)
  const aside = `${path}.${process.pid}`
  await writeFile(aside, `${url}\n`, { mode: 0o600 })
  await rename(aside, path)
  return () => rm(path, { force: true })
}

/**
 * The URL that the service which holds the directory has left there, if it answers: one that an earlier run left behind
 * does not.
 */
export async function findLeftUrl(directory: string): Promise<string | undefined> {
  const url = await readFile(join(directory, NAME), 'utf8').catch(() => '')
  return url !== '' && (await answers(url.trim())) ? url.trim() : undefined
}

async function answers(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 3_000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('SELECT 1')
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}
