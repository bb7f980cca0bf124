import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import { toFailure } from '../api/http/failure.ts'
import { STATUSES } from '../api/http/statuses.ts'
import type { Deps } from '../app/deps.ts'
import { isUnavailable } from '../db/postgres/errors.ts'
import type { ErrorCode } from '../domain/errors.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Totals } from '../services/book/totals.ts'
import { knowsHost, requireMetricsToken } from './callers.ts'
import { bookPage } from './pages/book.ts'
import { loanPage } from './pages/loan.ts'
import { messagePage } from './pages/page.ts'
import { style } from './pages/style.ts'
import { type TrialBalanceQuery, trialBalancePage } from './pages/trialBalance.ts'
import { addPortfolioPages } from './portfolioRoutes.ts'
import type { Recent } from './recent.ts'
import { signInOperators } from './signedIn.ts'

/** The parts that the operators' port shows. */
export interface MonitorDeps {
  readonly deps: Deps
  readonly metrics: Pick<Metrics, 'page'>
  readonly recent: Recent
  readonly totals: Pick<Totals, 'latest'>
  readonly log: { error(context: object, message: string): void }
}

/** Headers of every page: pages load only their own style, run no script and send nothing elsewhere. */
const HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
}

/** RFC 9110 15.5.20: the request came to a server that does not answer for this host. */
const MISDIRECTED = 421
const METRICS = '/metrics'
/** Challenges for a client that was refused (RFC 9110 11.6.1). */
const BY_TOKEN = 'Bearer realm="Mkopo metrics"'
const BY_PASSWORD = 'Basic realm="Mkopo operators", charset="UTF-8"'
const HTML = 'text/html; charset=utf-8'

/**
 * Builds the app of the operators' port: metrics for Prometheus, and read-only pages of the book of the operator's
 * organization, after a sign-in. It never listens on the public port.
 */
export function buildMonitor({ deps, metrics, recent, totals, log }: MonitorDeps): FastifyInstance {
  const app = Fastify({ trustProxy: false, forceCloseConnections: true })
  const signedIn = signInOperators(deps)
  const isKnown = knowsHost(deps.config)

  app.addHook('onRequest', async (request, reply) => {
    reply.headers(HEADERS)
    if (!isKnown(request.headers.host))
      return reply
        .code(MISDIRECTED)
        .type(HTML)
        .send(
          messagePage(
            'This port does not answer for that host name: call it by an address, or add the name to OPS_NAMES.',
          ),
        )
  })

  app.get(METRICS, async (request, reply) => {
    requireMetricsToken(deps.config, request.headers.authorization)
    const { type, text } = await metrics.page()
    return reply.type(type).send(text)
  })

  app.get('/style.css', (_request, reply) => reply.header('cache-control', 'max-age=3600').type('text/css').send(style))

  app.get('/', async (request, reply) => {
    const { organizationId } = await signedIn(request.headers.authorization, request.ip)
    const page = await bookPage(deps, organizationId, { recent, totals })
    return reply.type(HTML).send(page)
  })

  // For the form on the page of the book.
  app.get<{ Querystring: { id?: unknown } }>('/loans', (request, reply) => {
    const { id } = request.query
    if (typeof id !== 'string' || id.trim() === '') return sendRefusal(reply, 'not_found', 'There is no such page.')
    return reply.redirect(`/loans/${encodeURIComponent(id.trim())}`, 303)
  })

  app.get<{ Params: { id: string } }>('/loans/:id', async (request, reply) => {
    const operator = await signedIn(request.headers.authorization, request.ip)
    const page = await loanPage(deps, { ...operator, requestId: request.id }, request.params.id)
    return reply.type(HTML).send(page)
  })

  app.get<{ Querystring: TrialBalanceQuery }>('/trial-balance', async (request, reply) => {
    const operator = await signedIn(request.headers.authorization, request.ip)
    const page = await trialBalancePage(deps, { ...operator, requestId: request.id }, request.query)
    return reply.type(HTML).send(page)
  })

  addPortfolioPages(app, deps, signedIn)

  app.setNotFoundHandler((_request, reply) => sendRefusal(reply, 'not_found', 'There is no such page.'))
  app.setErrorHandler((error, request, reply) => {
    const { code, message, retryAfter } = toFailure(error, {
      faultNames: {},
      requestId: request.id,
      unavailable: isUnavailable,
    })
    if (code === 'internal') log.error({ err: error, reqId: request.id }, 'a page for operators failed')
    if (code === 'unauthenticated')
      reply.header('www-authenticate', request.routeOptions.url === METRICS ? BY_TOKEN : BY_PASSWORD)
    if (retryAfter !== undefined) reply.header('retry-after', String(Math.ceil(retryAfter)))
    return sendRefusal(reply, code, message)
  })
  return app
}

const sendRefusal = (reply: FastifyReply, code: ErrorCode, message: string) =>
  reply.code(STATUSES[code]).type(HTML).send(messagePage(message))
