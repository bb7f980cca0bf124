import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { Config } from '../../app/config.ts'
import { LendingError, notFound } from '../../domain/errors.ts'
import type { Deps } from '../../services/deps.ts'
import { acceptJson, InvalidRequest, refuseEncodings } from '../body/json.ts'
import { addDocument } from '../openapi/openapi.ts'
import { requirePermissions } from '../permissions.ts'
import { hintOf, prefixOf, type Style } from '../style.ts'
import { logFailure, MALFORMED_URL, STATUSES, sendFailure, toFailure } from './failure.ts'
import { chooseStyle, Paths, type Trust } from './hosts.ts'
import { toCaller } from './request.ts'
import { addHealth, addHome, bookStatesSchema, healthSchema, type Readiness } from './withoutToken.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Returns the status and the body by which the style refuses a part of a request, and logs an error of the service. */
    answerTo(error: unknown, request: FastifyRequest): { readonly status: number; readonly body: object }
  }
}

const NO_QUERY = z.strictObject({})

/** The parts that every style is mounted with. */
interface Mounting {
  readonly deps: Deps
  readonly readiness: Readiness
  /** Returns whether an error means that the database cannot be reached or takes no changes. */
  readonly unavailable: (error: unknown) => boolean
}

/** The styles of a port. */
interface Styles {
  readonly styles: readonly Style[]
  /** The style whose words answer where no style is served. */
  readonly fallback: Style
  /** Returns the host that a style is called by: lower case, no port. */
  readonly hostOf: (style: Style) => string
  /** Returns whether a peer may name the host that a client called. */
  readonly trusts: Trust
}

/**
 * Mounts the styles of a port, and the answers for hosts that no setting names.
 * @returns a function from a request to its target inside the router, to be called once the app is ready
 */
export function mountStyles(
  app: FastifyInstance,
  { styles, fallback, hostOf, trusts }: Styles,
  mounting: Mounting,
): ReturnType<typeof chooseStyle> {
  const mounted = styles.map((style) => ({ style, host: hostOf(style), paths: mountStyle(app, style, mounting) }))
  mountNothing(app, fallback, mounting)
  return chooseStyle(mounted, mounting.deps.config.fallbackStyle, trusts)
}

/**
 * Mounts a style under its prefix, apart from the others: its errors, its 404, its document and its routes.
 * @returns the paths that the style serves, known once the app is ready
 */
function mountStyle(app: FastifyInstance, style: Style, { deps, readiness, unavailable }: Mounting): Paths {
  const paths = new Paths()
  const prefix = prefixOf(style.name)
  app.register(
    async (scope) => {
      scope.addHook('onRoute', (route) => {
        const path = route.url.slice(prefix.length) || '/'
        paths.add(path, route.method)
        // A route without a query schema refuses any query: a token in one must not be ignored.
        if (path.startsWith('/v1/')) route.schema = { querystring: NO_QUERY, ...route.schema }
      })
      speak(scope, style, { unavailable, config: deps.config, prefix }, paths)
      style.registry.add(bookStatesSchema, {
        id: 'BookStates',
        examples: [{ first: 'ok', second: 'the database is gone' }],
      })
      style.registry.add(healthSchema, { id: 'Health', examples: [{ status: 'ok' }] })
      await addDocument(scope, style, prefix, deps)
      addHome(scope, style, deps.config)
      addHealth(scope, readiness)
      // A scope of their own, so that the hooks of the routes (which require a token) do not apply to the documents and
      // health.
      scope.register(async (routes) => {
        requirePermissions(routes)
        await style.routes(routes.withTypeProvider<ZodTypeProvider>(), deps)
      })
      scope.register(async (routes) => style.secretRoutes?.(routes, deps))
    },
    { prefix },
  )
  return paths
}

/**
 * Mounts the answers for a host that no setting names, where no style is to be served: health, and 404 for the rest.
 */
function mountNothing(app: FastifyInstance, style: Style, { deps, readiness, unavailable }: Mounting) {
  app.register(
    async (scope) => {
      speak(scope, style, { unavailable, config: deps.config, prefix: prefixOf('none') })
      addHealth(scope, readiness)
    },
    { prefix: prefixOf('none') },
  )
}

/** The parts that the errors of a style are made with. */
interface Speaking extends Pick<Mounting, 'unavailable'> {
  readonly config: Config
  readonly prefix: string
}

function speak(scope: FastifyInstance, style: Style, { unavailable, config, prefix }: Speaking, paths?: Paths) {
  acceptJson(scope)
  refuseEncodings(scope)

  scope.addHook('onRequest', (request, reply, done) => {
    if (style.headers !== undefined) reply.headers(style.headers)
    const wrong = wrongInHead(request)
    if (wrong !== undefined) return done(new InvalidRequest(wrong))
    done(hasEmptyStep(request) ? noSuchPath(request, paths) : undefined)
  })

  const fail = (error: unknown, request: FastifyRequest) => {
    const hint = hintOf(style, config, (request.routeOptions.url ?? '').slice(prefix.length))
    return toFailure(error, { faultNames: style.faultNames, requestId: toCaller(request.id), unavailable, hint })
  }

  scope.decorate('answerTo', (error: unknown, request: FastifyRequest) => {
    const failure = fail(error, request)
    logFailure(failure, error, request)
    return { status: STATUSES[failure.code], body: style.failureBody(failure) }
  })

  const answerWithoutRoute = (request: FastifyRequest, reply: FastifyReply) => {
    const methods = allowedOn(request, paths)
    const isWrongMethod = methods.length > 0 && !methods.includes(request.method)
    if (isWrongMethod) reply.header('allow', [...methods, 'OPTIONS'].join(', '))
    if (isWrongMethod && request.method === 'OPTIONS') return reply.code(204).send()
    const error = isWrongMethod ? wrongMethod(request, methods) : noSuchPath(request, paths)
    return sendFailure(style, fail(error, request), error, request, reply)
  }

  scope.setErrorHandler((error, request, reply) =>
    isBareQuery(error)
      ? answerWithoutRoute(request, reply)
      : sendFailure(style, fail(error, request), error, request, reply),
  )

  scope.setNotFoundHandler(answerWithoutRoute)
}

/**
 * Returns whether Fastify refused a request of the method QUERY because it has no content type. Fastify does so before
 * it looks at the route, and no path takes that method.
 */
const isBareQuery = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE'

/**
 * Returns the fault in the head of a request that Node and the router accept but that is not allowed. Node's own
 * refusals would have neither a body nor a request id.
 */
function wrongInHead({ raw, url }: FastifyRequest): string | undefined {
  // RFC 9112 3.2: a proxy before the service may have used the other Host header.
  const isHost = (name: string, index: number) => name.length === 4 && index % 2 === 0 && /^host$/i.test(name)
  const hosts = raw.rawHeaders.filter(isHost).length
  if (hosts === 0 && raw.httpVersion === '1.1') return 'the Host header is missing'
  if (hosts > 1) return 'the Host header is given twice'
  return isQueryMalformed(url) ? MALFORMED_URL : undefined
}

/** Returns whether a query cannot be decoded. The router refuses such a path, but reads such a query undecoded. */
function isQueryMalformed(url: string): boolean {
  const at = url.indexOf('?')
  if (at === -1) return false
  try {
    decodeURIComponent(url.slice(at))
    return false
  } catch {
    return true
  }
}

/** Returns the path that was called, without the prefix of its style and without its query. */
function pathOf({ url }: FastifyRequest): string {
  const start = url.indexOf('/', 1)
  const query = url.indexOf('?', start)
  return query === -1 ? url.slice(start) : url.slice(start, query)
}

/**
 * Returns whether a step of the path is empty, as in `/v1/loans/` and `/v1/loans//repayments`: the router would take it
 * for an empty id.
 */
function hasEmptyStep(request: FastifyRequest): boolean {
  const path = pathOf(request)
  return path.startsWith('/v1/') && (path.endsWith('/') || path.includes('//'))
}

/** Returns the methods that the path takes; none when there is no such path. */
const allowedOn = (request: FastifyRequest, paths: Paths | undefined): readonly string[] =>
  hasEmptyStep(request) ? [] : (paths?.methodsOf(pathOf(request)) ?? [])

const LONGEST_SHOWN = 200

/** Returns paths that a caller may have meant: under `/v1`, and with the first noun in the plural, or in lower case. */
function nearPathsOf(path: string): string[] {
  const versioned = path.toLowerCase().startsWith('/v1/') ? path : `/v1${path}`
  const [, , noun = '', ...rest] = versioned.split('/')
  const nouns = [noun, `${noun}s`, noun.toLowerCase(), `${noun.toLowerCase()}s`]
  return nouns.map((one) => ['/v1', one, ...rest].join('/')).filter((one) => one !== path)
}

function noSuchPath(request: FastifyRequest, paths: Paths | undefined): LendingError {
  const path = pathOf(request)
  const plain = path.replace(/\/+$/, '')
  const isThere = (one: string) => (paths?.methodsOf(one) ?? []).length > 0
  const meant = nearPathsOf(plain).find(isThere)?.slice(0, LONGEST_SHOWN)
  const isSlash = plain !== path && isThere(plain)
  const hint = isSlash ? '; leave out the slash at its end' : meant === undefined ? '' : `; did you mean ${meant}?`
  return notFound(`no such path: ${request.method} ${path.slice(0, LONGEST_SHOWN)}${hint}`)
}

const wrongMethod = ({ method }: FastifyRequest, allowed: readonly string[]): LendingError =>
  new LendingError(
    'method_not_allowed',
    `the path does not take ${method}; it takes ${allowed.filter((one) => one !== 'HEAD').join(', ')}`,
  )
