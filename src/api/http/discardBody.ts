import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorCode } from '../../domain/errors.ts'

/** Bytes that are read of a refused body, for as long as a request may take to arrive. */
const MOST_BYTES = 64 * 1024 * 1024

/**
 * Reads the rest of a refused body and throws it away. If the connection closed before, the bytes that still arrive
 * would reset it, and the client would not read the refusal and would try again (RFC 9112 9.6).
 */
export function discardBody({ raw }: FastifyRequest, reply: FastifyReply, code: ErrorCode): void {
  if (raw.complete !== false || !hasBody(raw)) return
  // Fastify's own header is removed; the one that a stop sets stays.
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

/**
 * Delays the close of a connection whose client asked for one: Node would close it after the answer, while the body
 * still arrives.
 */
function closeAfterBoth(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request
  let open = 2
  const close = () => --open === 0 && socket.destroySoon()
  response.shouldKeepAlive = true
  request.once('end', close)
  response.once('close', close)
}
