import swagger, { type SwaggerTransform } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyContextConfig, FastifyInstance, FastifySchema } from 'fastify'
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { z } from 'zod'
import manifest from '../../../package.json' with { type: 'json' }
import type { Config } from '../../app/config.ts'
import type { ErrorCode } from '../../domain/errors.ts'
import { type Style, urlOf } from '../style.ts'
import { type Document, FACTS, type Facts, finish } from './finish.ts'
import { introductionOf } from './introduction.ts'
import { overrideOf } from './jsonSchema.ts'
import { refusalResponses } from './refusals.ts'

/**
 * Content policy of the reference: it loads only its own files. Scripts set part of its styles, hence inline styles.
 */
const CONTENT_POLICY = {
  'default-src': ["'self'"],
  'style-src': ["'self'", "'unsafe-inline'"],
  'img-src': ["'self'", 'data:'],
  'base-uri': ["'none'"],
  'object-src': ["'none'"],
  'frame-ancestors': ["'none'"],
}

/** The group of the operations that every style has. */
const HEALTH = { name: 'health', description: 'Whether the service is up. No token is needed.' }

/** The header that every POST accepts (contract 1.11). */
const IDEMPOTENCY_HEADER = {
  'Idempotency-Key': {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    pattern: '^[\\x21-\\x7E]([\\x20-\\x7E]*[\\x21-\\x7E])?$',
    description:
      'The same request with the same key within 30 days gets the stored answer. With another request the key is refused; a refused request does not burn it.',
  },
}

/**
 * Adds `/openapi.json` and `/docs` of one style. The document has every route that is added to `scope` afterwards, with
 * the refusals that follow from its schema and those of its `config.refusals`.
 */
export async function addDocument(scope: FastifyInstance, style: Style, prefix: string, config: Config) {
  const override = overrideOf(style)
  const names = { schemaRegistry: style.registry, zodToJsonConfig: { override } }
  const addComponents = createJsonSchemaTransformObject(names)
  await scope.register(swagger, {
    openapi: headOf(style, config),
    transform: describeRoute(style, prefix, config, createJsonSchemaTransform(names)),
    transformObject: (input) => finish(style, addComponents(input) as Document),
  })
  scope.get('/openapi.json', { schema: { hide: true }, config: { public: true }, logLevel: 'warn' }, () =>
    scope.swagger(),
  )
  await addReference(scope, style, prefix)
}

/** Returns the parts of a style's document that are not about its routes. */
const headOf = (style: Style, config: Config) => ({
  openapi: '3.1.0',
  info: {
    title: style.title,
    description: introductionOf(style, config),
    version: manifest.version,
    contact: { name: 'The operator of this service', url: urlOf(config, style.name) },
    license: { name: manifest.license, identifier: manifest.license },
  },
  servers: [{ url: urlOf(config, style.name) }, { url: '/', description: 'The host that served this document' }],
  security: [{ bearer: [] }],
  tags: [...style.tags, HEALTH],
  components: {
    securitySchemes: {
      bearer: {
        type: 'http' as const,
        scheme: 'bearer',
        description: style.bearer ?? 'The token that GET /v1/auth/token answers.',
      },
      ...(style.name === 'auth' && {
        basic: { type: 'http' as const, scheme: 'basic', description: 'E-mail and password.' },
      }),
    },
  },
})

/** Returns a transform that adds to a route's schema its refusals, headers and examples. */
const describeRoute =
  (style: Style, prefix: string, config: Config, transform: SwaggerTransform): SwaggerTransform =>
  (input) => {
    const { schema = {}, url } = transform({ ...input, schema: input.schema ?? {} })
    const { config: route = {}, method } = input.route as { config?: FastifyContextConfig; method: string | string[] }
    const responses = (schema as { response?: object }).response ?? { 200: { description: 'Done.', type: 'object' } }
    const methods = [method].flat()
    const path = url.slice(prefix.length)
    const codes = codesOf(style, input.schema ?? {}, route, methods)
    const { explained } = route
    const refusals = refusalResponses(style, { path, schema: input.schema ?? {}, codes, explained, config })
    const documented = {
      ...(route.public && { security: [] }),
      [FACTS]: factsOf(input.schema ?? {}, route, methods),
      ...schema,
      ...(route.role && markedFor(route.role, schema)),
      ...(!route.public && headersOf(style, takesKey(route, methods))),
      response: { ...answersOf(responses, route.examples), ...refusals },
    }
    return { schema: documented, url: path }
  }

/** Adds the reference at `/docs`. */
async function addReference(scope: FastifyInstance, style: Style, prefix: string): Promise<void> {
  await scope.register(async (docs) => {
    // The browser does not know the prefix, and a redirect of the reference would reveal it.
    docs.addHook('onSend', async (_request, reply, payload) => {
      const location = reply.getHeader('location')
      if (typeof location === 'string' && location.startsWith(prefix))
        reply.header('location', location.slice(prefix.length))
      return payload
    })
    await docs.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: CONTENT_POLICY,
      theme: { title: style.title },
      logo: { type: 'image/svg+xml', content: '' },
      // Without the bar on top, which takes another document's URL.
      uiConfig: { layout: 'BaseLayout', deepLinking: true },
      logLevel: 'warn',
    })
  })
}

/** Returns the answers of a route, the first of them with the examples that the route names. */
function answersOf(responses: object, examples: FastifyContextConfig['examples']): object {
  const [[status, schema] = []] = Object.entries(responses)
  if (status === undefined || examples === undefined) return responses
  const named = Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]))
  const content = { 'application/json': { schema, examples: named } }
  return { ...responses, [status]: { description: 'Done.', content } }
}

/** Marks an operation that needs a role: a sentence for people, and a member for programs. */
const markedFor = (role: string, { description = '' }: FastifySchema) => ({
  description: `**${role} only.** ${description}`.trim(),
  'x-required-role': role,
})

const factsOf = ({ body }: FastifySchema, route: FastifyContextConfig, methods: readonly string[]): Facts => ({
  optionalBody: body instanceof z.ZodOptional,
  limited: !route.vital,
  takesKey: !route.public && takesKey(route, methods),
  prefilled: route.prefilled ?? {},
})

const takesKey = (route: FastifyContextConfig, methods: readonly string[]): boolean =>
  methods.includes('POST') && !route.changesNothing

/** Returns the headers that an operation reads. */
function headersOf({ requestHeaders = {} }: Style, withKey: boolean) {
  const properties = { ...requestHeaders, ...(withKey && IDEMPOTENCY_HEADER) }
  return Object.keys(properties).length > 0 && { headers: { type: 'object', properties } }
}

/** Returns the codes that a route can refuse with: those it names, and those that follow from its schema. */
function codesOf(
  style: Style,
  schema: FastifySchema,
  route: FastifyContextConfig,
  methods: readonly string[],
): Set<ErrorCode> {
  const codes = new Set<ErrorCode>(route.refusals)
  if (route.role) codes.add('permission_denied')
  const takesBody = schema.body !== undefined
  if (takesBody || schema.querystring !== undefined) codes.add('invalid_argument')
  if (takesBody) codes.add('payload_too_large').add('unsupported_media_type')
  if (schema.params !== undefined) codes.add('not_found')
  if (!route.public) {
    const ofAll: readonly ErrorCode[] = ['unauthenticated', 'resource_exhausted', 'unavailable']
    for (const code of [...ofAll, ...(style.refusals ?? [])]) codes.add(code)
    // While the first request under an Idempotency-Key is still running.
    if (takesKey(route, methods)) codes.add('aborted')
  }
  return codes.add('internal')
}
