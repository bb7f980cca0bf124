import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'

const NAME = 'database-url'

/** The URLs of an embedded database. */
export interface EmbeddedUrls {
  /** By the role that owns the tables, a superuser. */
  readonly url: string
  /** By the service's role, which may not change the audit trail. */
  readonly serviceUrl: string
}

/**
 * Leaves the URLs of the running database in the directory, for those who may read the data anyway: the command line
 * reaches the same server there while the service runs.
 * @returns what takes them away again
 */
export async function leaveUrls(directory: string, { url, serviceUrl }: EmbeddedUrls): Promise<() => Promise<void>> {
  const path = join(directory, NAME)
  const aside = `${path}.${process.pid}`
  await writeFile(aside, `${url}\n${serviceUrl}\n`, { mode: 0o600 })
  await rename(aside, path)
  return () => rm(path, { force: true })
}

/**
 * The URLs that the service which holds the directory has left there, if it answers: one that an earlier run left behind
 * does not. A service of an earlier version leaves the owner's alone.
 */
export async function findLeftUrls(directory: string): Promise<EmbeddedUrls | undefined> {
  const text = await readFile(join(directory, NAME), 'utf8').catch(() => '')
  const [url = '', serviceUrl = url] = text.trim().split('\n')
  return url !== '' && (await answers(url)) ? { url, serviceUrl } : undefined
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
