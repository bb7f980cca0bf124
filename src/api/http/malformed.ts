import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Style } from '../style.ts'
import { NO_STORE } from './headers.ts'
import { STATUSES } from './statuses.ts'

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
