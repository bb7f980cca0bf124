import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { type FaultRole, invalidArgument } from '../../domain/errors.ts'
import type { Recorded } from '../../services/customers/borrowers.ts'
import type { Listed, Page } from '../../services/paging.ts'
import type { RawJson } from '../body/json.ts'
import { markReplayed } from '../http/idempotency.ts'
import { idParam, int64 } from '../wire.ts'

/** The components of the record style's document. */
export const registry = z.registry<{ id?: string | undefined; examples?: unknown[]; [key: string]: unknown }>()

/** An example of what a schema takes. What leaves as the JSON it was sent as, is written plainly there. */
type Shown<T> = T extends RawJson
  ? number | string
  : T extends object
    ? { readonly [Member in keyof T]: Shown<T[Member]> }
    : T

/** A schema that appears by name in the document, with an example. */
export function named<T extends z.ZodType>(id: string, schema: T, { example }: { example: Shown<z.input<T>> }): T {
  registry.add(schema, { id, examples: [example] })
  return schema
}

/** An id of the client's own, in a body. */
export const recordId = int64({ min: 1n })

/** A field that only answers have. It may stand in a request, so that an item can be read, changed and sent back. */
const answerOnly = z.unknown().optional().meta({ readOnly: true, description: 'Only answers have it; ignored here.' })

/** The fields of a kind of item that only its answers have (contract 5); a request may have them, and they are ignored. */
export const answerFields = <Name extends string>(...names: readonly Name[]): Record<Name, typeof answerOnly> =>
  Object.fromEntries(names.map((name) => [name, answerOnly])) as Record<Name, typeof answerOnly>

/** In answers: an id, exact to the last digit. */
export const wireId = z.unknown().meta({ type: 'integer', format: 'int64', examples: [1] }) as z.ZodType<RawJson>

/** The id in a path. What cannot be one is 0, which nothing has: an id in a path is never malformed. */
export const byId = z
  .object({
    id: idParam.meta({ type: 'integer', format: 'int64', minimum: 1, description: 'Your own id.', examples: [1] }),
  })
  .transform(({ id }) => ({ id: id ?? 0n }))

const success = z.literal(true)

/** The envelope of one resource (contract 5), with the example of the resource. */
export function itemOf<T extends z.ZodType>(id: string, item: T) {
  const envelope = z.object({ item, success })
  registry.add(envelope, { id, examples: [toItem(exampleOf(item))] })
  return envelope
}

/** The envelope of a list (contract 5); in its example, of one. */
export function listOf<T extends z.ZodType>(id: string, item: T) {
  const envelope = z.object({ items: z.array(item), total: z.int(), page: z.int(), rowsPerPage: z.int(), success })
  const listed = { items: [exampleOf(item)], total: 1 }
  registry.add(envelope, { id, examples: [toList(listed, { page: 1, rows: 100 }, (shown) => shown)] })
  return envelope
}

const exampleOf = (schema: z.ZodType): unknown => registry.get(schema)?.examples?.[0]

/** The resource that a POST made or, by its id, found; the answer says which (contract 1.11). */
export function made<T>(reply: FastifyReply, { item, replayed }: Recorded<T>): T {
  if (replayed) markReplayed(reply)
  return item
}

/** One resource, in its envelope. */
export const toItem = <View>(item: View) => ({ item, success: true as const })

/** A page of what a service listed, each in the words of the style, in its envelope. */
export const toList = <T, View>({ items, total }: Listed<T>, { page, rows }: Page, toView: (item: T) => View) => ({
  items: items.map(toView),
  total,
  page,
  rowsPerPage: rows,
  success: true as const,
})

/** @throws LendingError `invalid_argument` when a body names another id than the path (contract 5.4) */
export function requireSameId(role: FaultRole, inPath: bigint, inBody: bigint | undefined): void {
  if (inBody !== undefined && inBody !== inPath)
    throw invalidArgument(role, inPath === 0n ? 'is not the id of the path' : `must be that of the path, ${inPath}`)
}
