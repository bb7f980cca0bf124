import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import { authStyle } from '../api/auth/index.ts'
import { compressAnswers } from '../api/body/compress.ts'
import { logAnswers } from '../api/http/accessLog.ts'
import { schemaController } from '../api/http/compilers.ts'
import { secureHeaders } from '../api/http/failure.ts'
import { refuseHandedOver } from '../api/http/handedOver.ts'
import { MAX_PARAM_LENGTH } from '../api/http/hosts.ts'
import { answerMalformed, answerUnrouted, ignoreExpectations } from '../api/http/malformed.ts'
import { mountStyles } from '../api/http/mount.ts'
import { answerRequestIds, requestIdOf } from '../api/http/request.ts'
import type { Readiness } from '../api/http/withoutToken.ts'
import { connectionOptions, type LimitOptions, limitRequests } from '../api/limits/limits.ts'
import { unguarded } from '../api/limits/overload.ts'
import { takeTurns } from '../api/limits/turns.ts'
import { toEvent as toPartnerEvent } from '../api/partner/events/events.wire.ts'
import { partnerStyle } from '../api/partner/index.ts'
import { toEvent as toRecordEvent } from '../api/record/events/events.wire.ts'
import { recordStyle } from '../api/record/index.ts'
import { type Style, urlOf } from '../api/style.ts'
import { isWorthRepeating } from '../db/postgres/errors.ts'
import type { Deps } from '../services/deps.ts'
import type { Render } from '../services/webhooks/delivery.ts'
import { hostOf } from './config.ts'
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
  /** What readiness says in place of this, where there are several books. */
  readonly readiness?: Pick<Readiness, 'ready' | 'trouble' | 'books'>
}

export const BODY_LIMIT = 1024 * 1024

/**
 * Builds the whole service, ready to listen or to be injected into. A request passes the hooks in the order in which they
 * are added here, then those of its style.
 * @throws ConfigError for a `TRUST_PROXY` that is not understood
 */
export async function buildApp(deps: Deps, options: AppOptions = {}): Promise<FastifyInstance> {
  const { config, listener } = deps
  const { styles = [authStyle, partnerStyle, recordStyle], unavailable = isWorthRepeating, guard = unguarded } = options
  const ready = options.ready ?? (async () => (await deps.db.pool.query('select 1')).rowCount === 1)
  const fallback = styles.find(({ name }) => name === 'partner') ?? styles[0]!
  const trusts = trustOf(config.trustProxy)

  const app: FastifyInstance = Fastify({
    ...(options.logger && { loggerInstance: options.logger }),
    logController: new LogController({ disableRequestLogging: true }),
    ...connectionOptions(config),
    schemaController,
    bodyLimit: BODY_LIMIT,
    trustProxy: trusts,
    // A request on an open connection during a stop is served, not refused.
    return503OnClosing: false,
    genReqId: requestIdOf,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH, caseSensitive: true },
    rewriteUrl: (request) => chooseStyle(request),
    clientErrorHandler: answerMalformed(fallback),
    frameworkErrors: answerUnrouted({ styles, fallback, listener, unavailable }),
  })

  ignoreExpectations(app)
  answerRequestIds(app)
  logAnswers(app, listener)
  secureHeaders(app, { https: config.baseUrl.startsWith('https:') })
  if (config.books.length > 0) refuseHandedOver(app)
  limitRequests(app, deps, options)
  takeTurns(app)
  compressAnswers(app)
  const readiness = { ready, stopping: guard.stopping, trouble: guard.trouble, ...options.readiness }
  const hostOfStyle = ({ name }: Style) => hostOf(urlOf(config, name))
  const port = { styles, fallback, hostOf: hostOfStyle, trusts }
  const chooseStyle = mountStyles(app, port, { deps, readiness, unavailable })

  await app.ready()
  return app
}

/** Returns what writes an event in the words of each style. */
export const renderEvents = (zone: string): Render => ({
  partner: (event, organization) => toPartnerEvent(event, organization, zone),
  record: (event, organization) => toRecordEvent(event, organization, zone),
})
