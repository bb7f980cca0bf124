import type { Server } from 'node:http'
import { Server as Listener, type Socket } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Guard } from '../api/limits/overload.ts'
import { buildApp, renderEvents } from '../app/app.ts'
import type { Config } from '../app/config.ts'
import { withSetting } from '../app/explain.ts'
import { openService } from '../app/service.ts'
import type { Db } from '../db/postgres/client.ts'
import { type ProbeOptions, startLivenessProbe } from '../db/postgres/livenessProbe.ts'
import { createMetrics } from '../observability/metrics.ts'
import { rememberRecent } from '../office/recent.ts'
import { buildMonitor } from '../office/server.ts'
import { type AccessTrail, keepAccessTrail } from '../services/access/accessTrail.ts'
import { createLimits, type Limits } from '../services/access/rateLimits.ts'
import type { Deps } from '../services/deps.ts'
import { type RunningJobs, startJobs } from '../services/jobs/runner.ts'
import { createServiceJobs } from '../services/jobs/serviceJobs.ts'
import { combineListeners } from '../services/listener.ts'

/** A kept connection that is quiet for this long is closed: longer than a request takes to arrive. */
const QUIET_MS = 500

/** A server that can close all its connections without resetting one. */
interface Drainable {
  /** Returns whether nothing new is accepted; every answer then closes its connection. */
  draining(): boolean
  /**
   * Accepts nothing new, answers the requests on open connections, and closes each after its answer, or once it has
   * been quiet for a while. Node's own `close` ends quiet connections at once, even when a request is on its way.
   */
  drain(): Promise<void>
}

const RESOLUTION_MS = 20
const WINDOW_MS = 500

/** The state of the process: its database, its event loop, and whether it stops. */
interface Vitals {
  readonly guard: Guard
  /** Returns by how many milliseconds the database's clock is ahead of this machine's. */
  clockAheadMs(): number
  stop(): Promise<void>
}

/** The parts that this process has started, so that a stop can end them in reverse order. */
export interface Serving {
  deps?: Deps
  vitals?: Vitals
  limits?: Limits
  access?: AccessTrail
  monitor?: FastifyInstance
  jobs?: RunningJobs
  app?: FastifyInstance
  drainable?: Drainable
}

/** Options of `startServing`. */
export interface ServingOptions {
  readonly config: Config
  readonly databaseUrl: string
  readonly ownerUrl?: string
  /** True when another process has migrated the database. */
  readonly skipMigrations: boolean
  /** Returns whether clients are informed that the service is about to stop. */
  readonly stopping: () => boolean
  readonly log: Logger
  /** Awaited when all else is ready, before the clients' port opens; it opens at once when this is left out. */
  readonly mayOpen?: () => Promise<void>
}

/** The origins on which a process listens for clients and for operators. */
export interface Origins {
  readonly origin: string
  readonly opsOrigin: string
}

/** Starts all parts of a serving process; `serving` always holds the parts that have started. */
export async function startServing(serving: Serving, options: ServingOptions): Promise<Origins> {
  const { config, stopping, log, mayOpen } = options
  const metrics = createMetrics(Date.now, (id) => serving.deps?.testClocks.find(id) !== undefined)
  const recent = rememberRecent(Date.now)
  const access = keepAccessTrail(Date.now, log)
  serving.access = access
  const listener = combineListeners(metrics.listener, recent.listener, access.listener)
  const deps = await openService({ ...options, now: Date.now, clock: Date.now, listener })
  serving.deps = deps
  access.open(deps.db)
  serving.vitals = watchVitals(
    deps.db,
    { stopping, draining: () => serving.drainable?.draining() ?? false },
    { now: Date.now, log },
  )
  serving.limits = createLimits(deps)
  const { jobs, totals, webhookFigures } = createServiceJobs(deps, { render: renderEvents(config.zone), log })
  const { guard } = serving.vitals
  const limiting = { guard, limits: serving.limits }
  const app = await buildApp(deps, { logger: log, ...limiting })
  serving.app = app
  serving.drainable = makeDrainable(app.server)
  const monitor = buildMonitor({ deps, metrics, recent, totals, log, ...limiting })
  serving.monitor = monitor
  const { host, port, opsHost, opsPort } = config
  // Exclusive: each of several processes has an operators' port of its own, while they share the clients' port.
  await monitor.listen({ host: opsHost, port: opsPort, exclusive: true }).catch(withSetting('OPS_PORT'))
  await mayOpen?.()
  await app.listen({ host, port }).catch(withSetting('PORT'))
  serving.jobs = startJobs(jobs, { listener, log })
  metrics.observe({
    pool: deps.db.pool,
    databaseUp: guard.reachable,
    databaseWell: () => guard.trouble() === undefined,
    clockAheadMs: serving.vitals.clockAheadMs,
    stopping: guard.stopping,
    lagMs: guard.lagMs,
    totals: totals.latest,
    heads: totals.heads,
    webhooks: webhookFigures.latest,
    jobs: jobs.map(({ name }) => name),
  })
  return { origin: app.listeningOrigin, opsOrigin: monitor.listeningOrigin }
}

/**
 * Stops serving: reports for `graceMs` that the process is not ready, and serves on; then accepts nothing new, answers
 * the requests that have begun, and closes the database. Nothing acknowledged is left unsaved.
 * @param mayClose awaited before the process accepts nothing new
 */
export async function stopServing(serving: Serving, graceMs: number, mayClose?: () => Promise<void>): Promise<void> {
  const { app, drainable, limits, access, jobs, vitals, monitor, deps } = serving
  if (app?.server.listening) {
    await pause(graceMs)
    await mayClose?.()
  }
  deps?.eventHeads.close()
  await drainable?.drain()
  await app?.close()
  await Promise.all([jobs?.stop(), limits?.stop(), access?.stop(), vitals?.stop()])
  await monitor?.close()
  deps?.statements.close()
  deps?.webhookPoster.close()
  await deps?.db.close()
}

/** Makes a server drainable; call this before the server listens, since it watches the connections from then on. */
function makeDrainable(server: Server): Drainable {
  const sockets = new Set<Socket>()
  let draining = false
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })

  const closeQuiet = () => {
    server.closeIdleConnections()
    // Connections that never sent a byte: Node expects a request on them.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }

  return {
    draining: () => draining,
    async drain() {
      if (!server.listening) return
      // Right after a round of accepting, when the fewest connections wait to be accepted.
      await turn()
      draining = true
      const empty = new Promise((resolve) => Listener.prototype.close.call(server, resolve))
      const timer = setInterval(closeQuiet, QUIET_MS)
      await empty
      clearInterval(timer)
    },
  }
}

/** Watches the database and the event loop until it is stopped, and logs when the database goes and comes back. */
function watchVitals(db: Db, stages: Pick<Guard, 'stopping' | 'draining'>, options: ProbeOptions): Vitals {
  const watch = startLivenessProbe(db, options)
  const lag = watchLag()
  return {
    guard: { reachable: watch.reachable, trouble: watch.trouble, lagMs: lag.ms, ...stages },
    clockAheadMs: watch.clockAheadMs,
    async stop() {
      lag.stop()
      await watch.stop()
    },
  }
}

/** Measures how late the event loop is, as a mean over the last half second: one long turn is not overload yet. */
function watchLag() {
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
