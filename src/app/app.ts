import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import { authStyle } from '../api/auth/index.ts'
import { compressAnswers } from '../api/body/compress.ts'
import { logAnswers, logUnrouted } from '../api/http/accessLog.ts'
import { sendFailure, toFailure } from '../api/http/failure.ts'
import { secureHeaders } from '../api/http/headers.ts'
import { chooseStyle, MAX_PARAM_LENGTH } from '../api/http/hosts.ts'
import { answerMalformed } from '../api/http/malformed.ts'
import { mountNothing, mountStyle } from '../api/http/mount.ts'
import { requestIdOf, toCaller } from '../api/http/requestId.ts'
import { connectionOptions, type LimitOptions, limitRequests } from '../api/limits/limits.ts'
import { unguarded } from '../api/limits/overload.ts'
import { takeTurns } from '../api/limits/turns.ts'
import { partnerStyle } from '../api/partner/index.ts'
import { recordStyle } from '../api/record/index.ts'
import { prefixOf, type Style, urlOf } from '../api/style.ts'
import { isUnavailable } from '../db/postgres/errors.ts'
import { hostOf } from './config.ts'
import type { Deps } from './deps.ts'
import { trustOf } from './trust.ts'

export interface AppOptions extends LimitOptions {
  /** Logs the requests; without a logger, nothing is logged. */
  readonly logger?: FastifyBaseLogger
  /**
   * Returns whether an error means that the database cannot be reached or takes no changes; decided by the database's
   * errors when left out.
   */
  readonly unavailable?: (error: unknown) => boolean
  /** Returns whether the database answers; by `select 1` when left out. */
  readonly ready?: () => Promise<boolean>
  readonly styles?: readonly Style[]
}

const BODY_LIMIT = 1024 * 1024

/**
 * Builds the whole service, ready to listen or to be injected into.
 * @throws ConfigError for a `TRUST_PROXY` that is not understood
 */
export async function buildApp(deps: Deps, options: AppOptions = {}): Promise<FastifyInstance> {
  const { styles = [authStyle, partnerStyle, recordStyle], unavailable = isUnavailable, guard = unguarded } = options
  const ready = options.ready ?? (async () => (await deps.db.pool.query('select 1')).rowCount === 1)
  const fallback = styles.find(({ name }) => name === 'partner') ?? styles[0]!
  const trusts = trustOf(deps.config.trustProxy)

  const app: FastifyInstance = Fastify({
    ...(options.logger && { loggerInstance: options.logger }),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestIdOf,
    bodyLimit: BODY_LIMIT,
    ...connectionOptions(deps.config),
    trustProxy: trusts,
    // A request on an open connection during a stop is served, not refused.
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH, caseSensitive: true },
    rewriteUrl: (request) => choose(request),
    clientErrorHandler: answerMalformed(fallback),
    frameworkErrors: (error, request, reply) => {
      const style = styles.find(({ name }) => request.url.startsWith(`${prefixOf(name)}/`)) ?? fallback
      reply.header('x-request-id', toCaller(request.id))
      const requestId = toCaller(request.id)
      const failure = toFailure(error, { faultNames: style.faultNames, requestId, unavailable })
      logUnrouted(deps.listener, request, reply)
      sendFailure(style, failure, error, request, reply)
    },
  })
  // An expectation other than 100-continue may be ignored (RFC 9110 10.1.1); Node's own 417 has no request id.
  app.server.on('checkExpectation', (request, response) => app.routing(request, response))

  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', toCaller(request.id))
    done()
  })
  logAnswers(app, deps.listener)
  secureHeaders(app, { https: deps.config.baseUrl.startsWith('https:') })
  limitRequests(app, deps, options)
  takeTurns(app)
  compressAnswers(app)

  const readiness = { ready, stopping: guard.stopping, trouble: guard.trouble }
  const mounting = { deps, readiness, unavailable }
  const mounted = styles.map((style) => ({
    style,
    host: hostOf(urlOf(deps.config, style.name)),
    paths: mountStyle(app, style, mounting),
  }))
  const choose = chooseStyle(mounted, deps.config.fallbackStyle, trusts)
  mountNothing(app, fallback, mounting)
  await app.ready()
  return app
}
