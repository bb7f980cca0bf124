import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readConfig } from '../src/app/config.ts'
import { openService } from '../src/app/service.ts'
import { startEmbedded } from '../src/db/embedded/embedded.ts'
import { openDatabase } from '../src/db/postgres/client.ts'
import { DEMO_PARTNER } from '../src/services/organizations/seedDemo.ts'
import type { Caller } from './byHand.ts'
import type { DriverDuties } from './driver.ts'
import { fillBook } from './fillBook.ts'
import type { FloorDuties } from './floor.ts'
import type { LoadDuties } from './load.ts'
import type { Options } from './options.ts'
import { type Peer, startPeer } from './peer.ts'
import { parentOf } from './processes.ts'
import type { Book, Credentials } from './scenarios.ts'

/** A service of ours under measurement. */
export interface Service {
  readonly pid: number
  readonly port: number
  /** Ends it as an operator would. @returns its exit code, or the signal that ended it */
  stop(): Promise<number | string>
}

/** Everything that a run measures and measures with. */
export interface Stack {
  readonly databaseUrl: string
  readonly postgresPid: number
  /** What Postgres says of its durability. */
  readonly durability: string
  readonly book: Book
  /** When the book was full. */
  readonly filledAt: Date
  readonly service: Service
  readonly versus: Service | undefined
  readonly floor: Peer<FloorDuties>
  readonly floorPort: number
  readonly driver: Peer<DriverDuties>
  readonly load: Peer<LoadDuties>
  readonly credentials: Credentials
  readonly caller: Caller
  /** Where the service and the floor leave their CPU profiles when they end, if they were asked for them. */
  readonly directory: string
}

export const SECRET = 'a secret of the benchmark'
const START_WITHIN_MS = 60_000

/**
 * Starts it all: Postgres with durable commits in a directory of its own, the book, the service as production runs it,
 * the floor, the driver and the load generator.
 * @param closing gets what ends each part, to be called in the reverse order, also where the start went wrong
 */
export async function startStack(
  options: Options,
  closing: (() => unknown)[],
  say: (text: string) => void,
): Promise<Stack> {
  const directory = await mkdtemp(join(tmpdir(), 'mkopo-bench-'))
  closing.push(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }))
  // As root, Postgres runs as another user, who has to get in.
  await chmod(directory, 0o755)
  const quiet = { debug: () => undefined, info: () => undefined, warn: say }
  const server = await startEmbedded({ directory: join(directory, 'data'), durable: true, log: quiet })
  closing.push(() => server.stop())
  const databaseUrl = server.url

  const started = performance.now()
  const config = readConfig({ DATABASE_URL: databaseUrl, KEY_ENCRYPTION_SECRET: SECRET, SEED_DEMO: 'true' })
  const laid = await openService({ config, databaseUrl, now: Date.now })
  await laid.db.close()
  const db = openDatabase(databaseUrl)
  const { rows: accounts } = await db.pool.query<Caller>(
    'SELECT organization_id AS org, id AS account FROM account WHERE email = $1',
    [DEMO_PARTNER.email],
  )
  const caller = accounts[0]!
  const book = await fillBook(db.pool, options, config.zone, caller.org)
  const filledAt = new Date()
  const { rows } = await db.pool.query<{ pid: number; durability: string; size: string; entries: bigint }>(
    `SELECT pg_backend_pid() AS pid, pg_size_pretty(pg_database_size(current_database())) AS size,
       (SELECT count(*) FROM loan_entry) AS entries,
       (SELECT string_agg(name || '=' || setting, ', ' ORDER BY name) FROM pg_settings
        WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes', 'wal_sync_method')) AS durability`,
  )
  const { pid, durability, size, entries } = rows[0]!
  const postgresPid = parentOf(pid)
  await db.close()
  if (!/fsync=on.*synchronous_commit=on/.test(durability)) throw new Error(`commits are not durable: ${durability}`)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  say(`book: ${book.loans} loans, ${entries} transactions, ${size}, made in ${seconds} s; ${durability}`)

  const profiling = options.profile ? ['--cpu-prof', `--cpu-prof-dir=${directory}`] : []
  const service = await startService('.', databaseUrl, options, profiling)
  closing.push(() => service.stop())
  const versus = options.versus === undefined ? undefined : await startService(options.versus, databaseUrl, options)
  if (versus) closing.push(() => versus.stop())
  const floor = startPeer<FloorDuties>('floor.ts', profiling)
  const driver = startPeer<DriverDuties>('driver.ts')
  const load = startPeer<LoadDuties>('load.ts')
  closing.push(() => Promise.all([floor, driver, load].map((peer) => peer.end())))
  const floorPort = await floor.ask('start', { databaseUrl })

  const basic = Buffer.from(`${DEMO_PARTNER.email}:${DEMO_PARTNER.password}`).toString('base64')
  const asked = { kind: 'token' } as const
  const signedIn = await load.ask('probe', { port: service.port, ask: asked, credentials: { token: '', basic }, book })
  const { token } = JSON.parse(signedIn.body) as { token: string }
  const credentials = { token, basic }
  return {
    databaseUrl,
    postgresPid,
    durability,
    book,
    filledAt,
    service,
    versus,
    floor,
    floorPort,
    driver,
    load,
    credentials,
    caller,
    directory,
  }
}

/** One account sends all of the load of a benchmark. */
const NO_RATES = { RATE_LIMIT_ACCOUNT: '1000000000', RATE_LIMIT_ADDRESS: '1000000000' }

/** The settings of a service under measurement, and the file that gets its log: one that keeps nothing by default. */
type ServiceOptions = Pick<Options, 'processes'> & { environment?: Record<string, string>; log?: string }

/** Starts what `npm start` of a checkout runs, with production's settings. */
export async function startService(
  checkout: string,
  databaseUrl: string,
  { processes, environment = NO_RATES, log = '/dev/null' }: ServiceOptions,
  flags: readonly string[] = [],
): Promise<Service> {
  const cwd = resolve(import.meta.dirname, '..', checkout)
  const { scripts } = JSON.parse(await readFile(join(cwd, 'package.json'), 'utf8')) as { scripts: { start: string } }
  const port = await freePort()
  const child = spawn(
    process.execPath,
    [
      ...flags,
      ...scripts.start
        .replace(/^exec /, '')
        .split(' ')
        .slice(1),
    ],
    {
      cwd,
      env: {
        PATH: process.env.PATH,
        NODE_ENV: 'production',
        DATABASE_URL: databaseUrl,
        KEY_ENCRYPTION_SECRET: SECRET,
        LOG_LEVEL: 'info',
        PORT: String(port),
        // The same for every service of the run: they take each other's tokens.
        AUTH_URL: 'http://auth.localhost',
        BASE_URL: 'http://api.localhost',
        RECORDS_URL: 'http://records.localhost',
        OPS_PORT: '0',
        ...environment,
        ...(processes !== undefined && { WEB_CONCURRENCY: String(processes) }),
      },
      stdio: ['ignore', openSync(log, 'w'), 'inherit'],
      // Its own process group: Ctrl-C ends it through us, after what it was answering.
      detached: true,
    },
  )
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const ended = once(child, 'exit').then(([code, signal]) => {
    process.off('exit', kill)
    return (code ?? signal) as number | string
  })
  await answering(child, port)
  return {
    pid: child.pid!,
    port,
    stop: () => {
      child.kill('SIGTERM')
      return ended
    },
  }
}

async function answering(child: ChildProcess, port: number): Promise<void> {
  for (const end = performance.now() + START_WITHIN_MS; performance.now() < end; await sleep(50)) {
    if (child.exitCode !== null) throw new Error(`the service ended at its start (${child.exitCode})`)
    const answer = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined)
    if (answer?.ok) return
  }
  child.kill('SIGKILL')
  throw new Error('the service did not start')
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address !== 'object' || !address) throw new Error('no free port')
  return address.port
}
