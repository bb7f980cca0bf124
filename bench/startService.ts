import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Options } from './options.ts'

/** A service under measurement. */
export interface Service {
  readonly pid: number
  readonly port: number
  /** Milliseconds from its start until it was ready. */
  readonly startMs: number
  /** Ends it as an operator would. @returns its exit code, or the signal that ended it */
  stop(): Promise<number | string>
}

export const SECRET = 'a secret of the benchmark'
const START_WITHIN_MS = 60_000
/** The pause between two looks whether the service is ready. */
const LOOK_MS = 20

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
  const startMs = await answering(child, port)
  return {
    pid: child.pid!,
    port,
    startMs,
    stop: () => {
      child.kill('SIGTERM')
      return ended
    },
  }
}

/** Waits until the service is ready. @returns how long that took, in milliseconds */
async function answering(child: ChildProcess, port: number): Promise<number> {
  const started = performance.now()
  for (; performance.now() < started + START_WITHIN_MS; await sleep(LOOK_MS)) {
    if (child.exitCode !== null) throw new Error(`the service ended at its start (${child.exitCode})`)
    const answer = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined)
    if (answer?.ok) return performance.now() - started
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
