import { setImmediate as turn } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Range, Ranged } from '../../services/paging.ts'
import { count, total } from '../openapi/answers.ts'

/** Makes the members that the envelope of a list has in both styles, after its items. */
export const listMembers = () => ({
  total: total().optional().describe('Items on all pages together; of a page only.'),
  page: count.optional().describe('The number of this page, from 1; of a page only.'),
  rowsPerPage: count.describe('The most items that the answer has, as the request asked.'),
  next: z
    .string()
    .optional()
    .describe(
      'The cursor after the last item: send it as `after`. Absent where there is no item, and where the list is in an order of your choice.',
    ),
})

/** Returns the members of the envelope of a part of a list, after its items. */
export const membersOf = <T>({ total: all, next }: Ranged<T>, { page = 1, rows }: Range) => ({
  ...(all !== undefined && { total: all, page }),
  rowsPerPage: rows,
  ...(next !== undefined && { next }),
})

const COMMA = ','.charCodeAt(0)
/** The bytes that are kept free before and after the items for the members of the envelope. */
const ROOM = 4_096
/** The bytes that are copied before other requests get their turn. */
const STEP = 2 ** 20

/** Bytes with free ones before and after them. */
interface Roomy {
  readonly bytes: Buffer
  readonly length: number
}

/** Joins items with commas between them, a part at a time: to copy 50 MB at once would delay other requests by a tenth of a second. */
async function joined(items: readonly Buffer[]): Promise<Roomy> {
  const length = items.reduce((sum, item) => sum + item.length + 1, -1)
  const bytes = Buffer.allocUnsafeSlow(ROOM + Math.max(0, length) + ROOM)
  let [at, copied] = [ROOM, 0]
  for (const [index, item] of items.entries()) {
    if (index > 0) at = bytes.writeUInt8(COMMA, at)
    at += item.copy(bytes, at)
    copied += item.length
    if (copied < STEP) continue
    copied = 0
    await turn()
  }
  return { bytes, length: at - ROOM }
}

/** Puts texts around bytes: into the room that they have, or else into a copy. */
function around(before: string, { bytes, length }: Roomy, after: string): Buffer {
  const [head, tail] = [Buffer.from(before), Buffer.from(after)]
  if (head.length > ROOM || tail.length > ROOM) return Buffer.concat([head, bytes.subarray(ROOM, ROOM + length), tail])
  head.copy(bytes, ROOM - head.length)
  tail.copy(bytes, ROOM + length)
  return bytes.subarray(ROOM - head.length, ROOM + length + tail.length)
}

/**
 * Answers with a list whose items are bytes of JSON already, written one after the other: writing all at once would delay
 * other requests.
 * @returns stands for the items in the envelope, whose first list they become
 */
export async function writtenItems<View>(reply: FastifyReply, items: readonly Buffer[]): Promise<View[]> {
  const written = await joined(items)
  // Fastify sets the content type only of answers that it serializes with its own serializer.
  reply.type('application/json; charset=utf-8')
  reply.serializer((envelope: object) => {
    const [before, ...after] = JSON.stringify(envelope).split('[]')
    // Fastify sends bytes as they are, though its types name text only.
    return around(`${before}[`, written, `]${after.join('[]')}`) as unknown as string
  })
  return []
}
