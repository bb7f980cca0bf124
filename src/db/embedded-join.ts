import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

const NAME = 'database-url'

/** How long a service that holds the directory may take to say where its database is. */
const PATIENCE_MS = 20_000

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
 * The URL that the service which holds the directory has left there, tried. One that an earlier run left behind does
 * not answer, and is waited out until the new one stands.
 * @throws Error when none answers in time
 */
export async function findLeftUrl(directory: string, patience = PATIENCE_MS): Promise<string> {
  for (const end = performance.now() + patience; ; await pause(200)) {
    const url = await readFile(join(directory, NAME), 'utf8').catch(() => '')
    if (url !== '' && (await answers(url.trim()))) return url.trim()
    if (performance.now() > end)
      throw new Error(`another mkopo is using ${directory}, and its database does not answer; try again in a while`)
  }
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
