import { z } from 'zod'
import type { NamedFault } from '../../domain/errors.ts'

/** Which of several shapes a body is meant to have; or what is wrong with one that is meant to have two. */
type Tell = (body: object) => z.ZodType | readonly NamedFault[]

const tellers = new WeakMap<z.ZodType, Tell>()

/**
 * A body of one of two shapes. Faults are told of the shape that is meant: of a plain union all that could be said is
 * that the body has none of its forms.
 */
export function eitherOf<A extends z.ZodType, B extends z.ZodType>(shapes: readonly [A, B], tell: Tell) {
  const union = z.union(shapes)
  tellers.set(union, tell)
  return union
}

const cleared = new WeakMap<z.ZodType, unknown>()

/**
 * A field of a PUT that may be left out, and that `null` clears (contract 1.7).
 * @param empty the value that `null` stands for; undefined: `null` is the same as leaving the field out
 */
export function clearable<T extends z.ZodType>(schema: T, empty?: z.input<T>): z.ZodOptional<T> {
  const field = schema.optional()
  cleared.set(field, empty)
  return field
}

/**
 * A body in which `null` has its meaning (contract 1.7): an optional field is left out; in a PUT, a field that may be
 * cleared is cleared. Many serializers send `null` for a value that they do not have.
 */
export function withoutNulls(schema: z.ZodType, body: unknown, isPut: boolean): unknown {
  if (typeof body !== 'object' || body === null || !Object.values(body).includes(null)) return body
  const shape = shapeOf(schema, body)
  const object = shape instanceof z.ZodOptional ? shape.unwrap() : shape
  if (!(object instanceof z.ZodObject)) return body
  const entries = Object.entries(body).flatMap(([name, value]): [string, unknown][] => {
    const field = object.shape[name]
    if (value !== null || !(field instanceof z.ZodOptional)) return [[name, value]]
    if (!isPut) return []
    if (!cleared.has(field)) return [[name, value]]
    const empty = cleared.get(field)
    return empty === undefined ? [] : [[name, empty]]
  })
  return Object.fromEntries(entries)
}

/** The schema that a body is checked with: the schema itself, unless it stands for several shapes. */
export function shapeOf(schema: z.ZodType, body: unknown): z.ZodType | readonly NamedFault[] {
  const tell = tellers.get(schema)
  return tell === undefined || typeof body !== 'object' || body === null ? schema : tell(body)
}
