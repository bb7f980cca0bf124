import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  type ErrorCode,
  type FaultNames,
  inNames,
  LendingError,
  ledByField,
  type NamedFault,
} from '../../domain/errors.ts'
import { InvalidRequest } from '../body/invalidRequest.ts'
import type { Style } from '../style.ts'
import { discardBody } from './discardBody.ts'
import { keepOutOfCaches } from './headers.ts'
import { STATUSES } from './statuses.ts'

/** A refusal or an error of the service, before a style builds the body of the answer. */
export interface Failure {
  readonly code: ErrorCode
  readonly message: string
  readonly details?: readonly NamedFault[]
  /** Seconds, sent as `Retry-After`. */
  readonly retryAfter?: number
}

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

/** Answers with the body of the style. Errors of the service are logged in full; a refusal is logged with its request. */
export function sendFailure(
  style: Style,
  failure: Failure,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const { code, retryAfter } = failure
  if (code === 'internal') request.log.error({ err: error }, 'failed')
  else if (code === 'unavailable') request.log.warn({ err: error }, 'unavailable')
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
