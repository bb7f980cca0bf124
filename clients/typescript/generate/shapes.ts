import type { Document, Operation, Schema } from './documents.ts'

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
 * @param extra schemas that need a shape besides those of answers
 */
export function shapesOf({ components, paths }: Document, extra: readonly string[] = []): Shapes {
  const sources = new Map<string, string | undefined>()

  function ofReference(name: string): string | undefined {
    const constant = `${name.charAt(0).toLowerCase()}${name.slice(1)}Shape`
    if (!sources.has(name)) {
      // A schema that refers to itself would need a shape that does.
      sources.set(name, undefined)
      const source = ofSchema(components.schemas[name]!)
      sources.delete(name)
      sources.set(name, source && `const ${constant}: Shape = ${source}\n`)
    }
    return sources.get(name) && constant
  }

  function ofSchema({ $ref, format, items, properties, oneOf }: Schema): string | undefined {
    if ($ref !== undefined) return ofReference($ref.split('/').at(-1)!)
    if (oneOf !== undefined) throw new Error('an answer of several shapes: say here which members are int64')
    if (format === 'int64') return INT64
    if (items !== undefined) return ofSchema(items)
    const members = Object.entries(properties ?? {}).flatMap(([name, schema]) => {
      const shape = ofSchema(schema)
      return shape === undefined ? [] : [`${name}: ${shape}`]
    })
    return members.length === 0 ? undefined : `{ ${members.join(', ')} }`
  }

  const answerOf = ({ responses }: Operation) => responses['200']?.content?.['application/json']?.schema
  const constantOf = (operation: Operation) => {
    const schema = answerOf(operation)
    return schema && ofSchema(schema)
  }
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) constantOf(operation)
  const exported = extra.map((name) => {
    const constant = ofReference(name)
    const own = `${name.charAt(0).toLowerCase()}${name.slice(1)}Shape`
    return constant === undefined ? `export const ${own} = undefined\n` : `export { ${constant} }\n`
  })
  return { source: [...sources.values(), ...exported].join(''), constantOf }
}
