import type { Answer } from './attempt.ts'
import { type Detail, MkopoError } from './errors.ts'

/** Returns the error of an answer that is no success. */
export function refusalOf(answer: Answer): MkopoError {
  const body = failureIn(answer.text)
  if (body === undefined) return unexpected(answer)
  return new MkopoError(body.message, { ...factsOf(answer), code: body.code, details: body.details ?? [] })
}

/** Returns the error of an answer that the service does not give. */
export function unexpected(answer: Answer, cause?: unknown): MkopoError {
  const to = answer.headers.get('location')
  const message = to === null ? `the answer ${answer.status} is not the service's` : `the service has moved to ${to}`
  return new MkopoError(message, { ...factsOf(answer), code: 'unexpected_answer', cause })
}

/** Returns the error of an answer with a transaction of another content, which its token found. */
export function mismatchOf(answer: Answer): MkopoError | undefined {
  const members = answer.headers.get('idempotency-mismatch')
  if (members === null) return undefined
  const details = members.split(/, */).map((field) => ({ field, message: 'is not what was posted' }))
  const message = `nothing was posted: the idempotencyKey was used before, with another ${members}`
  return new MkopoError(message, { ...factsOf(answer), code: 'idempotency_mismatch', details })
}

const factsOf = ({ status, headers }: Answer) => ({
  status,
  requestId: headers.get('x-request-id') ?? undefined,
  retryAfter: retryAfterOf(headers),
})

interface Failure {
  readonly code: string
  readonly message: string
  readonly details?: readonly Detail[]
}

function failureIn(text: string): Failure | undefined {
  try {
    const body = JSON.parse(text)
    return typeof body?.code === 'string' && typeof body.message === 'string' ? body : undefined
  } catch {
    return undefined
  }
}

/** Returns the seconds of `Retry-After`, which may be a date. */
function retryAfterOf(headers: Headers): number | undefined {
  const given = headers.get('retry-after')
  if (given === null) return undefined
  const seconds = /^\d+$/.test(given) ? Number(given) : (Date.parse(given) - Date.now()) / 1_000
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}
