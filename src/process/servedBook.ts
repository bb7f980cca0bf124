import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Guard } from '../api/limits/overload.ts'
import { type AppOptions, buildApp, renderEvents } from '../app/app.ts'
import { startLivenessProbe } from '../db/postgres/livenessProbe.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Recent } from '../office/recent.ts'
import { buildMonitor, type Everybody } from '../office/server.ts'
import type { AccessTrail } from '../services/access/accessTrail.ts'
import { createLimits, type Limits } from '../services/access/rateLimits.ts'
import type { Deps } from '../services/deps.ts'
import { type RunningJobs, startJobs } from '../services/jobs/runner.ts'
import { createServiceJobs, type ServiceJobs } from '../services/jobs/serviceJobs.ts'

const RESOLUTION_MS = 20
const WINDOW_MS = 500

/** The state of the process: how late its event loop is, and whether it stops. */
export interface Process extends Pick<Guard, 'lagMs' | 'stopping' | 'draining'> {
  readonly metrics: Metrics
  readonly recent: Recent
  readonly log: Logger
}

/** A book that is served: its parts, its apps and its jobs. */
export interface ServedBook {
  readonly deps: Deps
  readonly app: FastifyInstance
  readonly monitor: FastifyInstance
  /** Returns why its lenders are refused, or `ok`. */
  state(): string
  /** Starts the background jobs, and shows the book in the metrics. */
  begin(): void
  /** Stops what works in the background. The apps and the database are closed after it. */
  stop(): Promise<void>
}

/** Options of a served book. */
export interface ServedBookOptions {
  /** Its name; left out where there is one book. */
  readonly name?: string
  readonly access: AccessTrail
  /** Returns whether an organization is in this book; each is when left out. */
  readonly isHere?: (organizationId: number) => boolean
  readonly everybody?: Everybody
  readonly readiness?: AppOptions['readiness']
}

/** Builds the apps of a book that is open, ready to be called, and watches its database. */
export async function serveBook(
  deps: Deps,
  { metrics, recent, log, lagMs, stopping, draining }: Process,
  { name, access, isHere, everybody, readiness }: ServedBookOptions,
): Promise<ServedBook> {
  access.open(deps.db)
  const watch = startLivenessProbe(deps.db, { now: Date.now, log: ofBook(log, name) })
  const guard: Guard = { reachable: watch.reachable, trouble: watch.trouble, lagMs, stopping, draining }
  const limits: Limits = createLimits(deps)
  const serviceJobs: ServiceJobs = createServiceJobs(deps, { render: renderEvents(deps.config.zone), log })
  const { jobs, totals, webhookFigures } = serviceJobs
  const limiting = { guard, limits }
  const app = await buildApp(deps, { logger: log, ...limiting, ...(readiness && { readiness }) })
  const monitor = buildMonitor({ deps, metrics, recent, totals, log, ...limiting, ...(everybody && { everybody }) })
  let running: RunningJobs | undefined
  return {
    deps,
    app,
    monitor,
    state: () => watch.trouble() ?? 'ok',
    begin() {
      running = startJobs(jobs, { listener: deps.listener, log: ofBook(log, name), ...(isHere && { isHere }) })
      metrics.observe({
        ...(name !== undefined && { book: name }),
        pool: deps.db.pool,
        databaseUp: watch.reachable,
        databaseWell: () => watch.trouble() === undefined,
        clockAheadMs: watch.clockAheadMs,
        stopping,
        lagMs,
        totals: () => (isHere ? totals.latest().filter((one) => isHere(one.organizationId)) : totals.latest()),
        heads: () => (isHere ? totals.heads().filter((one) => isHere(one.organizationId)) : totals.heads()),
        webhooks: webhookFigures.latest,
        jobs: jobs.map((job) => job.name),
      })
    },
    async stop() {
      await Promise.all([running?.stop(), limits.stop(), access.stop(), watch.stop()])
    },
  }
}

/** Returns a log that names the book in each line, where there are several. */
const ofBook = (log: Logger, name: string | undefined): Logger => (name === undefined ? log : log.child({ book: name }))

/** Measures how late the event loop is, as a mean over the last half second: one long turn is not overload yet. */
export function watchLag() {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delays.enable()
  let mean = 0
  const timer = setInterval(() => {
    mean = Number.isFinite(delays.mean) ? Math.max(0, delays.mean / 1e6 - RESOLUTION_MS) : 0
    delays.reset()
  }, WINDOW_MS).unref()
  return {
    ms: () => mean,
    stop() {
      clearInterval(timer)
      delays.disable()
    },
  }
}
