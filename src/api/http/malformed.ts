import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Listener } from '../../services/listener.ts'
import { prefixOf, type Style } from '../style.ts'
import { logUnrouted } from './accessLog.ts'
import { NO_STORE, STATUSES, sendFailure, toFailure } from './failure.ts'
import { toCaller } from './request.ts'

/** Errors of Node's parser; any other means that the bytes are not HTTP. */
const FAULTS: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'the request took too long to arrive',
  HPE_HEADER_OVERFLOW: 'the headers are too large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'the chunk extensions are too large',
}

/**
 * Answers bytes that are no request, on the bare socket, with the error body of `style`: their host cannot be relied on.
 */
export function answerMalformed(style: Style) {
  return (error: Error & { code?: string }, socket: Socket & { _httpMessage?: { headersSent: boolean } | null }) => {
    // As Node does: an answer that has begun on this connection cannot be followed by another.
    if (error.code === 'ECONNRESET' || !socket.writable || socket._httpMessage?.headersSent) {
      socket.destroy()
      return
    }
    const failure = {
      code: 'invalid_argument' as const,
      message: FAULTS[error.code ?? ''] ?? 'the request is not valid HTTP',
    }
    const body = JSON.stringify(style.failureBody(failure))
    socket.end(
      `HTTP/1.1 ${STATUSES[failure.code]} Bad Request\r\n` +
        'content-type: application/json; charset=utf-8\r\n' +
        `cache-control: ${NO_STORE}\r\n` +
        `content-length: ${Buffer.byteLength(body)}\r\n` +
        `x-request-id: ${randomUUID()}\r\n` +
        `connection: close\r\n\r\n${body}`,
    )
  }
}

/** The parts that the refusals of requests without a route are made with. */
interface Unrouted {
  readonly styles: readonly Style[]
  /** The style of a request whose host and path select none. */
  readonly fallback: Style
  readonly listener: Listener
  /** Returns whether an error means that the database cannot be reached or takes no changes. */
  readonly unavailable: (error: unknown) => boolean
}

/** Answers and logs a request that the router refuses, such as one whose path cannot be decoded: no hook runs for it. */
export function answerUnrouted({ styles, fallback, listener, unavailable }: Unrouted) {
  return (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    const style = styles.find(({ name }) => request.url.startsWith(`${prefixOf(name)}/`)) ?? fallback
    const requestId = toCaller(request.id)
    reply.header('x-request-id', requestId)
    logUnrouted(listener, request, reply)
    const failure = toFailure(error, { faultNames: style.faultNames, requestId, unavailable })
    sendFailure(style, failure, error, request, reply)
  }
}

/**
 * Serves a request whose `Expect` is not 100-continue as if it expected nothing, which is allowed (RFC 9110 10.1.1). The
 * refusal 417 of Node has no request id.
 */
export function ignoreExpectations(app: FastifyInstance): void {
  app.server.on('checkExpectation', (request, response) => app.routing(request, response))
}
