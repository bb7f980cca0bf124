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
  readonly headers: Headers
  readonly body: string | FormData | undefined
}

/**
 * Makes the request of an operation. Its body is written once, so that all attempts are the same.
 * @throws TypeError for a path, a header or a body that cannot be sent
 */
export function prepare(base: string, operation: Operation, call: Call, key: string | undefined): Prepared {
  const { method, path, query, body, form, lines } = operation
  const headers = new Headers(call.headers)
  if (key !== undefined) headers.set('idempotency-key', key)
  const sent = body === undefined ? undefined : form ? formOf(body) : lines ? linesOf(body) : writeJson(body)
  // A form brings its own content type, with its boundary.
  if (typeof sent === 'string') headers.set('content-type', lines ? 'application/x-ndjson' : 'application/json')
  const route = typeof path === 'function' ? path() : path
  return { method, url: base.replace(/\/+$/, '') + route + queryOf(query), headers, body: sent }
}

function queryOf(query: object | undefined): string {
  const text = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {}))
    if (value !== undefined && value !== null) text.append(name, String(value))
  return text.size === 0 ? '' : `?${text}`
}

const linesOf = (body: unknown): string => (body as readonly unknown[]).map((line) => `${writeJson(line)}\n`).join('')

function formOf(body: unknown): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(body as object)) if (value !== undefined) form.append(name, value)
  return form
}

/** How one attempt is sent. */
export interface AttemptOptions {
  readonly fetch: typeof fetch
  readonly authorization: string | undefined
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
}

/**
 * Sends a request once and reads the answer.
 * @throws the error of `fetch` where no whole answer came within the time; the reason of `signal`
 */
export async function attempt(request: Prepared, options: AttemptOptions): Promise<Answer> {
  const { authorization, timeoutMs, signal } = options
  signal?.throwIfAborted()
  const controller = new AbortController()
  const end = () => controller.abort(signal?.reason)
  signal?.addEventListener('abort', end)
  const late = () => controller.abort(new DOMException(`no answer within ${timeoutMs} ms`, 'TimeoutError'))
  const timer = setTimeout(late, timeoutMs)
  const { url, method, body = null } = request
  const headers = new Headers(request.headers)
  if (authorization !== undefined) headers.set('authorization', authorization)
  try {
    // By following a redirect, fetch would make a GET of a POST.
    const init = { method, headers, body, redirect: 'manual', signal: controller.signal } as const
    const answer = await options.fetch(url, init)
    // Unlike text(), this keeps a byte order mark, with which a CSV file says that it is UTF-8.
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(await answer.arrayBuffer())
    return { status: answer.status, headers: answer.headers, text }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
}
