import type { FastifyReply } from 'fastify'

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
