import type { FastifyContextConfig } from 'fastify'
import type { Style } from '../style.ts'
import { failureSchemas } from './refusals.ts'
import { type Document, mapObjects, referencesIn, shareParts } from './share.ts'

/** The name of the member by which a route hands its facts to `finish`; no document has it in the end. */
export const FACTS = 'x-facts'

/** A header of an answer, in a document. */
interface Header {
  readonly description: string
  readonly required?: boolean
  readonly schema: object
}

/** An answer of an operation in a document, as far as its headers follow from it. */
interface DocumentedAnswer {
  description?: string
  headers?: Record<string, object>
  readonly content?: Readonly<Record<string, { readonly examples?: object }>>
}

/** The facts of an operation that decide which headers its answers have. */
interface Answering {
  /** The operation is limited in its rate. */
  readonly limited: boolean
  /** The operation takes an Idempotency-Key. */
  readonly takesKey: boolean
  /** The operation takes a dedupe token whose transaction may have another content. */
  readonly takesToken: boolean
}

const text = { type: 'string' } as const
const number = { type: 'integer', format: 'int32', minimum: 0 } as const

const EVERY: Readonly<Record<string, Header>> = {
  'X-Request-Id': {
    description: 'The id of the request: the one that you sent, or a new one. Quote it when you ask about an answer.',
    required: true,
    schema: text,
  },
}

const RATES: Readonly<Record<string, Header>> = {
  'RateLimit-Limit': {
    description:
      'Requests that may be sent in a window: of the account or of the address, whichever has fewer left. This header and the three below are absent where the operator of the service has set no limit.',
    schema: number,
  },
  'RateLimit-Remaining': { description: 'Requests that are left in this window.', schema: number },
  'RateLimit-Reset': { description: 'Seconds until the window ends.', schema: number },
  'RateLimit-Policy': {
    description: 'The limit, and the length of its window in seconds, such as `60000;w=60`.',
    schema: text,
  },
}

const MODE: Readonly<Record<string, Header>> = {
  'X-Mkopo-Mode': { description: '`test` in an answer to a test organization; otherwise absent.', schema: text },
}

const REPLAYED: Readonly<Record<string, Header>> = {
  'Idempotency-Replayed': {
    description: '`true` where the request repeats an earlier one and nothing was posted; otherwise absent.',
    schema: text,
  },
}

const MISMATCHED: Readonly<Record<string, Header>> = {
  'Idempotency-Mismatch': {
    description:
      'The members of the request, separated by commas, in which it differs from the transaction that its `idempotencyKey` found, such as `transactionAmount`; `type` where that is of another type. Nothing was posted. Otherwise absent.',
    schema: text,
  },
}

const AGAIN: Readonly<Record<string, Header>> = {
  'Retry-After': { description: 'Seconds after which the request may be sent again.', schema: number },
}

const CHALLENGE: Readonly<Record<string, Header>> = {
  'WWW-Authenticate': { description: 'The way to authenticate: `Bearer`, or `Basic` for a token.', schema: text },
}

/** Codes of refusals that may say when to come back. */
const LATER = ['aborted', 'resource_exhausted', 'unavailable']

/** The facts of a route that the generator of documents does not read. */
export interface Facts extends Answering {
  /** The body may be left out; the generator takes every body to be required. */
  readonly optionalBody: boolean
  readonly prefilled: NonNullable<FastifyContextConfig['prefilled']>
}

/** What the generator says of an answer whose schema has no description. */
const WITHOUT_DESCRIPTION = 'Default Response'

const SCHEMAS = '#/components/schemas/'

interface Operation {
  [FACTS]?: Facts
  readonly operationId?: string
  readonly tags?: readonly string[]
  readonly requestBody?: { required: boolean; readonly content: Readonly<Record<string, { example?: unknown }>> }
  readonly parameters?: readonly Parameter[]
  readonly responses: Readonly<Record<string, DocumentedAnswer>>
}

interface Parameter {
  readonly in: string
  readonly name: string
  readonly required?: boolean
  example?: unknown
}

type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>

/**
 * Finishes a document: the schemas of refusals, the headers of answers, the bodies that may be left out, the order of the
 * paths, the names of the schemas, and references to the parts that operations share.
 */
export function finish(style: Style, document: Document): Document {
  Object.assign(document.components.schemas, failureSchemas(style))
  const paths = (document.paths ?? {}) as Paths
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path))) finishOperation(style, operation)
  document.components.headers = headersUsed(style, paths)
  document.paths = inOrder(paths, document.tags ?? [], style.order) as NonNullable<Document['paths']>
  return shareParts(tidied(document))
}

function finishOperation(style: Style, operation: Operation): void {
  const { [FACTS]: facts, requestBody, parameters = [], responses } = operation
  delete operation[FACTS]
  for (const answer of Object.values(responses))
    if (answer.description === WITHOUT_DESCRIPTION) answer.description = 'Done.'
  if (facts === undefined) return
  if (facts.optionalBody && requestBody) requestBody.required = false
  const { params = {}, body } = facts.prefilled
  for (const parameter of parameters) {
    // The reference fills in every example: filters that are not meant together would find nothing.
    if (parameter.in === 'query' && !parameter.required) delete parameter.example
    if (parameter.in === 'path' && params[parameter.name] !== undefined) parameter.example = params[parameter.name]
  }
  if (body !== undefined) for (const media of Object.values(requestBody?.content ?? {})) media.example = body
  for (const [status, answer] of Object.entries(responses)) addHeaders(style, facts, status, answer)
}

/** Returns the headers that an answer of the document carries. */
function headersUsed(style: Style, paths: Paths): object {
  const answers = Object.values(paths).flatMap((path) =>
    Object.values(path).flatMap((one) => Object.values(one.responses)),
  )
  const used = new Set(answers.flatMap(({ headers = {} }) => Object.keys(headers)))
  return Object.fromEntries(Object.entries(headerComponents(style)).filter(([name]) => used.has(name)))
}

/**
 * Sorts paths by the place of their tag, and those of one tag by the place of their operation in `order`. Others of the tag
 * come after them, in the order in which their routes were added.
 */
function inOrder(paths: Paths, tags: NonNullable<Document['tags']>, order: readonly string[] = []): Paths {
  const tagPlaces = new Map(tags.map(({ name }, place) => [name, place]))
  const places = new Map(order.map((operationId, place) => [operationId, place]))
  const placeOf = (path: Paths[string]): readonly [ofTag: number, ofOperation: number] => {
    const [{ tags: [tag = ''] = [], operationId = '' } = {}] = Object.values(path)
    return [tagPlaces.get(tag) ?? tags.length, places.get(operationId) ?? order.length]
  }
  const sorted = Object.entries(paths)
    .map(([name, path]) => ({ name, path, place: placeOf(path) }))
    .sort((one, other) => one.place[0] - other.place[0] || one.place[1] - other.place[1])
  return Object.fromEntries(sorted.map(({ name, path }) => [name, path]))
}

/**
 * Removes schemas that nothing refers to, names a schema that only requests use without `Input`, and sorts the schemas by
 * name. The generator emits every named schema twice, as input (`…Input`) and as output, in the order in which the modules
 * of this process were loaded.
 */
function tidied(document: Document): Document {
  const schemas = document.components.schemas
  for (let size = -1; size !== Object.keys(schemas).length; ) {
    size = Object.keys(schemas).length
    const used = referencesIn(document)
    for (const name of Object.keys(schemas)) if (!used.has(`${SCHEMAS}${name}`)) delete schemas[name]
  }
  const plainName = (name: string) => {
    const plain = name.replace(/Input$/, '')
    return plain in schemas ? name : plain
  }
  const named = Object.entries(schemas)
    .map(([name, schema]) => [plainName(name), schema] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1))
  const renamed = { ...document, components: { ...document.components, schemas: Object.fromEntries(named) } }
  const isOfSchema = (reference: unknown): reference is string =>
    typeof reference === 'string' && reference.startsWith(SCHEMAS)
  return mapObjects(renamed, ({ $ref, ...node }) =>
    isOfSchema($ref) ? { $ref: SCHEMAS + plainName($ref.slice(SCHEMAS.length)), ...node } : { ...node, $ref },
  ) as Document
}

/** Returns the headers that a style has on every answer, each with its constant value. */
const ownHeaders = ({ headers = {} }: Style): Readonly<Record<string, Header>> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase()),
      { description: `The version of the style: \`${value}\`.`, required: true, schema: text },
    ]),
  )

/** Returns every header of the answers of a style, by name: the header components of its document. */
const headerComponents = (style: Style): Readonly<Record<string, Header>> => ({
  ...EVERY,
  ...ownHeaders(style),
  ...RATES,
  ...MODE,
  ...REPLAYED,
  ...MISMATCHED,
  ...AGAIN,
  ...CHALLENGE,
})

/** Adds to an answer of an operation the headers that it carries, as references to the components. */
function addHeaders(style: Style, operation: Answering, status: string, answer: DocumentedAnswer): void {
  const codes = Object.values(answer.content ?? {}).flatMap(({ examples = {} }) => Object.keys(examples))
  const carried = {
    ...EVERY,
    ...ownHeaders(style),
    ...(operation.limited && { ...RATES, ...MODE }),
    ...(operation.takesKey && status.startsWith('2') && REPLAYED),
    ...(operation.takesToken && status === '200' && MISMATCHED),
    ...(status === '401' && CHALLENGE),
    ...(Number(status) >= 400 && codes.some((code) => LATER.includes(code)) && AGAIN),
  }
  const references = Object.keys(carried).map((name) => [name, { $ref: `#/components/headers/${name}` }])
  answer.headers = Object.fromEntries(references)
}
