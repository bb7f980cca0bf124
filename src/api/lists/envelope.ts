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

const COMMA = Buffer.from(',')

/**
 * Answers with a list whose items are bytes of JSON already, written one after the other: writing all at once would delay
 * other requests.
 * @returns stands for the items in the envelope, whose first list they become
 */
export function writtenItems<View>(reply: FastifyReply, items: readonly Buffer[]): View[] {
  // Fastify sets the content type only of answers that it serializes with its own serializer.
  reply.type('application/json; charset=utf-8')
  reply.serializer((envelope: object) => {
    const [before, ...after] = JSON.stringify(envelope).split('[]')
    const parts = items.flatMap((item, index) => (index === 0 ? [item] : [COMMA, item]))
    // Fastify sends bytes as they are, though its types name text only.
    return Buffer.concat([
      Buffer.from(`${before}[`),
      ...parts,
      Buffer.from(`]${after.join('[]')}`),
    ]) as unknown as string
  })
  return []
}
