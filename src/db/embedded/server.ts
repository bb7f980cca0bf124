import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type DataDirectory, type EmbeddedLog, surroundings } from './dataDirectory.ts'

/** A Postgres process that accepts connections. */
export interface Running {
  readonly port: number
  stop(): Promise<void>
}

/** Connections that the server takes at once, from all programs. */
export const EMBEDDED_CONNECTIONS = 200

/** Failures that another start may cure: the port was taken, or the processes of a killed Postgres are still ending. */
const passing = /Address already in use|pre-existing shared memory block/
const startWithin = 120_000
const run = promisify(execFile)

/** Starts `postgres` on `data` and waits until it accepts connections. */
export async function launch(place: DataDirectory, data: string, durable: boolean, log: EmbeddedLog): Promise<Running> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(place, data, durable, log)
    } catch (error) {
      if (attempt === 10 || !(error instanceof Error && passing.test(error.message))) throw error
      await sleep(500)
    }
  }
}

async function start(place: DataDirectory, data: string, durable: boolean, log: EmbeddedLog): Promise<Running> {
  const port = await freePort()
  const settings = ['listen_addresses=127.0.0.1', `port=${port}`, 'unix_socket_directories=']
  settings.push(`max_connections=${EMBEDDED_CONNECTIONS}`)
  settings.push('timezone=UTC', 'log_timezone=UTC', 'logging_collector=off', 'log_destination=stderr')
  if (!durable) settings.push('fsync=off', 'synchronous_commit=off', 'full_page_writes=off')
  // Detached: Ctrl-C in a terminal goes to the whole process group, and the database has to outlive the service's
  // last requests.
  const child = spawn(join(place.bin, 'postgres'), ['-D', data, ...settings.flatMap((setting) => ['-c', setting])], {
    ...surroundings(place.user),
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const signal = () => child.kill('SIGINT')
  process.once('exit', signal)
  const guard = endWithUs(child, place)
  const closed = new Promise<void>((resolve) => {
    child.once('close', resolve)
    child.once('error', () => resolve())
  })
  void closed.then(() => {
    process.off('exit', signal)
    guard?.kill('SIGKILL')
  })
  const stop = async () => {
    // Fast, then immediate (recovered from at the next start), then without asking.
    for (const [how, wait] of [
      ['SIGINT', 15_000],
      ['SIGQUIT', 5_000],
      ['SIGKILL', 5_000],
    ] as const) {
      child.kill(how)
      if (await within(wait, closed)) return
    }
  }
  try {
    await accepting(child, log)
  } catch (error) {
    await stop()
    throw error
  }
  let stopping = false
  void closed.then(() => stopping || log.warn('the embedded Postgres ended; start mkopo again'))
  return {
    port,
    stop: () => {
      stopping = true
      return stop()
    },
  }
}

/** Resolves when Postgres says that it is ready; rejects with its last lines when it ends or takes too long. */
function accepting(child: ChildProcess, log: EmbeddedLog): Promise<void> {
  const last: string[] = []
  return new Promise((resolve, reject) => {
    const fail = (what: string) => {
      clearTimeout(timer)
      reject(new Error([`Postgres ${what}`, ...last].join('\n')))
    }
    const timer = setTimeout(() => fail(`was not ready within ${startWithin / 1000} s`), startWithin)
    // Read to the end of its life: a full pipe would stop the database.
    createInterface({ input: child.stderr! }).on('line', (line) => {
      log.debug(line)
      last.push(line)
      if (last.length > 20) last.shift()
      // A standby, which an operator may have made of it, accepts read-only ones.
      if (!/database system is ready to accept (read-only )?connections/.test(line)) return
      clearTimeout(timer)
      resolve()
    })
    child.once('error', (error) => fail(`did not start: ${error.message}`))
    child.once('close', (code, signal) => fail(`did not start (${signal ?? `exit code ${code}`})`))
  })
}

/**
 * A shell that waits for the end of a pipe which only this process holds, and then ends Postgres: the one notice that
 * also comes when this process is killed without warning. Where there is no shell, the next start clears up.
 */
function endWithUs(child: ChildProcess, place: DataDirectory): ChildProcess | undefined {
  if (child.pid === undefined) return undefined
  const guard = spawn('/bin/sh', ['-c', 'read -r _; kill -INT "$0"', String(child.pid)], {
    ...surroundings(place.user),
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  guard.on('error', () => undefined)
  guard.unref()
  return guard
}

/**
 * Ends the Postgres that a killed process left running on `data`. The caller holds the directory, so no living mkopo
 * uses it.
 * @throws Error when it does not end
 */
export async function stopLeftOver(data: string, log: EmbeddedLog): Promise<void> {
  const file = join(data, 'postmaster.pid')
  const text = await readFile(file, 'utf8').catch(() => '')
  const pid = Number(text.split('\n')[0])
  if (!Number.isSafeInteger(pid) || pid <= 1) return
  if (!(await isPostgresOn(data, pid))) {
    // The number may belong to some other process by now, and Postgres would take that for its predecessor. Its own
    // parent's number, ours, it disregards, and continues with the check that matters: whether any process still has the
    // old shared memory. Removing the file would skip that check.
    await writeFile(file, text.replace(/^\d+/, String(process.pid)))
    return
  }
  log.warn(`stopping the Postgres (pid ${pid}) that an earlier run left behind`)
  for (const [how, wait] of [
    ['SIGINT', 15_000],
    ['SIGQUIT', 10_000],
  ] as const) {
    kill(pid, how)
    for (const end = performance.now() + wait; performance.now() < end; await sleep(50))
      if (!(await isPostgresOn(data, pid))) return
  }
  throw new Error(`a Postgres left behind by an earlier run (pid ${pid}) uses ${data} and does not stop; end it`)
}

/** Whether `pid` is a living `postgres -D data`. A dead one that nobody has collected yet has no command line. */
async function isPostgresOn(data: string, pid: number): Promise<boolean> {
  const onLinux = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => undefined)
  if (onLinux !== undefined) return onLinux.split('\0')[0]!.endsWith('postgres') && onLinux.split('\0').includes(data)
  if (process.platform === 'linux') return false
  const listed = await run('ps', ['-o', 'args=', '-p', String(pid)]).catch(() => ({ stdout: '' }))
  return listed.stdout.includes(`postgres -D ${data} `)
}

function kill(pid: number, how: NodeJS.Signals) {
  try {
    process.kill(pid, how)
  } catch {
    // Gone already, which is what was wanted.
  }
}

const within = (milliseconds: number, event: Promise<void>): Promise<boolean> =>
  Promise.race([event.then(() => true), sleep(milliseconds, false, { ref: false })])

/** Returns a port that is free now; if another program takes it before Postgres does, the start is tried again. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() =>
        typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port')),
      )
    })
  })
}
