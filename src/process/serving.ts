import type { Server } from 'node:http'
import { Server as Listener, type Socket } from 'node:net'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '../app/config.ts'
import { withSetting } from '../app/explain.ts'
import { openService } from '../app/service.ts'
import { createMetrics } from '../observability/metrics.ts'
import { rememberRecent } from '../office/recent.ts'
import { type AccessTrail, keepAccessTrail } from '../services/access/accessTrail.ts'
import type { Deps } from '../services/deps.ts'
import { combineListeners } from '../services/listener.ts'
import { bookOfDirectory, openBooks, type SeveralBooks } from './books.ts'
import { type ServedBook, serveBook, watchLag } from './servedBook.ts'

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

/** The parts that this process has started, so that a stop can end them in reverse order. */
export interface Serving {
  deps?: Deps
  /** The book whose apps listen. */
  front?: ServedBook
  several?: SeveralBooks
  access?: AccessTrail
  lag?: { stop(): void }
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
  const metrics = createMetrics(Date.now, (id) =>
    [serving.deps, ...bookDeps(serving)].some((deps) => deps?.testClocks.find(id)),
  )
  const recent = rememberRecent(Date.now)
  const access = keepAccessTrail(Date.now, log)
  serving.access = access
  const listener = combineListeners(metrics.listener, recent.listener, access.listener)
  const seeds = config.books.length === 0 || bookOfDirectory(config.books, options.databaseUrl) !== undefined
  const deps = await openService({ ...options, now: Date.now, clock: Date.now, listener, seeds })
  serving.deps = deps
  const lag = watchLag()
  serving.lag = lag
  const draining = () => serving.drainable?.draining() ?? false
  const process = { metrics, recent, log, lagMs: lag.ms, stopping, draining }
  const several = config.books.length > 0 ? await openBooks(deps, process, { ...options, access }) : undefined
  if (several) serving.several = several
  const front = several?.front ?? (await serveBook(deps, process, { access }))
  serving.front = front
  serving.drainable = makeDrainable(front.app.server)
  const { host, port, opsHost, opsPort } = config
  // Exclusive: each of several processes has an operators' port of its own, while they share the clients' port.
  await front.monitor.listen({ host: opsHost, port: opsPort, exclusive: true }).catch(withSetting('OPS_PORT'))
  await mayOpen?.()
  await front.app.listen({ host, port }).catch(withSetting('PORT'))
  if (several) several.begin()
  else front.begin()
  return { origin: front.app.listeningOrigin, opsOrigin: front.monitor.listeningOrigin }
}

const bookDeps = ({ several }: Serving): readonly Deps[] => several?.books().map((book) => book.deps) ?? []

/**
 * Stops serving: reports for `graceMs` that the process is not ready, and serves on; then accepts nothing new, answers
 * the requests that have begun, and closes the databases. Nothing acknowledged is left unsaved.
 * @param mayClose awaited before the process accepts nothing new
 */
export async function stopServing(serving: Serving, graceMs: number, mayClose?: () => Promise<void>): Promise<void> {
  const { deps, front, several, access, drainable, lag } = serving
  if (front?.app.server.listening) {
    await pause(graceMs)
    await mayClose?.()
  }
  const served = several?.books() ?? (front ? [front] : [])
  for (const book of served) book.deps.eventHeads.close()
  deps?.eventHeads.close()
  await drainable?.drain()
  await Promise.all([several?.stop(), ...served.map((book) => book.app.close())])
  await Promise.all([access?.stop(), ...served.map((book) => book.stop())])
  lag?.stop()
  await Promise.all(served.map((book) => book.monitor.close()))
  deps?.statements.close()
  deps?.webhookPoster.close()
  await Promise.all([deps?.db.close(), ...served.map((book) => book.deps.db.close())])
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
