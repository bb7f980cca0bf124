import cookie from '@fastify/cookie'
import formBody from '@fastify/formbody'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import Fastify from 'fastify'
import { logAnswers } from '../api/http/accessLog.ts'
import { schemaController } from '../api/http/compilers.ts'
import { STATUSES, toFailure } from '../api/http/failure.ts'
import { refuseHandedOver } from '../api/http/handedOver.ts'
import { requestIdOf, whenClosed } from '../api/http/request.ts'
import { connectionOptions, type LimitOptions, limitRequests } from '../api/limits/limits.ts'
import { trustOf } from '../app/trust.ts'
import { isWorthRepeating } from '../db/postgres/errors.ts'
import { requirePermission } from '../domain/access/permissions.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Totals } from '../services/book/totals.ts'
import type { Deps } from '../services/deps.ts'
import { createPageSessions, type PageSession, type PageSessions } from '../services/office/pageSessions.ts'
import { createProviderClient } from '../services/signIn/provider.ts'
import { findProviders } from '../services/signIn/settings.ts'
import { createGate, type GateBounds, holderOf } from '../toolbox/gate.ts'
import { createReadCache } from '../toolbox/readCache.ts'
import { cookieNamesOf, type Desk, deskOf, frameOf, requireFormToken } from './desk.ts'
import { icon, messagePage, style } from './layout/page.ts'
import { createGrowthSums } from './pages/growth.ts'
import { PAGES, pageNeeds } from './permissions.ts'
import type { Recent } from './recent.ts'
import { addActions } from './routes/actions.ts'
import { addFiles } from './routes/files.ts'
import { addMetrics, knowsHost, METRICS } from './routes/metrics.ts'
import { addProviderSignIn } from './routes/provider.ts'
import { addCompare } from './routes/reconciliations.ts'
import { addSecondFactor, SECOND_FACTOR } from './routes/secondFactor.ts'
import { addSignIn, askToSignIn, requireOwnPage } from './routes/signIn.ts'
import { addViews } from './routes/views.ts'

/** The parts that the operators' port shows, and its limits. */
export interface MonitorDeps extends LimitOptions {
  readonly deps: Deps
  readonly metrics: Pick<Metrics, 'page'>
  readonly recent: Recent
  readonly totals: Pick<Totals, 'latest'>
  /** The sessions of all books, and the organizations that have a provider in any of them; those of this book when left out. */
  readonly everybody?: Everybody
  readonly log: { error(context: object, message: string): void }
}

/** The people of all books, for the page on which they sign in. */
export interface Everybody {
  readonly sessions: PageSessions
  readonly listProviders: () => Promise<readonly number[]>
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The page is for anybody, also without a session. */
    anybody?: boolean
  }
  interface FastifyRequest {
    /** The person at the office pages; there is one on every page that is not for anybody. */
    desk: Desk
    /** The session of that person. */
    pageSession: PageSession
  }
}

/** Headers of every page: pages load only their own style, run no script and send nothing elsewhere. */
const HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
}

/** RFC 9110 15.5.20: the request came to a server that does not answer for this host. */
const MISDIRECTED = 421
/** The style of this port in the log, the metrics and the access trail. */
const STYLE = 'office'
/** The challenge for a client of the metrics that was refused (RFC 9110 11.6.1). */
const BY_TOKEN = 'Bearer realm="Mkopo metrics"'
const HTML = 'text/html; charset=utf-8'
export const LONGEST_FORM = 65_536

/**
 * Builds the app of the operators' port: metrics for Prometheus, and the office pages of the book of a person's
 * organization, after a sign-in. It never listens on the public port.
 */
export function buildMonitor(parts: MonitorDeps): FastifyInstance {
  const { deps, metrics, recent, totals, log, everybody, ...limiting } = parts
  const app = Fastify({
    ...connectionOptions(deps.config),
    schemaController,
    genReqId: requestIdOf,
    trustProxy: trustOf(deps.config.trustProxy),
    forceCloseConnections: true,
    bodyLimit: LONGEST_FORM,
  })
  const isKnown = knowsHost(deps.config)
  app.addHook('onRoute', requireTold)
  const providers = createProviderClient(deps.config)
  const sessions = createPageSessions(deps, providers)
  app.decorate('cookieNames', cookieNamesOf(deps.config))
  app.decorateRequest('desk')
  app.decorateRequest('pageSession')
  app.decorateRequest('caller', null as unknown as FastifyRequest['caller'])

  logAnswers(app, deps.listener, STYLE)
  if (deps.config.books.length > 0) refuseHandedOver(app)
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(HEADERS)
    if (!isKnown(request.headers.host))
      return reply
        .code(MISDIRECTED)
        .type(HTML)
        .send(
          messagePage(
            frameOf(request),
            'This port does not answer for that host name: call it by an address, or add the name to OPS_NAMES.',
          ),
        )
  })
  limitRequests(app, deps, limiting)
  void app.register(cookie)
  void app.register(formBody, { bodyLimit: LONGEST_FORM })
  app.addHook('onRequest', (request, reply) => identify(sessions, request, reply))
  placePages(app)
  app.addHook('preHandler', (request) => enter(deps, request))

  addMetrics(app, deps.config, metrics)
  addLooks(app)
  const { listProviders } = everybody ?? { listProviders: keptProviders(deps) }
  addSignIn(app, everybody?.sessions ?? sessions, { config: deps.config, listProviders })
  addProviderSignIn(app, sessions, { ...deps, providers })
  addSecondFactor(app, sessions, deps)
  const sumGrowth = createGrowthSums()
  addViews(app, { recent, totals }, sumGrowth)
  addFiles(app, sumGrowth)
  addActions(app, deps)
  addCompare(app)

  app.setNotFoundHandler((request, reply) =>
    reply
      .code(STATUSES.not_found)
      .type(HTML)
      .send(messagePage(frameOf(request), frameOf(request).say('notFound'))),
  )
  app.setErrorHandler((error, request, reply) => sendRefusal(log, { error, request, reply }))
  return app
}

/** Adds what gives the pages their looks. */
function addLooks(app: FastifyInstance): void {
  const looks = { config: { anybody: true, public: true } }
  const files = { '/style.css': ['text/css', style], '/icon.svg': ['image/svg+xml', icon] } as const
  for (const [path, [type, content]] of Object.entries(files))
    app.get(path, looks, (_request, reply) => reply.header('cache-control', 'max-age=3600').type(type).send(content))
}

const isForAnybody = (request: FastifyRequest) => request.is404 || request.routeOptions.config.anybody === true

/** Finds the person of a request by the session. */
async function identify(sessions: PageSessions, request: FastifyRequest, reply: FastifyReply) {
  if (isForAnybody(request)) return
  const value = request.cookies[request.server.cookieNames.session]
  const session = value === undefined ? undefined : await sessions.find(value)
  if (!session) return askToSignIn(request, reply)
  request.pageSession = session
  const { url } = request.routeOptions
  if (session.needsFactor && url !== SECOND_FACTOR && url !== '/sign-out') return reply.redirect(SECOND_FACTOR, 303)
  request.caller = { ...session.identity, requestId: request.id }
}

/** Returns a function that lists the organizations with a provider, for some seconds the same. */
export function keptProviders({ db, machineNow }: Pick<Deps, 'db' | 'machineNow'>): () => Promise<readonly number[]> {
  const cache = createReadCache(machineNow, 1, () => findProviders(db))
  return () => cache.get('all')
}

/** Requires that a form is of the person's session, and makes the person's desk. */
async function enter(deps: Deps, request: FastifyRequest) {
  if (isForAnybody(request)) return
  const { pageSession } = request
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    requireOwnPage(request)
    requireFormToken(pageSession, (request.body as Readonly<Record<string, unknown>> | undefined)?._token)
  }
  requirePermission(request.caller, needsOf(request))
  request.desk = await deskOf(deps, request, pageSession)
}

/** Requires that a page says what it needs. @throws Error at the start, for a page that is in no table and not for anybody */
function requireTold({ url, config }: RouteOptions) {
  if (config?.anybody !== true && !Object.hasOwn(PAGES, url))
    throw new Error(`the page ${url} says no permission: add it to src/office/permissions.ts`)
}

/** Returns what the page of a request needs. */
const needsOf = ({ routeOptions, params }: FastifyRequest) =>
  pageNeeds(routeOptions.url ?? '', (params as { readonly action?: string }).action)

interface Refused {
  readonly error: unknown
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

function sendRefusal(log: MonitorDeps['log'], { error, request, reply }: Refused): FastifyReply {
  const failure = { faultNames: {}, requestId: request.id, unavailable: isWorthRepeating }
  request.failure = toFailure(error, failure)
  const { code, message, retryAfter } = request.failure
  if (code === 'internal') log.error({ err: error, reqId: request.id }, 'a page for operators failed')
  if (code === 'unauthenticated' && request.routeOptions.url === METRICS) reply.header('www-authenticate', BY_TOKEN)
  if (retryAfter !== undefined) reply.header('retry-after', String(Math.ceil(retryAfter)))
  return reply
    .code(STATUSES[code])
    .type(HTML)
    .send(messagePage(frameOf(request), message))
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route has places of its own, and takes none of the pages. */
    ownPlace?: boolean
  }
  interface FastifyRequest {
    /** Frees the place of the page that is being built; undefined before there is one. */
    leavePlace: (() => void) | undefined
  }
}

/** The longest rest of a place after a page. */
export const MOST_REST_MS = 250

/**
 * The places of pages: a person has two at once, which is more than a browser asks for that loads a page. A place rests for as
 * long as its page took, so that one session leaves most of the process to others.
 */
export const PAGE_PLACES: GateBounds = {
  atOnce: 8,
  ofGroup: 6,
  ofMember: 2,
  waiting: { all: 64, ofGroup: 32, ofMember: 8 },
  waitMs: 5_000,
  restMs: (tookMs) => Math.min(MOST_REST_MS, tookMs),
  refusal: 'too many pages are being made; try again',
  againSeconds: 1,
}

/** Builds the pages of people in places: each from when its person is known until it is built. */
function placePages(app: FastifyInstance): void {
  const pages = createGate(PAGE_PLACES)
  app.decorateRequest('leavePlace', undefined)
  app.addHook('preHandler', async (request, reply) => {
    const { anybody, ownPlace } = request.routeOptions.config
    if (request.is404 || anybody === true || ownPlace === true) return
    const leave = await pages.take(holderOf(request.caller))
    request.leavePlace = leave
    // A connection that closed while the page waited emits no close event again.
    if (reply.raw.destroyed) leave()
    else whenClosed(request, reply, leave)
  })
  app.addHook('onSend', async (request) => request.leavePlace?.())
}
