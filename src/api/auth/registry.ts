import { z } from 'zod'

/** The components of the auth style's document. */
export const registry = z.registry<{ id?: string | undefined; [key: string]: unknown }>()

/** Makes a schema that the document holds by name, with an example. */
export function named<T extends z.ZodType>(id: string, schema: T, { example }: { example: z.input<T> }): T {
  registry.add(schema, { id, examples: [example] })
  return schema
}
