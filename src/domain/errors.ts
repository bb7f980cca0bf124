/**
 * What can be refused, in the words of the contract's section 2. A code has one HTTP status, without which it does not
 * compile, and in every style a body of its own.
 */
export type ErrorCode =
  | 'invalid_argument'
  | 'unauthenticated'
  | 'permission_denied'
  | 'not_found'
  | 'method_not_allowed'
  | 'already_exists'
  | 'failed_precondition'
  | 'aborted'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'resource_exhausted'
  | 'internal'
  | 'unavailable'

/** One field at fault. `field` is the caller's name for it, or a role (`amount`, `valueDate`) that each style renames. */
export interface FieldFault {
  readonly field: string
  readonly message: string
}

/** The caller's fault, or the world's: it has a code, and a message written for the person who reads it. */
export class LendingError extends Error {
  override readonly name = 'LendingError'
  readonly code: ErrorCode
  readonly details: readonly FieldFault[]
  /** Seconds after which it is worth trying again; sent as `Retry-After`. */
  readonly retryAfter: number | undefined
  /** The kind of thing that is not there; of a `not_found`. */
  readonly missing: string | undefined

  constructor(
    code: ErrorCode,
    message: string,
    details: readonly FieldFault[] = [],
    retryAfter?: number,
    missing?: string,
  ) {
    super(message)
    this.code = code
    this.details = details
    this.retryAfter = retryAfter
    this.missing = missing
  }
}

/** `invalid_argument` on one field; the style puts its own name of the field before the message. */
export const invalidField = (field: string, message: string) =>
  new LendingError('invalid_argument', message, [{ field, message }])

/**
 * `not_found`: "no loan has that id".
 * @param missing what is not there (`loan`, `customer`), where a style may say how else it is asked for
 */
export const notFound = (message: string, missing?: string) =>
  new LendingError('not_found', message, [], undefined, missing)

/** `failed_precondition`: the state does not allow it; the message says which state, and what would be allowed. */
export const failedPrecondition = (message: string) => new LendingError('failed_precondition', message)

/** Our own bug: the request answers `internal`, the log says what was expected. */
class InvariantError extends Error {
  override readonly name = 'InvariantError'
}

/** States what must hold. When it does not, the bug is ours and nothing is saved. */
export function invariant(condition: unknown, expectation: string): asserts condition {
  if (!condition) throw new InvariantError(expectation)
}
