import type { Answer } from './attempt.ts'
import { type Detail, MkopoError } from './errors.ts'

/** Returns the error of an answer that is no success. */
export function refusalOf({ status, headers, text }: Answer): MkopoError {
  const body = failureIn(text)
  const all = { status, requestId: headers.get('x-request-id') ?? undefined, retryAfter: retryAfterOf(headers) }
  if (body === undefined) {
    const to = headers.get('location')
    const message = to === null ? `the answer ${status} is not the service's` : `the service has moved to ${to}`
    return new MkopoError(message, { ...all, code: 'unexpected_answer' })
  }
  return new MkopoError(body.message, { ...all, code: body.code, details: body.details ?? [] })
}

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
