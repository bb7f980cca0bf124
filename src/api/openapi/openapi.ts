import swagger, { type SwaggerTransform } from '@fastify/swagger'
import type { FastifyContextConfig, FastifyInstance, FastifySchema } from 'fastify'
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { z } from 'zod'
import manifest from '../../../package.json' with { type: 'json' }
import type { Config } from '../../app/config.ts'
import {
  BUILT_IN_ROLES,
  hasPermission,
  type Permission,
  permissionsNeeded,
  rolesWith,
} from '../../domain/access/permissions.ts'
import type { ErrorCode } from '../../domain/errors.ts'
import type { Deps } from '../../services/deps.ts'
import { type Style, urlOf } from '../style.ts'
import { addDownloads } from './collection/downloads.ts'
import { FACTS, type Facts, finish } from './finish.ts'
import { addGuides, forAnySite } from './guides.ts'
import { introductionOf } from './introduction.ts'
import { addReference } from './reference.ts'
import { refusalResponses } from './refusals.ts'
import type { Document } from './share.ts'

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
 * Adds `/openapi.json`, `/openapi.yaml` and `/docs` of one style, the downloads and guides of `/docs`, and `/llms.txt`. The document has every route that is added to `scope`
 * afterwards, with the refusals that follow from its schema and those of its `config.refusals`.
 */
export async function addDocument(
  scope: FastifyInstance,
  style: Style,
  prefix: string,
  deps: Pick<Deps, 'config' | 'signIn'>,
) {
  const { config } = deps
  const override = overrideOf(style)
  const names = { schemaRegistry: style.registry, zodToJsonConfig: { override } }
  const addComponents = createJsonSchemaTransformObject(names)
  await scope.register(swagger, {
    openapi: headOf(style, config),
    transform: describeRoute(style, prefix, config, createJsonSchemaTransform(names)),
    transformObject: (input) => finish(style, addComponents(input) as Document),
  })
  const asDocument = {
    schema: { hide: true },
    config: { public: true },
    logLevel: 'warn',
    onRequest: forAnySite,
  } as const
  scope.get('/openapi.json', asDocument, () => scope.swagger())
  scope.get('/openapi.yaml', asDocument, (_request, reply) => {
    reply.type('application/yaml; charset=utf-8')
    return scope.swagger({ yaml: true })
  })
  addDownloads(scope, style, config)
  addGuides(scope, style, config)
  await addReference(scope, style, prefix, deps)
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
    const [permission] = permissionsNeeded(route.needs ?? 'signed in')
    const refusals = refusalResponses(style, { path, schema: input.schema ?? {}, codes, explained, permission, config })
    const documented = {
      ...(route.public && { security: [] }),
      [FACTS]: factsOf(input.schema ?? {}, route, methods),
      ...schema,
      ...(permission && markedFor(permission, schema)),
      ...(route.changesNothing && { 'x-changes-nothing': true }),
      ...(route.canWait && { 'x-can-wait': true }),
      ...(!route.public && headersOf(style, takesKey(route, methods))),
      response: { ...answersOf(responses, route.examples), ...refusals },
    }
    return { schema: documented, url: path }
  }

/** Returns the answers of a route, the first of them with the examples that the route names. */
function answersOf(responses: object, examples: FastifyContextConfig['examples']): object {
  const [[status, schema] = []] = Object.entries(responses)
  if (status === undefined || examples === undefined) return responses
  const named = Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]))
  const content = { 'application/json': { schema, examples: named } }
  return { ...responses, [status]: { description: 'Done.', content } }
}

/**
 * Marks an operation that needs a permission: a sentence for people, and members for programs. The role is the built-in one that a USER
 * has to have besides.
 */
const markedFor = (permission: Permission, { description = '' }: FastifySchema) => ({
  description: `**Takes the permission \`${permission}\`** (${rolesWith(permission)}). ${description}`.trim(),
  'x-required-permission': permission,
  ...(!hasPermission({ permissions: BUILT_IN_ROLES.USER }, permission) && {
    'x-required-role': permission === 'reports.read' ? 'AUDITOR' : 'ADMIN',
  }),
})

const factsOf = ({ body }: FastifySchema, route: FastifyContextConfig, methods: readonly string[]): Facts => ({
  optionalBody: body instanceof z.ZodOptional,
  limited: !route.vital,
  takesKey: !route.public && takesKey(route, methods),
  takesToken: route.takesToken === true,
  prefilled: route.prefilled ?? {},
})

const takesKey = (route: FastifyContextConfig, methods: readonly string[]): boolean =>
  methods.includes('POST') && !route.changesNothing && !route.takesLines

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
  if (permissionsNeeded(route.needs ?? 'signed in').length > 0) codes.add('permission_denied')
  const takesBody = schema.body !== undefined
  if (takesBody || schema.querystring !== undefined) codes.add('invalid_argument')
  if (takesBody) codes.add('payload_too_large').add('unsupported_media_type')
  if (schema.params !== undefined && !route.makesNamed) codes.add('not_found')
  if (!route.public) {
    const ofAll: readonly ErrorCode[] = ['unauthenticated', 'resource_exhausted', 'unavailable']
    for (const code of [...ofAll, ...(style.refusals ?? [])]) codes.add(code)
    // While the first request under an Idempotency-Key is still running.
    if (takesKey(route, methods)) codes.add('aborted')
    // An account that has the role AUDITOR alone changes nothing.
    if (!methods.includes('GET') && !route.changesNothing) codes.add('permission_denied')
  }
  return codes.add('internal')
}

type Override = NonNullable<z.core.ToJSONSchemaParams['override']>
type JsonSchema = Parameters<Override>[0]['jsonSchema']

/**
 * Returns an override that adds to a JSON schema its `.meta()` and the entry of the style's registry, of which the
 * provider reads only the names, and writes the schema in the form that generators of clients understand.
 */
const overrideOf =
  ({ registry }: Pick<Style, 'registry'>): Override =>
  ({ zodSchema, jsonSchema }) => {
    const { id: _, ...meta } = z.globalRegistry.get(zodSchema) ?? {}
    const { id: __, ...named } = registry.get(zodSchema) ?? {}
    const { def } = zodSchema._zod
    writePlainly(def, jsonSchema)
    Object.assign(jsonSchema, meta, '$ref' in jsonSchema ? {} : named)
  }

function writePlainly(def: z.core.$ZodTypeDef, jsonSchema: JsonSchema): void {
  switch (def.type) {
    case 'number':
      withWidth(jsonSchema)
      break
    case 'string':
      // The format says it. The pattern of zod says it again, in a way that not every generator can read.
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern
      break
    case 'object':
      openAnswer(def as z.core.$ZodObjectDef, jsonSchema)
      break
    case 'nullable':
      joinNull(def as z.core.$ZodNullableDef, jsonSchema)
      break
    case 'union':
      // The shapes of a body exclude each other.
      if (jsonSchema.anyOf !== undefined) {
        jsonSchema.oneOf = jsonSchema.anyOf
        delete jsonSchema.anyOf
      }
  }
}

/**
 * Gives a number its width: without one, generators of clients choose float32, which has 7 digits. The bounds of ±2^53
 * are zod's, and not those of the field.
 */
function withWidth(jsonSchema: JsonSchema): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  jsonSchema.format = jsonSchema.type === 'integer' ? 'int32' : 'double'
}

/**
 * Says of an object in an answer that it may have more members: a later version may add some. Only the strict objects
 * of requests are closed.
 */
function openAnswer({ catchall }: z.core.$ZodObjectDef, jsonSchema: JsonSchema): void {
  if (catchall !== undefined) return
  // Zod closes the objects of answers only.
  if (jsonSchema.additionalProperties === false) jsonSchema.additionalProperties = true
}

/** Writes `anyOf: [<schema>, {type: null}]` as one schema with two types. A reference stays as it is. */
function joinNull({ innerType }: z.core.$ZodNullableDef, jsonSchema: JsonSchema): void {
  const [value, none, ...others] = (jsonSchema.anyOf ?? []) as JsonSchema[]
  // The value may be written plainly, and get what is said of it, only after this one.
  const { id: _, ...meta } = z.globalRegistry.get(innerType) ?? {}
  if (value && !('$ref' in value)) Object.assign(value, meta)
  if (value?.type === undefined || none?.type !== 'null' || others.length > 0) return
  writePlainly(innerType._zod.def, value)
  delete jsonSchema.anyOf
  Object.assign(jsonSchema, value, { type: [value.type, 'null'] })
  if (value.enum !== undefined) jsonSchema.enum = [...value.enum, null]
}
