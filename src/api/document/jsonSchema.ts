import { z } from 'zod'
import type { Style } from '../style.ts'

type Override = NonNullable<z.core.ToJSONSchemaParams['override']>
type JsonSchema = Parameters<Override>[0]['jsonSchema']

/**
 * Returns an override that adds to a JSON schema its `.meta()` and the entry of the style's registry, of which the
 * provider reads only the names, and writes the schema in the form that generators of clients understand.
 */
export const overrideOf =
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
