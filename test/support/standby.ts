import { execFile } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { type EmbeddedServer, startEmbedded } from '../../src/db/embedded/embedded.ts'

const run = promisify(execFile)
const log = { debug: () => undefined, info: () => undefined, warn: () => undefined }

/** A server with a directory of its own, which goes with it. */
export interface Node {
  /** By the role that owns the tables, a superuser. */
  readonly url: string
  /** By the service's role. */
  readonly serviceUrl: string
  readonly directory: string
  /** Ends it as a power cut does, and starts it again on its data. @returns the server, at another port */
  crash(): Promise<Node>
  /** Ends it as a power cut does, and removes its data. */
  destroy(): Promise<void>
}

/** Runs statements on a server, each in a transaction of its own. */
export async function ask(url: string, ...texts: (string | pg.QueryConfig)[]): Promise<pg.QueryResult> {
  const client = new pg.Client(url)
  client.on('error', () => undefined)
  await client.connect()
  try {
    let result: pg.QueryResult | undefined
    for (const text of texts) result = await client.query(text)
    return result!
  } finally {
    await client.end()
  }
}

export async function startPrimary(): Promise<Node> {
  const directory = await freshDirectory()
  return nodeOf(await startEmbedded({ directory, log }), directory)
}

/**
 * A synchronous standby of a primary: what that acknowledges from now on is on the standby's disk. It is made from a
 * copy of the running primary (PostgreSQL, 25.3.2), as the embedded programs include no pg_basebackup.
 */
export async function startStandby(primary: Node): Promise<Node> {
  const directory = await freshDirectory()
  const [from, to] = [primary, { directory }].map((node) => join(node.directory, 'postgres'))
  const backup = new pg.Client(primary.url)
  await backup.connect()
  await backup.query(`SELECT pg_backup_start('standby', true)`)
  await mkdir(to!, { mode: 0o755 })
  // Files may vanish and change while they are copied: the log of the primary mends that.
  await run('cp', ['-a', `${from}/.`, to!]).catch((error: { code?: unknown }) => {
    if (error.code !== 1) throw error
  })
  const { rows } = await backup.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)')
  await backup.end()
  const data = join(to!, 'data')
  for (const name of ['postmaster.pid', 'postmaster.opts', 'pg_wal'])
    await rm(join(data, name), { recursive: true, force: true })
  await makeStandby(data, primary.url, rows[0]!.labelfile)
  const node = nodeOf(await startEmbedded({ directory, log }), directory)
  await ask(primary.url, `ALTER SYSTEM SET synchronous_standby_names = '*'`, 'SELECT pg_reload_conf()')
  const isSynchronous = `SELECT count(*)::int AS n FROM pg_stat_replication WHERE sync_state = 'sync'`
  while ((await ask(primary.url, isSynchronous)).rows[0].n === 0)
    await new Promise((resolve) => setTimeout(resolve, 50))
  return node
}

async function makeStandby(data: string, primaryUrl: string, label: string): Promise<void> {
  const { uid, gid } = await stat(data)
  const own = async (name: string, text: string, flag: 'w' | 'a' = 'w') => {
    await writeFile(join(data, name), text, { flag, mode: 0o600 })
    await chown(join(data, name), uid, gid)
  }
  await mkdir(join(data, 'pg_wal'), { mode: 0o700 })
  await chown(join(data, 'pg_wal'), uid, gid)
  await own('backup_label', label)
  await own('standby.signal', '')
  await own('postgresql.auto.conf', `primary_conninfo = '${primaryUrl}'\n`, 'a')
}

/** Ends a server where it stands: it finishes nothing, and is recovered at its next start. */
async function cutPower(directory: string): Promise<void> {
  const text = await readFile(join(directory, 'postgres', 'data', 'postmaster.pid'), 'utf8')
  process.kill(Number(text.split('\n')[0]), 'SIGQUIT')
}

async function freshDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'mkopo-node-'))
  await chmod(directory, 0o755)
  return directory
}

function nodeOf(server: EmbeddedServer, directory: string): Node {
  return {
    url: server.url,
    serviceUrl: server.serviceUrl,
    directory,
    crash: async () => {
      await cutPower(directory)
      await server.stop()
      return nodeOf(await startEmbedded({ directory, log }), directory)
    },
    destroy: async () => {
      await cutPower(directory)
      await server.stop()
      await rm(directory, { recursive: true, force: true, maxRetries: 20 })
    },
  }
}
