import swagger, { type SwaggerTransform, type SwaggerTransformObject } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyContextConfig, FastifyInstance, FastifySchema } from 'fastify'
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { z } from 'zod'
import manifest from '../../../package.json' with { type: 'json' }
import type { Config } from '../../app/config.ts'
import type { ErrorCode } from '../../domain/errors.ts'
import { type Style, urlOf } from '../style.ts'
import { failureSchema, refusalResponses } from './refusals.ts'

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

/** The header that every POST accepts (contract 1.11). */
const IDEMPOTENCY_HEADER = {
  'Idempotency-Key': {
    type: 'string',
    maxLength: 255,
    description:
      'The same request with the same key within 30 days gets the stored answer. With another request the key is refused; a refused request does not burn it.',
  },
}

/** A document of OpenAPI 3.1, as far as this module changes it. */
type Document = ReturnType<SwaggerTransformObject> & { components: { schemas: Record<string, object> } }

type Operation = { [OPTIONAL_BODY]?: boolean; requestBody?: { required: boolean } }

/** Marks an operation whose body may be left out, for the generator, which takes every body to be required. */
const OPTIONAL_BODY = 'x-optional-body'

/**
 * Returns an override that adds to a JSON schema its `.meta()` and the entry of the style's registry, of which the
 * provider reads only the names.
 */
const overrideOf =
  ({ registry }: Style): NonNullable<z.core.ToJSONSchemaParams['override']> =>
  ({ zodSchema, jsonSchema }) => {
    const { id: _, ...meta } = z.globalRegistry.get(zodSchema) ?? {}
    const { id: __, ...named } = registry.get(zodSchema) ?? {}
    Object.assign(jsonSchema, meta, '$ref' in jsonSchema ? {} : named)
    // A client has to accept members that a later version adds to an answer; only a strict object is closed.
    const { def } = zodSchema._zod
    if (def.type === 'object' && (def as z.core.$ZodObjectDef).catchall === undefined)
      delete jsonSchema.additionalProperties
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
  info: { title: style.title, description: describe(style), version: manifest.version },
  servers: [{ url: urlOf(config, style.name) }, { url: '/', description: 'The host that served this document' }],
  security: [{ bearer: [] }],
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
      ...(input.schema?.body instanceof z.ZodOptional && { [OPTIONAL_BODY]: true }),
      ...schema,
      ...(route.role && markedFor(route.role, schema)),
      ...(!route.public && headersOf(style, takesKey(route, methods))),
      response: { ...answersOf(responses, route.examples), ...refusals },
    }
    return { schema: documented, url: path }
  }

/** Finishes a document: the schema of a refusal, the optional bodies and the names of schemas. */
function finish(style: Style, document: Document) {
  document.components.schemas.Failure = failureSchema(style)
  for (const operation of Object.values(document.paths ?? {}).flatMap((path) => Object.values(path) as Operation[])) {
    if (operation[OPTIONAL_BODY] && operation.requestBody) operation.requestBody.required = false
    delete operation[OPTIONAL_BODY]
  }
  return tidied(document)
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

const describe = ({ description, headers = {} }: Style) => {
  const always = Object.entries(headers).map(([name, value]) => ` It also carries \`${name}: ${value}\`.`)
  return `${description}\n\nEvery answer carries \`x-request-id\`, the one you sent or a new one: quote it when you ask about an answer.${always.join('')}`
}

/** Marks an operation that needs a role: a sentence for people, and a member for programs. */
const markedFor = (role: string, { description = '' }: FastifySchema) => ({
  description: `**${role} only.** ${description}`.trim(),
  'x-required-role': role,
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

/**
 * Removes schemas that nothing refers to, and names a schema that only requests use without `Input`. The generator
 * emits every named schema twice, as input (`…Input`) and as output.
 */
function tidied(document: Document): Document {
  const schemas = document.components.schemas
  for (let size = -1; size !== Object.keys(schemas).length; ) {
    size = Object.keys(schemas).length
    const text = JSON.stringify(document)
    for (const name of Object.keys(schemas)) if (!text.includes(`"#/components/schemas/${name}"`)) delete schemas[name]
  }
  let text = JSON.stringify(document).replaceAll('"Default Response"', '"Done."')
  for (const name of Object.keys(schemas)) {
    const plain = name.replace(/Input$/, '')
    if (plain === name || plain in schemas) continue
    text = text
      .replaceAll(`"#/components/schemas/${name}"`, `"#/components/schemas/${plain}"`)
      .replace(`"${name}":`, `"${plain}":`)
  }
  return JSON.parse(text)
}
