import type { FastifyInstance } from 'fastify'
import type { Config } from '../../app/config.ts'
import type { Limits } from '../../services/access/rateLimits.ts'
import type { Listener } from '../../services/listener.ts'
import { boundBodies } from './arrivingBodies.ts'
import { slowRefused } from './backOff.ts'
import { type Guard, turnAwayEarly, unguarded } from './overload.ts'
import { sharePlaces } from './places.ts'
import { limitRates } from './rates.ts'
import { boundUnread, UNREAD_BOUNDS, type UnreadBounds } from './unreadAnswers.ts'

/** The state of the process, and limits that are not settings. */
export interface LimitOptions {
  /** The state of the process; without a guard, no trouble is assumed. */
  readonly guard?: Guard
  /** The rate limits; none when left out. */
  readonly limits?: Limits
  /** Limits on unread answers that differ from the usual ones. */
  readonly unread?: Partial<UnreadBounds>
}

/**
 * Headers have to arrive in a third of the time that a whole request may take; late connections are looked for this
 * often.
 */
const HEADERS_SHARE = 3
const CHECK_EVERY_MS = 2_000
/** The longest time without any traffic on a connection: longer than any statement may take. */
const SILENT_MS = 90_000
/**
 * Longer than the idle timeout of the usual load balancers (60 s), so that they close a connection before the service
 * does.
 */
const KEEP_ALIVE_MS = 72_000

/** Returns the options of a server that bound the time of its connections. */
export function connectionOptions({ requestTimeoutMs }: Pick<Config, 'requestTimeoutMs'>) {
  const headersTimeout = Math.ceil(requestTimeoutMs / HEADERS_SHARE)
  return {
    requestTimeout: requestTimeoutMs,
    connectionTimeout: SILENT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: {
      requireHostHeader: false,
      headersTimeout,
      connectionsCheckingInterval: Math.min(CHECK_EVERY_MS, headersTimeout),
    },
  }
}

/** Bounds the connections of a port, its requests in work, their rates, their bodies, and the answers that nobody reads. */
export function limitRequests(
  app: FastifyInstance,
  { config, listener }: { readonly config: Config; readonly listener: Listener },
  { guard = unguarded, limits, unread }: LimitOptions,
): void {
  app.server.maxConnections = config.maxConnections
  turnAwayEarly(app, guard, config, listener)
  if (limits) limitRates(app, limits, listener)
  sharePlaces(app, config, listener)
  boundBodies(app)
  boundUnread(app, { ...UNREAD_BOUNDS, ...unread }, () => performance.now())
  slowRefused(app)
}
