import cookie from '@fastify/cookie'
import formBody from '@fastify/formbody'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { toFailure } from '../api/http/failure.ts'
import { STATUSES } from '../api/http/statuses.ts'
import type { Deps } from '../app/deps.ts'
import { isUnavailable } from '../db/postgres/errors.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Totals } from '../services/book/totals.ts'
import { createPageSessions, type PageSessions } from '../services/office/pageSessions.ts'
import { knowsHost, requireMetricsToken } from './callers.ts'
import { type Desk, deskOf, frameOf } from './desk.ts'
import { requireFormToken } from './formTokens.ts'
import { messagePage } from './layout/page.ts'
import { icon, style } from './layout/style.ts'
import type { Recent } from './recent.ts'
import { addActions } from './routes/actions.ts'
import { addFiles } from './routes/files.ts'
import { addSignIn, askToSignIn, requireOwnPage, SESSION_COOKIE } from './routes/signIn.ts'
import { addViews } from './routes/views.ts'

/** The parts that the operators' port shows. */
export interface MonitorDeps {
  readonly deps: Deps
  readonly metrics: Pick<Metrics, 'page'>
  readonly recent: Recent
  readonly totals: Pick<Totals, 'latest'>
  readonly log: { error(context: object, message: string): void }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The page is for anybody, also without a session. */
    anybody?: boolean
  }
  interface FastifyRequest {
    /** The person at the office pages; there is one on every page that is not for anybody. */
    desk: Desk
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
const METRICS = '/metrics'
/** The challenge for a client of the metrics that was refused (RFC 9110 11.6.1). */
const BY_TOKEN = 'Bearer realm="Mkopo metrics"'
const HTML = 'text/html; charset=utf-8'
const LONGEST_FORM = 65_536

/**
 * Builds the app of the operators' port: metrics for Prometheus, and the office pages of the book of a person's
 * organization, after a sign-in. It never listens on the public port.
 */
export function buildMonitor({ deps, metrics, recent, totals, log }: MonitorDeps): FastifyInstance {
  const app = Fastify({ trustProxy: false, forceCloseConnections: true, bodyLimit: LONGEST_FORM })
  const isKnown = knowsHost(deps.config)
  const sessions = createPageSessions(deps)
  void app.register(cookie)
  void app.register(formBody, { bodyLimit: LONGEST_FORM })
  app.decorateRequest('desk')

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
  app.addHook('preHandler', (request, reply) => enter(deps, sessions, request, reply))

  app.get(METRICS, { config: { anybody: true } }, async (request, reply) => {
    requireMetricsToken(deps.config, request.headers.authorization)
    const { type, text } = await metrics.page()
    return reply.type(type).send(text)
  })
  app.get('/style.css', { config: { anybody: true } }, (_request, reply) =>
    reply.header('cache-control', 'max-age=3600').type('text/css').send(style),
  )
  app.get('/icon.svg', { config: { anybody: true } }, (_request, reply) =>
    reply.header('cache-control', 'max-age=3600').type('image/svg+xml').send(icon),
  )
  addSignIn(app, sessions)
  addViews(app, { recent, totals })
  addFiles(app)
  addActions(app, deps)

  app.setNotFoundHandler((request, reply) =>
    reply
      .code(STATUSES.not_found)
      .type(HTML)
      .send(messagePage(frameOf(request), frameOf(request).say('notFound'))),
  )
  app.setErrorHandler((error, request, reply) => sendRefusal(log, { error, request, reply }))
  return app
}

/** Finds the person of a request, and requires that a form is of that person's session. */
async function enter(deps: Deps, sessions: PageSessions, request: FastifyRequest, reply: FastifyReply) {
  if (request.is404 || request.routeOptions.config.anybody === true) return
  const value = request.cookies[SESSION_COOKIE]
  const session = value === undefined ? undefined : await sessions.find(value)
  if (!session) return askToSignIn(request, reply)
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    requireOwnPage(request)
    requireFormToken(session, (request.body as Readonly<Record<string, unknown>> | undefined)?._token)
  }
  request.desk = await deskOf(deps, request, session)
}

interface Refused {
  readonly error: unknown
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

function sendRefusal(log: MonitorDeps['log'], { error, request, reply }: Refused): FastifyReply {
  const failure = { faultNames: {}, requestId: request.id, unavailable: isUnavailable }
  const { code, message, retryAfter } = toFailure(error, failure)
  if (code === 'internal') log.error({ err: error, reqId: request.id }, 'a page for operators failed')
  if (code === 'unauthenticated' && request.routeOptions.url === METRICS) reply.header('www-authenticate', BY_TOKEN)
  if (retryAfter !== undefined) reply.header('retry-after', String(Math.ceil(retryAfter)))
  return reply
    .code(STATUSES[code])
    .type(HTML)
    .send(messagePage(frameOf(request), message))
}
