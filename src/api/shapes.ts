import { z } from 'zod'
import type { FieldFault } from '../domain/errors.ts'

/** Which of several shapes a body is meant to have; or what is wrong with one that is meant to have two. */
type Tell = (body: object) => z.ZodType | readonly FieldFault[]

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

/** The schema that a body is checked with: the schema itself, unless it stands for several shapes. */
export function shapeOf(schema: z.ZodType, body: unknown): z.ZodType | readonly FieldFault[] {
  const tell = tellers.get(schema)
  return tell === undefined || typeof body !== 'object' || body === null ? schema : tell(body)
}
