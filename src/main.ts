import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { type Logger, pino } from 'pino'
import { buildApp } from './app.ts'
import { banner } from './banner.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { isUnavailable } from './db/client.ts'
import { type EmbeddedServer, startEmbedded } from './db/embedded.ts'
import type { Deps } from './deps.ts'
import { makeLog } from './log.ts'
import { openService } from './service.ts'
import { makeSecret, WrongSecretError } from './services/keyRing.ts'
import { type Sweeper, startSweeper } from './services/sweep.ts'

/** How long a stop may take before it is cut short. */
const STOP_WITHIN_MS = 20_000

/** What has been started, so that a stop can end it in the reverse order. */
interface Running {
  server?: EmbeddedServer
  deps?: Deps
  sweeper?: Sweeper
  app?: FastifyInstance
}

async function start(running: Running, settings: Config, log: Logger): Promise<void> {
  const embedded = settings.databaseUrl === ''
  const config = embedded ? await withKeptSecret(settings) : settings
  if (embedded)
    running.server = await startEmbedded({ directory: config.dataDir, log: log.child({ part: 'postgres' }) })
  const databaseUrl = running.server?.url ?? config.databaseUrl
  running.deps = await openService({ config, databaseUrl, now: Date.now, log })
  running.app = await buildApp(running.deps, { logger: log })
  await running.app.listen({ host: config.host, port: config.port })
  running.sweeper = startSweeper(running.deps, log)
  process.stdout.write(banner(config, running.app))
}

/** With the embedded database the secret is made once and kept beside the data (contract 7). */
async function withKeptSecret(config: Config): Promise<Config> {
  if (config.keyEncryptionSecret !== undefined) return config
  await mkdir(config.dataDir, { recursive: true })
  const file = join(config.dataDir, 'key-encryption-secret')
  // `wx`: of two starts at once, both use the one that was written.
  await writeFile(file, makeSecret(), { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  return { ...config, keyEncryptionSecret: (await readFile(file, 'utf8')).trim() }
}

/** Answers what has begun, then lets go of the database; nothing acknowledged is left unsaved. */
async function stop({ app, sweeper, deps, server }: Running): Promise<void> {
  await app?.close()
  await sweeper?.stop()
  deps?.statements.close()
  await deps?.db.close()
  await server?.stop()
}

/** One line for what the operator can mend; the whole error for what he cannot. */
function explain(error: unknown): string {
  if (error instanceof ConfigError || error instanceof WrongSecretError) return error.message
  const { code, port, address } = error as NodeJS.ErrnoException & { port?: number; address?: string }
  if (code === 'EADDRINUSE')
    return `PORT: ${port} on ${address} is taken by another program; stop it, or set PORT to a free one`
  if (code === 'EACCES' && port !== undefined) return `PORT: ${port} may not be used by this user; set PORT to another`
  if (code === 'ENOTFOUND' || code === 'EADDRNOTAVAIL')
    return `HOST: ${address ?? ''} is not an address of this machine`
  const message = error instanceof Error ? error.message : String(error)
  return isUnavailable(error) ? `DATABASE_URL: the database cannot be reached: ${message}` : message
}

const running: Running = {}
let log: Logger = pino({ level: 'silent' })
let stopping: Promise<void> | undefined

function shutDown(exitCode: number): void {
  if (stopping) process.exit(exitCode || 130)
  setTimeout(() => process.exit(exitCode || 1), STOP_WITHIN_MS).unref()
  stopping = stop(running)
    .catch((error: unknown) => log.error({ err: error }, 'the stop went wrong'))
    .finally(() => process.exit(exitCode))
}

process.once('SIGTERM', () => shutDown(0))
process.on('SIGINT', () => shutDown(0))

try {
  const config = readConfig()
  log = makeLog(config)
  await start(running, config, log)
} catch (error) {
  process.stderr.write(`mkopo could not start: ${explain(error)}\n`)
  log.debug({ err: error }, 'start failed')
  shutDown(1)
}
