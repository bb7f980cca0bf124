import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorCode } from '../../domain/errors.ts'

/** Of a body that is refused this much more is read, for as long as a request may take to arrive. */
const MOST_BYTES = 64 * 1024 * 1024

/**
 * Lets a caller send to its end what is refused already; it is thrown away. On a connection that is closed before, what
 * still arrives resets it, and he never reads why: he would try again what can never succeed (RFC 9112 9.6).
 */
export function discardBody({ raw }: FastifyRequest, reply: FastifyReply, code: ErrorCode): void {
  if (raw.complete !== false || !hasBody(raw)) return
  // Fastify's own; what closes connections for a stop stays.
  if (code === 'payload_too_large') reply.removeHeader('connection')
  let left = MOST_BYTES
  raw.unpipe()
  raw.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) raw.destroy()
  })
  raw.resume()
  if (!reply.raw.shouldKeepAlive) closeAfterBoth(raw, reply.raw)
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** For who asked to have it closed: Node would close it after the answer, whatever is still to come of the body. */
function closeAfterBoth(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request
  let open = 2
  const close = () => --open === 0 && socket.destroySoon()
  response.shouldKeepAlive = true
  request.once('end', close)
  response.once('close', close)
}
