import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { Deps } from '../deps.ts'
import { notFound } from '../domain/errors.ts'
import { MALFORMED_URL, sendFailure, toFailure } from './failure.ts'
import { addHealth } from './health.ts'
import { Paths } from './hosts.ts'
import { InvalidRequest } from './invalidRequest.ts'
import { acceptJson, refuseEncodings } from './json.ts'
import { addDocument } from './openapi.ts'
import { prefixOf, type Style } from './style.ts'
import { validatorCompiler } from './validation.ts'

const NO_QUERY = z.strictObject({})

/** What every style is mounted with. */
export interface Mounting {
  readonly deps: Deps
  /** Whether the database answers. */
  readonly ready: () => Promise<boolean>
  /** Whether a stop has begun. */
  readonly stopping: () => boolean
  /** Whether an error means that it cannot be reached. */
  readonly unavailable: (error: unknown) => boolean
}

/**
 * Mounts a style under its prefix, closed off from the others: its error words, its 404, its document, its routes.
 * @returns the paths it serves, known once the app is ready
 */
export function mountStyle(
  app: FastifyInstance,
  style: Style,
  { deps, ready, stopping, unavailable }: Mounting,
): Paths {
  const paths = new Paths()
  const prefix = prefixOf(style.name)
  app.register(
    async (scope) => {
      scope.addHook('onRoute', (route) => {
        const path = route.url.slice(prefix.length) || '/'
        paths.add(path, route.method)
        // A route that takes no query refuses whatever is in one: a token there must not silently be none.
        if (path.startsWith('/v1/')) route.schema = { querystring: NO_QUERY, ...route.schema }
      })
      speak(scope, style, unavailable, paths)
      await addDocument(scope, style, prefix, deps.config)
      addHealth(scope, ready, stopping)
      // In a scope of their own, so that their hooks (who is calling?) do not reach the documents and health.
      scope.register(async (routes) => style.routes(routes.withTypeProvider<ZodTypeProvider>(), deps))
    },
    { prefix },
  )
  return paths
}

/** What answers on a host that no setting names, where none is to be served: health, and 404 for the rest. */
export function mountNothing(app: FastifyInstance, words: Style, { ready, stopping, unavailable }: Mounting) {
  app.register(
    async (scope) => {
      speak(scope, words, unavailable)
      addHealth(scope, ready, stopping)
    },
    { prefix: prefixOf('none') },
  )
}

function speak(scope: FastifyInstance, style: Style, unavailable: Mounting['unavailable'], paths?: Paths) {
  scope.setValidatorCompiler(validatorCompiler)
  // The schemas of answers are documentation: the views that make them are typed, and zod costs more than they do.
  scope.setSerializerCompiler(() => JSON.stringify)
  acceptJson(scope)
  refuseEncodings(scope)

  scope.addHook('onRequest', (request, reply, done) => {
    if (style.headers !== undefined) reply.headers(style.headers)
    const wrong = wrongInHead(request)
    done(wrong === undefined ? undefined : new InvalidRequest(wrong))
  })

  const fail = (error: unknown, request: FastifyRequest) =>
    toFailure(error, { fieldNames: style.fieldNames, requestId: request.id, unavailable })

  scope.setErrorHandler((error, request, reply) => sendFailure(style, fail(error, request), error, request, reply))

  scope.setNotFoundHandler((request, reply) => {
    const error = notFound(noSuchPath(request, paths))
    return sendFailure(style, fail(error, request), error, request, reply)
  })
}

/** What Node and the router take that no request may be; Node's own refusals have neither a body nor a request id. */
function wrongInHead({ raw, url }: FastifyRequest): string | undefined {
  // RFC 9112 3.2: of two, one that stands before us may have gone by the other.
  const isHost = (name: string, index: number) => name.length === 4 && index % 2 === 0 && /^host$/i.test(name)
  const hosts = raw.rawHeaders.filter(isHost).length
  if (hosts === 0 && raw.httpVersion === '1.1') return 'the Host header is missing'
  if (hosts > 1) return 'the Host header is given twice'
  return isQueryMalformed(url) ? MALFORMED_URL : undefined
}

/** The router refuses such a path; a query it would take as it stands, and find nothing by it. */
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

function noSuchPath(request: FastifyRequest, paths: Paths | undefined): string {
  const path = request.url.slice(request.url.indexOf('/', 1))
  const [shown = ''] = path.slice(0, 200).split('?')
  const methods = paths?.methodsOf(path) ?? []
  const others = methods.includes(request.method) ? [] : methods.filter((method) => method !== 'HEAD')
  return `no such path: ${request.method} ${shown}${others.length > 0 ? ` (it takes ${others.join(', ')})` : ''}`
}
