import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  type ErrorCode,
  type FaultNames,
  inNames,
  LendingError,
  ledByField,
  type NamedFault,
} from '../../domain/errors.ts'
import { InvalidRequest } from '../body/json.ts'
import type { Failure, Style } from '../style.ts'

/** Arguments of `toFailure` besides the error. */
export interface FailureContext {
  readonly faultNames: FaultNames
  readonly requestId: string
  /** Returns whether the error means that the database cannot be reached or takes no changes. */
  readonly unavailable: (error: unknown) => boolean
  /** Returns what would be right, where the error lacks it. */
  readonly hint?: (error: unknown) => string | undefined
}

const RETRY_AFTER_SECONDS = 2

/** Codes for errors that carry only a status: those of Fastify and of its plugins. */
const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthenticated',
  403: 'permission_denied',
  404: 'not_found',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  429: 'resource_exhausted',
}

export const MALFORMED_URL =
  'the URL is malformed: a % is followed by two hexadecimal digits, and what they spell is UTF-8'

/** Messages for errors of Fastify, whose own messages are for programmers of a server. */
const BY_CODE: Readonly<Record<string, string>> = {
  FST_ERR_BAD_URL: MALFORMED_URL,
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'the body is not as long as Content-Length says',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'the content type must be application/json, in UTF-8',
}

const IN_GENERAL: Readonly<Partial<Record<ErrorCode, string>>> = {
  unauthenticated: 'the credentials are missing or wrong',
  permission_denied: 'this is not allowed',
  not_found: 'no such path',
  payload_too_large: 'the body is larger than is accepted here',
  unsupported_media_type: 'the content type is not accepted here',
  resource_exhausted: 'too many requests; try again later',
}

/** Returns the failure for anything that was thrown. An error that is not known to be the client's fault is `internal`, without details. */
export function toFailure(error: unknown, context: FailureContext): Failure {
  const failure = failureOf(error, context)
  const hint = context.hint?.(error)
  return hint === undefined ? failure : { ...failure, message: `${failure.message}; ${hint}` }
}

function failureOf(error: unknown, { faultNames, requestId, unavailable }: FailureContext): Failure {
  if (error instanceof InvalidRequest) {
    const details = error.details.map(({ field, message }) => ({ field, message }))
    return withDetails('invalid_argument', error.message, details)
  }
  if (error instanceof LendingError) {
    const { message, details } = inNames(error, faultNames)
    const failure = withDetails(error.code, message, details)
    const again = error.retryAfter ?? (error.code === 'unavailable' ? RETRY_AFTER_SECONDS : undefined)
    return again === undefined ? failure : { ...failure, retryAfter: again }
  }
  const { code, statusCode } = (error ?? {}) as { code?: unknown; statusCode?: unknown }
  if (code === 'FST_ERR_MAX_PARAM_LENGTH')
    return { code: 'not_found', message: 'no such path: nothing has so long an id' }
  // Before the check of the database: a client that hangs up in the middle of a body resets its connection too.
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    const ours = BY_STATUS[statusCode] ?? 'invalid_argument'
    return { code: ours, message: BY_CODE[String(code)] ?? IN_GENERAL[ours] ?? 'the request could not be read' }
  }
  if (unavailable(error))
    return {
      code: 'unavailable',
      message: 'the database cannot be reached or takes no changes; try again',
      retryAfter: RETRY_AFTER_SECONDS,
    }
  return { code: 'internal', message: `an error on our side; please quote the request id ${requestId}` }
}

/** Makes a failure; its message begins with the first field at fault: `transactionAmount: must be greater than 0`. */
const withDetails = (code: ErrorCode, message: string, details: readonly NamedFault[]): Failure =>
  details.length === 0 ? { code, message } : { code, message: ledByField(message, details), details }

/** HTTP status of each code, in every style and on the operators' port; the compiler requires one for every code. */
export const STATUSES: Readonly<Record<ErrorCode, number>> = {
  invalid_argument: 400,
  unauthenticated: 401,
  permission_denied: 403,
  not_found: 404,
  method_not_allowed: 405,
  already_exists: 409,
  failed_precondition: 409,
  aborted: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  resource_exhausted: 429,
  internal: 500,
  unavailable: 503,
}

/** Logs an error of the service in full; a refusal is logged with its request. */
export function logFailure({ code }: Failure, error: unknown, { log }: Pick<FastifyRequest, 'log'>): void {
  if (code === 'internal') log.error({ err: error }, 'failed')
  else if (code === 'unavailable') log.warn({ err: error }, 'unavailable')
}

/** Answers with the body of the style. */
export function sendFailure(
  style: Style,
  failure: Failure,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const { code, retryAfter } = failure
  logFailure(failure, error, request)
  request.failure = failure
  discardBody(request, reply, code)
  keepOutOfCaches(reply)
  // A refusal may come before the style's own hooks have run.
  if (style.headers !== undefined) reply.headers(style.headers)
  if (retryAfter !== undefined) reply.header('retry-after', String(Math.max(1, Math.ceil(retryAfter))))
  // RFC 9110 15.5.2: a 401 names the way to authenticate. The token call has set Basic by now.
  if (code === 'unauthenticated' && !reply.hasHeader('www-authenticate')) reply.header('www-authenticate', 'Bearer')
  return reply.code(STATUSES[code]).send(style.failureBody(failure))
}

/** Returns the members of every style's refusal; `details` only when fields are at fault. */
export const failureWords = ({ code, message, details }: Failure) =>
  details === undefined || details.length === 0 ? { code, message } : { code, message, details }

/** Bytes that are read of a refused body, for as long as a request may take to arrive. */
export const DISCARDED_BYTES = 64 * 1024 * 1024

/**
 * Reads the rest of a refused body and throws it away. If the connection closed before, the bytes that still arrive
 * would reset it, and the client would not read the refusal and would try again (RFC 9112 9.6).
 */
function discardBody({ raw }: FastifyRequest, reply: FastifyReply, code: ErrorCode): void {
  if (raw.complete !== false || !hasBody(raw)) return
  // Fastify's own header is removed; the one that a stop sets stays.
  if (code === 'payload_too_large') reply.removeHeader('connection')
  let left = DISCARDED_BYTES
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

/** Headers of every answer, for browsers. The reference at /docs has a content policy of its own. */
const HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

/** The value of `Cache-Control` for answers that no cache may keep. */
export const NO_STORE = 'no-store'

const A_YEAR = 'max-age=31536000'

/** Keeps an answer out of every cache: it is for one client, or true for the moment only. */
export const keepOutOfCaches = (reply: FastifyReply): void => void reply.header('cache-control', NO_STORE)

/** Adds the security headers; with `https` also the one by which a browser remembers to use https. */
export function secureHeaders(app: FastifyInstance, { https }: { readonly https: boolean }): void {
  const headers = https ? { ...HEADERS, 'strict-transport-security': A_YEAR } : HEADERS
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers)
    done()
  })
}
