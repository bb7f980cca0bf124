import type { FastifyInstance } from 'fastify'
import { LendingError } from '../../domain/errors.ts'
import type { Listener } from '../../services/listener.ts'

/** The state of the process, from the code that runs it. */
export interface Guard {
  /** Returns whether the database answers and is no standby. */
  reachable(): boolean
  /** Returns why no requests should be sent here; undefined when the database takes changes. */
  trouble(): string | undefined
  /** Returns by how many milliseconds timers are late. */
  lagMs(): number
  /** Returns whether a stop has begun: requests are still served, but clients should send no more. */
  stopping(): boolean
  /** Returns whether new connections are impossible; those that are open are still served. */
  draining(): boolean
}

/** A guard that reports no trouble. */
export const unguarded: Guard = {
  reachable: () => true,
  trouble: () => undefined,
  lagMs: () => 0,
  stopping: () => false,
  draining: () => false,
}

/** Limits on the work of the process. */
export interface Bounds {
  readonly maxInFlight: number
  readonly maxLagMs: number
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route answers however busy the service is. */
    vital?: boolean
    /** The route answers also while the process is busy; rates and shares count. */
    whileBusy?: boolean
  }
}

const AGAIN_SECONDS = 1

/**
 * Refuses requests before they cost anything: when more are in work than can be answered in good time, when the event
 * loop is late, or when the database is gone.
 */
export function turnAwayEarly(app: FastifyInstance, guard: Guard, bounds: Bounds, listener: Listener): void {
  let inFlight = 0

  const refuse = (because: Parameters<Listener['shed']>[0], message: string) => {
    listener.shed(because)
    throw new LendingError('unavailable', message, [], AGAIN_SECONDS)
  }

  app.addHook('onRequest', (request, reply, done) => {
    inFlight++
    reply.raw.once('close', () => inFlight--)
    // A client that keeps its connection would send the next request to a connection that is about to close.
    if (guard.draining()) reply.header('connection', 'close')
    const { vital, whileBusy, public: open } = request.routeOptions.config
    if (vital || whileBusy) return done()
    if (inFlight > bounds.maxInFlight) refuse('in_flight', 'the service is busy; try again')
    if (guard.lagMs() > bounds.maxLagMs) refuse('event_loop', 'the service is busy; try again')
    if (!open && !guard.reachable()) refuse('database', 'the database cannot be reached or takes no changes; try again')
    done()
  })
}
