/** A field that a refusal is about. */
export interface Detail {
  readonly field: string
  readonly message: string
}

/** The facts of an error besides its message. */
export interface ErrorFacts {
  readonly code: string
  readonly status?: number
  readonly requestId?: string | undefined
  readonly details?: readonly Detail[]
  readonly mayBeDone?: boolean
  readonly idempotencyKey?: string | undefined
  readonly retryAfter?: number | undefined
  readonly cause?: unknown
}

/**
 * A call that failed: refused by the service, or without an answer after all attempts.
 */
export class MkopoError extends Error {
  /**
   * The code of the service, such as `not_found`; or `unreachable` where no answer came, `unexpected_answer` for an answer
   * that is not the service's, `idempotency_mismatch` for a token that was used before, and `invalid_webhook` for a
   * webhook that is not.
   */
  readonly code: string
  /** The status of the answer; 0 without one. */
  readonly status: number
  /** The id by which the log of the service has the request. */
  readonly requestId: string | undefined
  /** The fields at fault, if any. */
  readonly details: readonly Detail[]
  /** Whether the service may have carried the call out all the same. The same call with the same key finds out. */
  readonly mayBeDone: boolean
  /** The `Idempotency-Key` of the call, if it had one. */
  readonly idempotencyKey: string | undefined
  /** Seconds after which the service takes the request again, where it has said so. */
  readonly retryAfter: number | undefined

  constructor(message: string, facts: ErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.name = 'MkopoError'
    this.code = facts.code
    this.status = facts.status ?? 0
    this.requestId = facts.requestId
    this.details = facts.details ?? []
    this.mayBeDone = facts.mayBeDone ?? false
    this.idempotencyKey = facts.idempotencyKey
    this.retryAfter = facts.retryAfter
  }
}

/** Returns whether the same request may do later: no answer came, the service is overloaded, or a race was lost. */
export const isPassing = ({ code, status }: MkopoError): boolean =>
  code === 'unreachable' ||
  code === 'aborted' ||
  status === 429 ||
  status >= 500 ||
  (code === 'unexpected_answer' && status < 300)
