import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { type FaultRole, invalidArgument } from '../../domain/errors.ts'
import type { Recorded } from '../../services/customers/borrowers.ts'
import type { Range, Ranged } from '../../services/paging.ts'
import type { RawJson } from '../body/json.ts'
import { markReplayed } from '../http/idempotency.ts'
import { listMembers, membersOf } from '../lists/envelope.ts'
import { idParam, int64 } from '../wire.ts'

/** The components of the record style's document. */
export const registry = z.registry<{ id?: string | undefined; examples?: unknown[]; [key: string]: unknown }>()

/**
 * Writes an example of the values of a schema; values that are kept as the JSON they were sent as are written plainly.
 */
type Shown<T> = T extends RawJson
  ? number | string
  : T extends object
    ? { readonly [Member in keyof T]: Shown<T[Member]> }
    : T

/** Makes a schema that the document holds by name, with an example. */
export function named<T extends z.ZodType>(id: string, schema: T, { example }: { example: Shown<z.input<T>> }): T {
  registry.add(schema, { id, examples: [example] })
  return schema
}

/** An id of the client's own, in a body. */
export const recordId = int64({ min: 1n })

/** The types of the fields that only answers have. */
const ANSWER_ONLY = {
  credit_score: { type: 'integer', format: 'int32' },
  status: { type: 'string' },
  reversed: { type: 'boolean' },
  created_at: { type: 'string', format: 'date-time' },
  updated_at: { type: 'string', format: 'date-time' },
} as const

/**
 * Makes the fields that only the answers of a kind of item have (contract 5). A request may hold them, so that an item
 * can be read, changed and sent back; there they are ignored, whatever they say.
 */
export const answerFields = <Name extends keyof typeof ANSWER_ONLY>(...names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, answerOnly(name)])) as Record<Name, ReturnType<typeof answerOnly>>

const answerOnly = (name: keyof typeof ANSWER_ONLY) =>
  z
    .unknown()
    .optional()
    .meta({ ...ANSWER_ONLY[name], readOnly: true, description: 'Only answers have it; ignored here.' })

/** In answers: an id, exact to the last digit. */
export const wireId = z.unknown().meta({ type: 'integer', format: 'int64', examples: [1] }) as z.ZodType<RawJson>

const PATH_ID = { type: 'integer', format: 'int64', minimum: 1, pattern: undefined, examples: [1] }
const ownId = idParam.meta({ ...PATH_ID, description: 'Your own id.' })

/** The id in a path. A text that cannot be an id is 0, which no resource has: an id in a path is never malformed. */
export const byId = z.object({ id: ownId }).transform(({ id }) => ({ id: id ?? 0n }))

/** The id in a path, and the number of what belongs to that borrower or loan. */
export const byIdWith = (name: 'consentId' | 'guarantorId' | 'collateralId') =>
  z
    .object({ [name]: idParam.meta({ ...PATH_ID, description: 'The number that the service answered as `id`.' }) })
    .extend({ id: ownId })
    .transform((params) => ({
      ref: { id: params.id ?? 0n },
      id: ((params as Readonly<Record<string, unknown>>)[name] as bigint | null) ?? 0n,
    }))

const success = z.boolean().describe('True; a refusal has false.')

/** Makes the envelope of one resource (contract 5), with the example of the resource. */
export function itemOf<T extends z.ZodType>(id: string, item: T) {
  const envelope = z.object({ item, success })
  registry.add(envelope, { id, examples: [toItem(exampleOf(item))] })
  return envelope
}

/** A cursor as the document shows it. */
const NEXT = 'bG9hbnMuMnI'

/** Makes the envelope of a list (contract 5, 15); its example holds one item. */
export function listOf<T extends z.ZodType>(id: string, item: T) {
  const envelope = z.object({ items: z.array(item), ...listMembers(), success })
  const listed = { items: [exampleOf(item)], total: 1, next: NEXT }
  registry.add(envelope, { id, examples: [toList(listed, { rows: 100 }, (shown) => shown)] })
  return envelope
}

const exampleOf = (schema: z.ZodType): unknown => registry.get(schema)?.examples?.[0]

/** Returns the resource that a POST made or found by its id, and marks the answer if it was found (contract 1.11). */
export function made<T>(reply: FastifyReply, { item, replayed }: Recorded<T>): T {
  if (replayed) markReplayed(reply)
  return item
}

/** Puts one resource into its envelope. */
export const toItem = <View>(item: View) => ({ item, success: true as const })

/** Builds a page of a list in its envelope, each item in the record style's view. */
export const toList = <T, View>(part: Ranged<T>, range: Range, toView: (item: T) => View) => ({
  items: part.items.map(toView),
  ...membersOf(part, range),
  success: true as const,
})

/**
 * Checks that a body names the same id as the path.
 * @throws LendingError `invalid_argument` when the body names another id (contract 5.4)
 */
export function requireSameId(role: FaultRole, inPath: bigint, inBody: bigint | undefined): void {
  if (inBody !== undefined && inBody !== inPath)
    throw invalidArgument(role, inPath === 0n ? 'is not the id of the path' : `must be that of the path, ${inPath}`)
}
