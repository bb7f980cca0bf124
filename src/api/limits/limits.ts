import { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../app/config.ts'
import { type ErrorCode, LendingError } from '../../domain/errors.ts'
import { networkOf } from '../../services/access/caller.ts'
import type { Limited, Limits, Remaining } from '../../services/access/rateLimits.ts'
import type { Listener } from '../../services/listener.ts'
import { Tally } from '../../toolbox/tally.ts'
import { whenClosed } from '../http/request.ts'
import { type Guard, turnAwayEarly, unguarded } from './overload.ts'
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
export const HEADERS_SHARE = 3
const CHECK_EVERY_MS = 2_000
/** The longest time without any traffic on a connection: longer than any statement may take. */
export const SILENT_MS = 90_000
/**
 * Longer than the idle timeout of the usual load balancers (60 s), so that they close a connection before the service
 * does.
 */
export const KEEP_ALIVE_MS = 72_000

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
  limitRates(app, limits, listener)
  sharePlaces(app, config, listener)
  boundBodies(app)
  boundUnread(app, { ...UNREAD_BOUNDS, ...unread }, () => performance.now())
  slowRefused(app)
}

/**
 * Refusals a second of one address that only ask the client to come later; over this, its connections are read less
 * often.
 */
export const MOST_A_SECOND = 50
const SECOND_MS = 1_000

/** Codes of refusals that a client gets again when it repeats the request at once. */
const REPEATED: ReadonlySet<ErrorCode> = new Set(['resource_exhausted', 'unavailable', 'unauthenticated'])

/**
 * Delays the next request of a connection by a second when its address was refused more than `MOST_A_SECOND` times in
 * this second. Every answer is sent at once, so a client that obeys Retry-After notices nothing, and one that does not
 * cannot keep the process busy with refusals. Connections of a proxy carry many clients, and are never delayed.
 */
function slowRefused(app: FastifyInstance): void {
  let refused = new Tally<string>()
  const timer = setInterval(() => {
    refused = new Tally()
  }, SECOND_MS).unref()
  app.addHook('onClose', async () => clearInterval(timer))
  app.addHook('onResponse', (request, _reply, done) => {
    const { code } = request.failure ?? {}
    if (code !== undefined && REPEATED.has(code) && isItsOwn(request) && refused.add(request.ip, 1) > MOST_A_SECOND)
      pauseReading(request)
    done()
  })
}

/** Returns whether the connection belongs to the client alone: it is not a proxy's. */
const isItsOwn = ({ ip, raw: { socket } }: FastifyRequest): boolean =>
  socket instanceof Socket && socket.remoteAddress === ip

function pauseReading({ raw: { socket } }: FastifyRequest): void {
  socket.pause()
  setTimeout(() => socket.resume(), SECOND_MS).unref()
}

/** Shares of all places in work that one holder may have. */
export const SHARES = { address: 2, account: 3, organization: 2 } as const

type Holder = keyof typeof SHARES

const AGAIN_SECONDS = 1

/** The place that a request holds: its address's until its caller is known, then its account's. */
interface Place {
  address: string | undefined
  account: number | undefined
  organization: number | undefined
}

declare module 'fastify' {
  interface FastifyRequest {
    place: Place | undefined
  }
}

/**
 * Limits each address without credentials, each account and each organization to its share of the places in work, so
 * that no one of them can take all. A request over the share is refused at once; health checks are always answered.
 */
function sharePlaces(app: FastifyInstance, { maxInFlight }: { maxInFlight: number }, listener: Listener): void {
  const addresses = new Tally<string>()
  const accounts = new Tally<number>()
  const organizations = new Tally<number>()

  const requireShare = (holder: Holder, held: number) => {
    const share = Math.ceil(maxInFlight / SHARES[holder])
    if (held <= share) return
    listener.shed('share')
    const message = `this ${holder} has ${share} requests in work, which is its share; try again`
    throw new LendingError('resource_exhausted', message, [], AGAIN_SECONDS)
  }

  const leave = (place: Place) => {
    if (place.address !== undefined) addresses.add(place.address, -1)
    if (place.account !== undefined) accounts.add(place.account, -1)
    if (place.organization !== undefined) organizations.add(place.organization, -1)
    place.address = place.account = place.organization = undefined
  }

  app.decorateRequest('place', undefined)
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.vital) return done()
    const address = networkOf(request.ip)
    const place: Place = { address, account: undefined, organization: undefined }
    request.place = place
    whenClosed(request, reply, () => leave(place))
    requireShare('address', addresses.add(address, 1))
    done()
  })
  // After the hooks of the style, which identify the caller.
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    const { place } = request
    const caller = request.caller as FastifyRequest['caller'] | null | undefined
    if (!caller || place?.address === undefined) return done()
    leave(place)
    place.account = caller.accountId
    place.organization = caller.organizationId
    const held = { account: accounts.add(place.account, 1), organization: organizations.add(place.organization, 1) }
    requireShare('account', held.account)
    requireShare('organization', held.organization)
    done()
  })
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route counts its requests by something else than their address. */
    countsItself?: true
  }
  interface FastifyInstance {
    /** Counts a request against a limit, and sets the headers of the limit. @throws LendingError `resource_exhausted` */
    countRequest(by: Limited, key: string, request: FastifyRequest, reply: FastifyReply): void
  }
}

/** Whose limit was reached. */
const WHOSE: Readonly<Record<Limited, string>> = {
  account: 'this account',
  address: 'this address',
  channel: 'this payment channel',
  secret: 'this address with secrets that are not known',
}

/**
 * Limits requests a minute: by address at the start of the request, and by account once the caller is known. Every
 * answer carries what is left (RateLimit-Limit, -Remaining, -Reset, -Policy), and a refusal also when to come back.
 */
function limitRates(app: FastifyInstance, limits: Limits | undefined, listener: Listener): void {
  const check: FastifyInstance['countRequest'] = (by, key, request, reply) => {
    if (request.routeOptions.config.vital) return
    const taken = limits?.take(by, key)
    if (taken === undefined) return
    setHeaders(taken, reply)
    if (taken.allowed) return
    listener.limited(by)
    const { limit, reset } = taken
    throw new LendingError(
      'resource_exhausted',
      `more than ${limit} requests a minute from ${WHOSE[by]}; try again in ${reset} s`,
      [],
      reset,
    )
  }

  app.decorate('countRequest', check)
  if (!limits) return
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.routeOptions.config.countsItself) check('address', networkOf(request.ip), request, reply)
    done()
  })
  // After the hooks of the style, which identify the caller.
  app.addHook('preParsing', (request, reply, _, done) => {
    const caller = request.caller as FastifyRequest['caller'] | null | undefined
    if (caller) check('account', `${caller.organizationId}/${caller.accountId}`, request, reply)
    done()
  })
}

/** Sets the headers of the limit that has the least left. */
function setHeaders({ limit, remaining, reset, window }: Remaining, reply: FastifyReply): void {
  const shown = reply.getHeader('ratelimit-remaining')
  if (shown !== undefined && Number(shown) < remaining) return
  reply.header('ratelimit-limit', String(limit))
  reply.header('ratelimit-remaining', String(remaining))
  reply.header('ratelimit-reset', String(reset))
  reply.header('ratelimit-policy', `${limit};w=${window}`)
}

const KIB = 1024
const MIB = 1024 * KIB

/**
 * Bytes of bodies that may be arriving at once: of one account, of an address without credentials, and of all clients.
 */
export const BODY_BYTES = { caller: 32 * MIB, all: 128 * MIB } as const
/** Bytes that a body without a stated length counts as. */
export const UNTOLD_BYTES = 256 * KIB

declare module 'fastify' {
  interface FastifyRequest {
    /** Says that the body is there, while it is awaited. */
    arrived: (() => void) | undefined
  }
}

/**
 * Limits the memory for request bodies that have not wholly arrived. A client over its share gets `resource_exhausted`;
 * when all bodies together are over the total, every client gets `unavailable`. Uploads have limits of their own.
 */
function boundBodies(app: FastifyInstance): void {
  const callers = new Tally<string>()
  let all = 0

  app.decorateRequest('arrived', undefined)
  app.addHook('preParsing', (request, reply, _payload, done) => {
    const bytes = bytesOf(request)
    if (bytes === 0 || reply.raw.destroyed) return done()
    const key = keyOf(request)
    // What is refused to one caller takes nothing from the others.
    if (callers.add(key, bytes) > BODY_BYTES.caller) {
      callers.add(key, -bytes)
      throw new LendingError('resource_exhausted', 'too many request bodies are on their way', [], AGAIN_SECONDS)
    }
    const arrived = () => {
      if (request.arrived === undefined) return
      request.arrived = undefined
      all -= bytes
      callers.add(key, -bytes)
    }
    request.arrived = arrived
    whenClosed(request, reply, arrived)
    all += bytes
    if (all > BODY_BYTES.all) throw new LendingError('unavailable', 'the service is busy; try again', [], AGAIN_SECONDS)
    done()
  })
  app.addHook('preValidation', (request, _reply, done) => {
    request.arrived?.()
    done()
  })
}

function bytesOf({ headers }: FastifyRequest): number {
  if (/^multipart\//i.test(headers['content-type'] ?? '')) return 0
  if (headers['transfer-encoding'] !== undefined) return UNTOLD_BYTES
  return Math.min(Number(headers['content-length'] ?? 0) || 0, MIB)
}

function keyOf(request: FastifyRequest): string {
  const caller = request.caller as FastifyRequest['caller'] | null | undefined
  return caller ? `account ${caller.accountId}` : `address ${networkOf(request.ip)}`
}
