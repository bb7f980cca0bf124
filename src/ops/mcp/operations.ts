import MiniSearch from 'minisearch'

/** The styles of the service that an agent works with. */
export const STYLES = ['partner', 'record'] as const
export type Style = (typeof STYLES)[number]

type Json = Readonly<Record<string, unknown>>

/** A parameter in the path or the query of an operation. */
interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required: boolean
}

/** An operation of an OpenAPI document. */
export interface Operation {
  readonly style: Style
  readonly id: string
  readonly method: string
  /** With the names of its parameters in braces. */
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly tags: readonly string[]
  /** The role that it needs, where not every account may call it. */
  readonly role: string | undefined
  /** What it does to the book: nothing, something that can wait for a second person, or something that cannot. */
  readonly changes: 'nothing' | 'can wait' | 'at once'
  readonly parameters: readonly Parameter[]
  readonly takesJson: boolean
  /** What the document has of it, with all that it refers to in its place but the schemas. */
  readonly described: Json
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const

/** Returns the operations of an OpenAPI document of the service, by their names; none of what is no such document. */
export function operationsOf(document: unknown, style: Style): ReadonlyMap<string, Operation> {
  const paths = Object.entries(asObject(asObject(document).paths))
  return new Map(
    paths.flatMap(([path, item]) =>
      METHODS.flatMap((method): [string, Operation][] => {
        const raw = asObject(item)[method]
        if (raw === undefined) return []
        const operation = toOperation(document, asObject(raw), { style, method, path })
        return [[operation.id, operation]]
      }),
    ),
  )
}

function toOperation(
  document: unknown,
  raw: Json,
  { style, method, path }: { readonly style: Style; readonly method: string; readonly path: string },
): Operation {
  const whole = asObject(inPlace(document, raw))
  const parameters = asList(whole.parameters).map(asObject)
  const isRead = method === 'get' || whole['x-changes-nothing'] === true
  return {
    style,
    id: String(whole.operationId),
    method: method.toUpperCase(),
    path,
    summary: String(whole.summary ?? ''),
    description: String(whole.description ?? ''),
    tags: asList(whole.tags).map(String),
    role: whole['x-required-role'] === undefined ? undefined : String(whole['x-required-role']),
    changes: isRead ? 'nothing' : whole['x-can-wait'] === true ? 'can wait' : 'at once',
    parameters: parameters.flatMap((one): Parameter[] => {
      const { name, in: place, required } = one
      if (place !== 'path' && place !== 'query') return []
      return [{ name: String(name), in: place, required: required === true }]
    }),
    takesJson: asObject(asObject(whole.requestBody).content)['application/json'] !== undefined,
    described: describedBy(document, whole),
  }
}

const asObject = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const SCHEMAS = '#/components/schemas/'

/** Returns a part of a document with what it refers to in its place, but for schemas, which may refer to themselves. */
function inPlace(document: unknown, part: unknown): unknown {
  if (Array.isArray(part)) return part.map((one) => inPlace(document, one))
  if (typeof part !== 'object' || part === null) return part
  const { $ref } = part as { $ref?: unknown }
  if (typeof $ref === 'string' && !$ref.startsWith(SCHEMAS)) return inPlace(document, at(document, $ref))
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, inPlace(document, value)]))
}

const at = (document: unknown, ref: string): unknown =>
  ref
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>((value, step) => asObject(value)[step], document)

/** Returns what a model needs to know of an operation: what it takes and what it answers, and the schemas of both. */
function describedBy(document: unknown, whole: Json): Json {
  const responses = Object.entries(asObject(whole.responses))
  const answers = responses.filter(([status]) => status.startsWith('2'))
  const bodyOf = (one: unknown) => asObject(asObject(asObject(one).content)['application/json']).schema
  const described = {
    parameters: asList(whole.parameters)
      .map(asObject)
      .filter((one) => one.in !== 'header'),
    ...(whole.requestBody !== undefined && {
      body: { required: asObject(whole.requestBody).required === true, schema: bodyOf(whole.requestBody) },
    }),
    answers: Object.fromEntries(
      answers.map(([status, one]) => [status, { schema: bodyOf(one), description: asObject(one).description }]),
    ),
    refusals: Object.fromEntries(
      responses
        .filter(([status]) => /^4/.test(status) && !['401', '413', '415', '429'].includes(status))
        .map(([status, one]) => [status, asObject(one).description]),
    ),
  }
  return { ...described, schemas: schemasIn(document, described) }
}

/** Returns the schemas that a part refers to, by their names, and those that these refer to. */
function schemasIn(document: unknown, part: unknown): Json {
  const found: Record<string, unknown> = {}
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const { $ref } = value as { $ref?: unknown }
    if (typeof $ref === 'string' && $ref.startsWith(SCHEMAS)) {
      const name = $ref.slice(SCHEMAS.length)
      if (name in found) return
      found[name] = at(document, $ref)
      visit(found[name])
    }
    for (const below of Object.values(value)) visit(below)
  }
  visit(part)
  return found
}

/** The most operations that a search answers. */
export const MOST_FOUND = 20

const indices = new WeakMap<ReadonlyMap<string, Operation>, MiniSearch<Operation & { words: string }>>()

/** Returns the operations that words are about, the nearest first. */
export function searchIn(operations: ReadonlyMap<string, Operation>, words: string): Operation[] {
  const index = indices.get(operations) ?? indexOf(operations)
  indices.set(operations, index)
  return index
    .search(words, { prefix: true, fuzzy: 0.2, boost: { words: 3, summary: 3, path: 2 } })
    .slice(0, MOST_FOUND)
    .map(({ id }) => operations.get(String(id))!)
}

function indexOf(operations: ReadonlyMap<string, Operation>): MiniSearch<Operation & { words: string }> {
  const index = new MiniSearch<Operation & { words: string }>({
    fields: ['words', 'summary', 'description', 'path', 'tags'],
    extractField: (one, field) => {
      const value = one[field as keyof typeof one]
      return Array.isArray(value) ? value.join(' ') : String(value)
    },
  })
  // `listPendingActions` is found by each of its words.
  index.addAll([...operations.values()].map((one) => ({ ...one, words: one.id.replaceAll(/[A-Z]/g, ' $&') })))
  return index
}
