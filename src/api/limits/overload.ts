import type { FastifyInstance } from 'fastify'
import { LendingError } from '../../domain/errors.ts'
import type { Events } from '../../services/events.ts'

/** How the process stands; whoever runs it knows. */
export interface Guard {
  /** Whether the database answers, and is no standby. */
  reachable(): boolean
  /** Why no requests should be sent here; undefined where the database takes changes. */
  trouble(): string | undefined
  /** By how much timers are late, in milliseconds. */
  lagMs(): number
  /** Whether a stop has begun: what comes is served, but nobody should come any more. */
  stopping(): boolean
  /** Whether nobody can come any more; those who are here are served. */
  draining(): boolean
}

/** All is well. */
export const unguarded: Guard = {
  reachable: () => true,
  trouble: () => undefined,
  lagMs: () => 0,
  stopping: () => false,
  draining: () => false,
}

/** How much may be in work. */
export interface Bounds {
  readonly maxInFlight: number
  readonly maxLagMs: number
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answered however busy the service is. */
    vital?: boolean
  }
}

const AGAIN_SECONDS = 1

/**
 * Turns requests away early, while that still costs nothing: when more are in work than can be answered in good time,
 * when the process itself is late, or when the database is gone.
 */
export function turnAwayEarly(app: FastifyInstance, guard: Guard, bounds: Bounds, events: Events): void {
  let inFlight = 0

  const refuse = (because: Parameters<Events['shed']>[0], message: string) => {
    events.shed(because)
    throw new LendingError('unavailable', message, [], AGAIN_SECONDS)
  }

  app.addHook('onRequest', (request, reply, done) => {
    inFlight++
    reply.raw.once('close', () => inFlight--)
    // A client that kept its connection would send the next request into one that is about to be closed.
    if (guard.draining()) reply.header('connection', 'close')
    const { vital, public: open } = request.routeOptions.config
    if (vital) return done()
    if (inFlight > bounds.maxInFlight) refuse('in_flight', 'the service is busy; try again')
    if (guard.lagMs() > bounds.maxLagMs) refuse('event_loop', 'the service is busy; try again')
    if (!open && !guard.reachable()) refuse('database', 'the database cannot be reached or takes no changes; try again')
    done()
  })
}
