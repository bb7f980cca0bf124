import { z } from 'zod'
import { inPlace } from '../../src/api/openapi/share.ts'
import type { TestService } from './service.ts'
import type { Document, Media, Operation } from './wire.ts'

type Schema = Readonly<Record<string, unknown>>

/** The documents that this process asked for, by host. */
const documents = new Map<string, Document>()

/**
 * Returns the document of a host, of a service with the settings of the tests. Each such service has the same, and building it takes a
 * second, so a process asks for it once.
 */
export async function documentOf(service: Pick<TestService, 'get'>, host = 'api.localhost:3000'): Promise<Document> {
  const known = documents.get(host)
  if (known !== undefined) return known
  const { status, text, body } = await service.get<Document>('/openapi.json', { host })
  if (status !== 200) throw new Error(`${host} has no document: ${text}`)
  documents.set(host, body)
  return body
}

const SCHEMAS = '#/components/schemas/'

type Named = readonly [name: string, operation: Operation]

/** The operations of documents that were asked for: putting in place what they share takes a tenth of a second. */
const read = new WeakMap<Document, readonly Named[]>()

/** What a document says can be done, by method and path (`POST /v1/loans`), with what the operations share in its place. */
export function operationsOf(document: Document): readonly Named[] {
  const operations = read.get(document) ?? operationsIn(document)
  read.set(document, operations)
  return operations
}

const operationsIn = (document: Document): Named[] =>
  Object.entries(inPlace(document).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Named => [`${method.toUpperCase()} ${path}`, operation]),
  )

/** What a schema says that it looks like; of one that names another, what that one says. */
export function examplesOf(document: Document, schema: Schema): unknown[] {
  const { $ref, oneOf = [], examples } = schema as { $ref?: string; oneOf?: Schema[]; examples?: unknown[] }
  if (examples) return examples
  if ($ref !== undefined) return examplesOf(document, document.components.schemas[$ref.slice(SCHEMAS.length)]!)
  return oneOf.flatMap((one) => examplesOf(document, one))
}

/** The examples of a body or an answer: its own, else those of its schema. */
export function shownIn(document: Document, media: Media): unknown[] {
  if (media.example !== undefined) return [media.example]
  if (media.examples) return Object.values(media.examples).map((example) => (example as { value: unknown }).value)
  return examplesOf(document, media.schema)
}

/** What a document says against a value that is meant to have one of its schemas; undefined when it fits. */
export function faultsBy({ components }: Document): (schema: Schema, value: unknown) => string | undefined {
  const local = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll(SCHEMAS, '#/$defs/'))
  const all = local(components.schemas)
  // Those alone that the schema leads to: a reader is made of every definition that it is given.
  const definitionsFor = (value: unknown, found: Record<string, Schema> = {}): Record<string, Schema> => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/\$defs\/([^"]+)"/g)) {
      if (name in found) continue
      found[name] = all[name]!
      definitionsFor(found[name], found)
    }
    return found
  }
  const readerOf = (schema: Schema) =>
    z.fromJSONSchema({ ...schema, $defs: definitionsFor(schema) } as z.core.JSONSchema.JSONSchema)
  const known = new Map<string, z.ZodType>()
  return (schema, value) => {
    const key = JSON.stringify(schema)
    const reader = known.get(key) ?? readerOf(local(schema))
    known.set(key, reader)
    const { error } = reader.safeParse(value)
    return error && `${JSON.stringify(value)} of ${key}: ${z.prettifyError(error)}`
  }
}

/** Every example of a document with the schema it is of, wherever it stands. */
export function everyExample(document: Document): [schema: Schema, example: unknown][] {
  const found: [Schema, unknown][] = []
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    const { schema, examples } = node as { schema?: Schema; examples?: unknown }
    if (schema) found.push(...shownIn(document, node as Media).map((one): [Schema, unknown] => [schema, one]))
    else if (Array.isArray(examples)) found.push(...examples.map((one): [Schema, unknown] => [node as Schema, one]))
    for (const [name, below] of Object.entries(node)) if (name !== 'example' && name !== 'examples') visit(below)
  }
  visit(inPlace(document))
  return found
}
