import { type Document, LINES_TYPE, type Operation, type Schema } from './documents.ts'

/** The value of a shape that stands for an int64. */
const INT64 = '1'

/** Where the answers of a style have an int64. */
export interface Shapes {
  /** The constants of the shapes, in TypeScript. */
  readonly source: string
  /** Returns the name of the constant of an operation's answer; undefined where the answer has no int64. */
  constantOf(operation: Operation): string | undefined
}

/**
 * Returns the shapes of the answers of a document: of each schema its members that have an int64 somewhere below. The
 * reader of answers finds in them which numbers are a `bigint`.
 * @param exported schemas whose shapes other code needs, too
 * @throws Error for a schema whose shape cannot be written
 */
export function shapesOf({ components, paths }: Document, exported: readonly string[] = []): Shapes {
  const written = new Map<string, string | undefined>()
  const open = new Set<string>()

  function ofReference(name: string): string | undefined {
    if (open.has(name)) throw new Error(`${name}: refers to itself, which no shape does`)
    if (!written.has(name)) {
      open.add(name)
      const source = ofSchema(name, components.schemas[name]!)
      open.delete(name)
      written.set(name, source && `const ${constantFor(name)}: Shape = ${source}\n`)
    }
    return written.get(name) && constantFor(name)
  }

  function ofSchema(name: string, { $ref, format, items, properties, oneOf }: Schema): string | undefined {
    if ($ref !== undefined) return ofReference(nameIn($ref))
    if (oneOf !== undefined) throw new Error(`${name}: an answer of several shapes, of which the reader takes only one`)
    if (format === 'int64') return INT64
    if (items !== undefined) return ofSchema(name, items)
    const members = Object.entries(properties ?? {}).flatMap(([member, schema]) => {
      const shape = ofSchema(name, schema)
      return shape === undefined ? [] : [`${member}: ${shape}`]
    })
    return members.length === 0 ? undefined : `{ ${members.join(', ')} }`
  }

  const constantOf = ({ operationId, responses }: Operation) => {
    const content = responses['200']?.content
    const schema = (content?.['application/json'] ?? content?.[LINES_TYPE])?.schema
    return schema && ofSchema(operationId, schema)
  }
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) constantOf(operation)
  const exports = exported.map((name) => {
    const constant = ofReference(name)
    return constant === undefined ? `export const ${constantFor(name)} = undefined\n` : `export { ${constant} }\n`
  })
  return { source: [...written.values(), ...exports].join(''), constantOf }
}

const nameIn = (reference: string): string => reference.split('/').at(-1)!

const constantFor = (schema: string): string => `${schema.charAt(0).toLowerCase()}${schema.slice(1)}Shape`
