import { writeJson } from './json.ts'
import type { Call, Operation } from './operation.ts'

/** An answer, read to its end. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** What every attempt of a call sends. */
export interface Prepared {
  readonly method: string
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: string | FormData | undefined
}

/**
 * Makes the request of an operation. Its body is written once, so that all attempts are the same.
 * @throws TypeError for a body that JSON cannot hold
 */
export function prepare(base: string, operation: Operation, call: Call, key: string | undefined): Prepared {
  const { method, path, query, body, form } = operation
  const headers: Record<string, string> = { accept: 'application/json, */*;q=0.1', ...call.headers }
  if (key !== undefined) headers['idempotency-key'] = key
  const sent = body === undefined ? undefined : form ? formOf(body) : writeJson(body)
  // A form brings its own content type, with its boundary.
  if (typeof sent === 'string') headers['content-type'] = 'application/json'
  return { method, url: base.replace(/\/+$/, '') + path + queryOf(query), headers, body: sent }
}

function queryOf(query: object | undefined): string {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null)
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return text && `?${text}`
}

function formOf(body: unknown): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(body as object)) if (value !== undefined) form.append(name, value)
  return form
}

/**
 * Sends a request once and reads the answer.
 * @throws the error of `fetch` where no whole answer came within the time; the reason of `signal`
 */
export async function attempt(
  send: typeof fetch,
  { url, ...request }: Prepared,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const controller = new AbortController()
  const end = () => controller.abort(signal?.reason)
  const timer = setTimeout(
    () => controller.abort(new DOMException(`no answer within ${timeoutMs} ms`, 'TimeoutError')),
    timeoutMs,
  )
  signal?.throwIfAborted()
  signal?.addEventListener('abort', end)
  try {
    // A redirect would make a GET of a POST.
    const { body, ...head } = request
    const init = {
      ...head,
      ...(body !== undefined && { body }),
      redirect: 'manual',
      signal: controller.signal,
    } as const
    const answer = await send(url, init)
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
}
