import { LINES_TYPE } from '../../body/lines.ts'
import type { StoryVariables } from '../../style.ts'
import { type Document, inPlace, resolved } from '../share.ts'

/** A value that a request sends, under a name. */
export interface Named {
  readonly name: string
  readonly value: string
  readonly description: string
}

/** A parameter of a query; one that is not sent is there to be filled in. */
export interface QueryParameter extends Named {
  readonly isSent: boolean
}

/** The body of a request: JSON as it is sent, or lines of JSON, or the fields of a form, of which a file has no value. */
export type RequestBody =
  | { readonly kind: 'json'; readonly type: 'application/json' | typeof LINES_TYPE; readonly text: string }
  | { readonly kind: 'form'; readonly fields: readonly (Named & { readonly isFile: boolean })[] }

/** A variable, and the members that lead to its value in the answer of a request. */
export interface Kept {
  readonly variable: string
  readonly at: readonly (string | number)[]
}

/** A request of an operation, with the examples of the document. Variables are in it as `{{name}}`. */
export interface ExampleRequest {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly method: string
  readonly path: string
  readonly query: readonly QueryParameter[]
  readonly auth: 'basic' | 'bearer' | 'none'
  readonly body: RequestBody | undefined
  readonly keeps: readonly Kept[]
}

/** The requests of a tag of the document. */
export interface Folder {
  readonly name: string
  readonly description: string
  readonly requests: readonly ExampleRequest[]
}

type Schema = Readonly<Record<string, unknown>> & {
  readonly $ref?: string
  readonly oneOf?: readonly Schema[]
  readonly examples?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly description?: string
  readonly format?: string
}

interface Media {
  readonly schema: Schema
  readonly example?: unknown
}

interface Operation {
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly security?: readonly Readonly<Record<string, unknown>>[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
  readonly parameters?: readonly Parameter[]
}

interface Parameter {
  readonly in: string
  readonly name: string
  readonly description?: string
  readonly example?: unknown
}

type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>

/** An operation, and where the document has it. */
interface Place {
  readonly path: string
  readonly method: string
  readonly operation: Operation
}

/** The variables of a style whose operations name no id. */
export const NO_VARIABLES: StoryVariables = { chosen: {}, answered: {}, inPaths: {} }

/** Returns the requests of a document by tag, each operation once, in the order of the document. */
export function readRequests(document: Document, variables: StoryVariables): readonly Folder[] {
  const places = Object.entries((inPlace(document).paths ?? {}) as unknown as Paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Place => ({ path, method, operation })),
  )
  const nameOf = namesOf(places)
  const all = places.map((place) => ({
    tag: place.operation.tags?.[0],
    request: { ...requestOf(document, variables, place), name: nameOf(place) },
  }))
  return ((document.tags ?? []) as { name: string; description?: string }[]).map(({ name, description = '' }) => ({
    name,
    description,
    requests: all.filter(({ tag }) => tag === name).map(({ request }) => request),
  }))
}

/** Returns a function that names operations by their summaries: of several with one summary, by what they are found by, too. */
function namesOf(places: readonly Place[]): (place: Place) => string {
  const summaries = Map.groupBy(places, ({ operation }) => operation.summary)
  return ({ path, operation: { summary, operationId } }) => {
    const [, parameter] = /\{(\w+)\}/.exec(path) ?? []
    const isShared = (summaries.get(summary)?.length ?? 0) > 1 && parameter !== undefined
    return isShared ? `${summary}, by ${parameter}` : (summary ?? operationId)
  }
}

function requestOf(
  document: Document,
  variables: StoryVariables,
  { path, method, operation }: Place,
): Omit<ExampleRequest, 'name'> {
  const { operationId, description = '', parameters = [], security } = operation
  const scheme = security === undefined ? 'bearer' : Object.keys(security[0] ?? {})[0]
  return {
    id: operationId,
    description,
    method: method.toUpperCase(),
    path: path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const variable = variableOf(variables, path, name)
      const example = parameters.find((one) => one.in === 'path' && one.name === name)?.example
      return variable === undefined ? encodeURIComponent(String(example)) : `{{${variable}}}`
    }),
    query: parameters
      .filter((one) => one.in === 'query')
      .map((one) => ({ ...namedOf(one.name, one.example ?? '', one.description), isSent: one.example !== undefined })),
    auth: scheme === 'basic' || scheme === 'bearer' ? scheme : 'none',
    body: bodyOf(document, variables, operation),
    keeps: Object.entries(variables.answered)
      .filter(([, answered]) => answered.operationId === operationId)
      .map(([variable, { at }]) => ({ variable, at })),
  }
}

const namedOf = (name: string, value: unknown, description = ''): Named => ({ name, value: String(value), description })

function bodyOf(document: Document, variables: StoryVariables, { requestBody }: Operation): RequestBody | undefined {
  const [[type, media] = []] = Object.entries(requestBody?.content ?? {})
  if (media === undefined) return undefined
  const example = (media.example ?? examplesOf(document, media.schema)[0] ?? {}) as Readonly<Record<string, unknown>>
  if (type === 'application/json') return { kind: 'json', type, text: jsonOf(variables, example) }
  if (type === LINES_TYPE) return { kind: 'json', type, text: jsonOf(variables, example).replace(/\n */g, ' ') }
  const { properties = {} } = resolved(document, media.schema) as Schema
  const fields = Object.entries(properties).map(([name, { format, description }]) => {
    const isFile = format === 'binary'
    return { ...namedOf(name, isFile ? '' : (example[name] ?? ''), description), isFile }
  })
  return { kind: 'form', fields }
}

/** Returns a body as JSON, with the variables in place of the ids that the caller chooses. */
function jsonOf({ chosen }: StoryVariables, example: Readonly<Record<string, unknown>>): string {
  const holder = (member: string, value: unknown) =>
    Object.entries(chosen).find(([, one]) => one.value === value && one.members.includes(member))?.[0]
  const members = Object.entries(example).map(([member, value]) => {
    const variable = holder(member, value)
    const written = JSON.stringify(value, null, 2).replaceAll('\n', '\n  ')
    const text = variable === undefined ? written : written.replace(String(value), `{{${variable}}}`)
    return `  ${JSON.stringify(member)}: ${text}`
  })
  return members.length === 0 ? '{}' : `{\n${members.join(',\n')}\n}`
}

/** Returns the examples of a schema; of one that names others, the examples of those. */
function examplesOf(document: Document, schema: Schema): readonly unknown[] {
  const { examples, oneOf = [] } = resolved(document, schema) as Schema
  return examples ?? oneOf.flatMap((one) => examplesOf(document, one))
}

/** Returns the variable of a parameter of a path. */
function variableOf({ inPaths }: StoryVariables, path: string, parameter: string): string | undefined {
  const [longest] = Object.keys(inPaths)
    .filter((beginning) => path.startsWith(beginning) && lastParameter(beginning) === parameter)
    .sort((one, other) => other.length - one.length)
  return longest === undefined ? undefined : inPaths[longest]
}

const lastParameter = (path: string): string | undefined => /\{(\w+)\}[^{]*$/.exec(path)?.[1]
