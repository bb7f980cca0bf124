import type { ErrorCode } from '../../domain/errors.ts'

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
