import type { FastifyInstance } from 'fastify'

/** An answer as it was sent. */
export interface RawAnswer {
  readonly status: number
  readonly text: string
  readonly headers: Record<string, string | string[] | number | undefined>
}

/**
 * Makes a `fetch` that asks an app without a network.
 * @param seen is told each answer as it was sent
 */
export function injectFetch(app: FastifyInstance, seen: (answer: RawAnswer) => void): typeof fetch {
  return async (url, init) => {
    const request = new Request(String(url), init)
    const { host, pathname, search } = new URL(request.url)
    const payload = request.body === null ? undefined : Buffer.from(await request.arrayBuffer())
    const response = await app.inject({
      method: request.method as 'GET',
      url: pathname + search,
      headers: { ...Object.fromEntries(request.headers), host },
      ...(payload && { payload }),
    })
    seen({ status: response.statusCode, text: response.payload, headers: response.headers })
    const headers = new Headers()
    for (const [name, value] of Object.entries(response.headers))
      if (value !== undefined) headers.set(name, String(value))
    const isEmpty = [204, 304].includes(response.statusCode)
    return new Response(isEmpty ? null : response.payload, { status: response.statusCode, headers })
  }
}
