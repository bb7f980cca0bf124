import type { FastifyReply, FastifyRequest } from 'fastify'

/** Of a body that is refused this much more is read, for as long as any request may take to arrive. */
const MOST_BYTES = 64 * 1024 * 1024

/**
 * Lets a caller send to its end what is refused already; it is thrown away. On a connection that is closed before, what
 * still arrives resets it, and he never reads why: he would try again what can never succeed (RFC 9112 9.6).
 */
export function takeRest({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (raw.complete !== false) return
  // Fastify's own, where a body is too large.
  reply.removeHeader('connection')
  let left = MOST_BYTES
  raw.unpipe()
  raw.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) raw.destroy()
  })
  raw.resume()
}
