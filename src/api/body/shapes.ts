import { z } from 'zod'
import type { NamedFault } from '../../domain/errors.ts'

/** Returns the schema that a body is meant for, or the faults of a body that mixes two. */
type ChooseShape = (body: object) => z.ZodType | readonly NamedFault[]

const choosers = new WeakMap<z.ZodType, ChooseShape>()

/**
 * Makes the schema of a body that has one of two shapes. Faults refer to the shape that is meant; a plain union would
 * only report that the body has none of its forms.
 */
export function eitherOf<A extends z.ZodType, B extends z.ZodType>(shapes: readonly [A, B], choose: ChooseShape) {
  const union = z.union(shapes)
  choosers.set(union, choose)
  return union
}

const cleared = new WeakMap<z.ZodType, unknown>()

/**
 * Makes a field of a PUT that may be left out, and that `null` clears (contract 1.7).
 * @param empty the value that `null` stands for; undefined: `null` is the same as leaving the field out
 */
export function clearable<T extends z.ZodType>(schema: T, empty?: z.input<T>): z.ZodOptional<T> {
  const field = schema.optional()
  cleared.set(field, empty)
  return field
}

/**
 * Gives `null` its meaning in a body (contract 1.7): an optional field is left out; in a PUT, a field that may be
 * cleared is cleared; a field whose schema is nullable gets it. Many serializers send `null` for a value that they do not have.
 */
export function withoutNulls(schema: z.ZodType, body: unknown, isPut: boolean): unknown {
  if (typeof body !== 'object' || body === null || !Object.values(body).includes(null)) return body
  const shape = shapeOf(schema, body)
  const object = shape instanceof z.ZodOptional ? shape.unwrap() : shape
  if (!(object instanceof z.ZodObject)) return body
  const entries = Object.entries(body).flatMap(([name, value]): [string, unknown][] => {
    const field = object.shape[name]
    if (value !== null || !(field instanceof z.ZodOptional)) return [[name, value]]
    if (field.unwrap() instanceof z.ZodNullable) return [[name, value]]
    if (!isPut) return []
    if (!cleared.has(field)) return [[name, value]]
    const empty = cleared.get(field)
    return empty === undefined ? [] : [[name, empty]]
  })
  return Object.fromEntries(entries)
}

/** Returns the schema for a body: the schema itself, unless it stands for several shapes. */
export function shapeOf(schema: z.ZodType, body: unknown): z.ZodType | readonly NamedFault[] {
  const choose = choosers.get(schema)
  return choose === undefined || typeof body !== 'object' || body === null ? schema : choose(body)
}
