import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { type Logger, pino } from 'pino'
import { buildApp } from './app.ts'
import { banner } from './banner.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { isUnavailable } from './db/client.ts'
import { type EmbeddedServer, startEmbedded } from './db/embedded.ts'
import type { Deps } from './deps.ts'
import { type Drainable, makeDrainable } from './drain.ts'
import { withKeptSecret } from './keptSecret.ts'
import { makeLog } from './log.ts'
import { createMetrics } from './monitor/metrics.ts'
import { rememberRecent } from './monitor/recent.ts'
import { buildMonitor } from './monitor/server.ts'
import { openService } from './service.ts'
import { tellAll } from './services/events.ts'
import { type Figures, keepFigures } from './services/figures.ts'
import { WrongSecretError } from './services/keyRing.ts'
import { createLimits, type Limits } from './services/limits.ts'
import { type Sweeper, startSweeper } from './services/sweep.ts'
import { type Vitals, watchVitals } from './vitals.ts'

/** What has been started, so that a stop can end it in the reverse order. */
interface Running {
  server?: EmbeddedServer
  deps?: Deps
  config?: Config
  vitals?: Vitals
  limits?: Limits
  figures?: Figures
  monitor?: FastifyInstance
  sweeper?: Sweeper
  app?: FastifyInstance
  drainable?: Drainable
}

async function start(running: Running, settings: Config, log: Logger): Promise<void> {
  const embedded = settings.databaseUrl === ''
  const config = embedded ? await withKeptSecret(settings) : settings
  running.config = config
  if (embedded)
    running.server = await startEmbedded({ directory: config.dataDir, log: log.child({ part: 'postgres' }) })
  const databaseUrl = running.server?.url ?? config.databaseUrl
  const metrics = createMetrics(Date.now)
  const recent = rememberRecent(Date.now)
  const events = tellAll(metrics.events, recent.events)
  running.deps = await openService({ config, databaseUrl, now: Date.now, log, events })
  const stages = { stopping: () => stopping !== undefined, draining: () => running.drainable?.draining() ?? false }
  running.vitals = watchVitals(running.deps.db, stages, log)
  running.limits = createLimits(running.deps)
  running.figures = keepFigures(running.deps, log)
  const { guard } = running.vitals
  running.app = await buildApp(running.deps, { logger: log, guard, limits: running.limits })
  running.drainable = makeDrainable(running.app.server)
  running.monitor = buildMonitor({ deps: running.deps, metrics, recent, figures: running.figures, log })
  await running.monitor.listen({ host: config.host, port: config.opsPort }).catch(onOpsPort)
  await running.app.listen({ host: config.host, port: config.port })
  running.sweeper = startSweeper(running.deps, log)
  metrics.observe({
    pool: running.deps.db.pool,
    databaseUp: guard.reachable,
    stopping: guard.stopping,
    lagMs: guard.lagMs,
    figures: running.figures.latest,
  })
  process.stdout.write(banner(config, running.app, running.monitor))
}

/**
 * Says for a while that it is not ready, and serves; then accepts nothing new, answers what has begun, and lets go of the
 * database. Nothing acknowledged is left unsaved.
 */
async function stop(running: Running, graceMs: number): Promise<void> {
  const { app, drainable, sweeper, limits, figures, vitals, monitor, deps, server } = running
  if (app?.server.listening) await pause(graceMs)
  await drainable?.drain()
  await app?.close()
  await Promise.all([sweeper?.stop(), limits?.stop(), figures?.stop(), vitals?.stop()])
  await monitor?.close()
  deps?.statements.close()
  await deps?.db.close()
  await server?.stop()
}

/** The same error is about another setting on this port. */
function onOpsPort(error: unknown): never {
  throw Object.assign(Object(error), { setting: 'OPS_PORT' })
}

/** One line for what the operator can mend; the whole error for what he cannot. */
function explain(error: unknown): string {
  if (error instanceof ConfigError || error instanceof WrongSecretError) return error.message
  const {
    code,
    port,
    address,
    hostname,
    setting = 'PORT',
  } = error as NodeJS.ErrnoException & {
    port?: number
    hostname?: string
    address?: string
    setting?: string
  }
  if (code === 'EADDRINUSE')
    return `${setting}: ${port} on ${address} is taken by another program; stop it, or set ${setting} to a free one`
  if (code === 'EACCES' && port !== undefined)
    return `${setting}: ${port} may not be used by this user; set ${setting} to another`
  // Of a database only the name is looked up, and only listening is told so by its address.
  const listens = (error as { syscall?: string }).syscall === 'listen' || running.deps !== undefined
  if (listens && (code === 'ENOTFOUND' || code === 'EADDRNOTAVAIL'))
    return `HOST: ${hostname ?? address} is not an address of this machine`
  const message = error instanceof Error ? error.message : String(error)
  return isUnavailable(error) ? `DATABASE_URL: the database cannot be reached: ${message}` : message
}

const running: Running = {}
let log: Logger = pino({ level: 'silent' })
let stopping: Promise<void> | undefined

/** A second signal ends it at once. */
function shutDown(exitCode: number, graceMs = 0): void {
  if (stopping) process.exit(exitCode || 130)
  setTimeout(() => process.exit(exitCode || 1), graceMs + (running.config?.stopWithinMs ?? 0)).unref()
  stopping = stop(running, graceMs)
    .catch((error: unknown) => log.error({ err: error }, 'the stop went wrong'))
    .finally(() => process.exit(exitCode))
}

// Whoever sends SIGTERM has others to send requests to, and needs a moment to notice; whoever presses Ctrl-C has not.
process.on('SIGTERM', () => shutDown(0, running.config?.stopGraceMs))
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
