import type { Clock, MkopoOptions } from '../../../clients/typescript/src/index.ts'
import { createMkopo } from '../../../clients/typescript/src/index.ts'

/** A request as the fake service got it. */
export interface Sent {
  readonly method: string
  /** The path and the query. */
  readonly path: string
  readonly headers: Headers
  readonly body: string | FormData | undefined
}

/** What a fake service does with a request: an answer, or an error as `fetch` throws it. */
export type Reaction = Response | Error | ((sent: Sent, signal: AbortSignal) => Response | Error | Promise<Response>)

/** A clock that stands still; to sleep moves it. */
export interface HeldClock extends Clock {
  readonly slept: number[]
  ms: number
}

export function heldClock(): HeldClock {
  const clock: HeldClock = {
    ms: Date.parse('2026-01-31T06:30:00Z'),
    slept: [],
    now: () => clock.ms,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted()
      clock.slept.push(ms)
      clock.ms += ms
    },
  }
  return clock
}

/** An answer in JSON. */
export const answer = (body: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(status === 204 ? null : JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'x-request-id': 'req-1', ...headers },
  })

/** A refusal of the service. */
export const refusal = (status: number, code: string, headers: Record<string, string> = {}): Response =>
  answer({ code, message: `about ${code}` }, status, headers)

/** The error of Node's `fetch` for a connection that broke. */
export const broken = (code = 'ECONNRESET'): Error =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) })

export const URLS = {
  baseUrl: 'https://api.lender.example',
  recordsUrl: 'https://records.lender.example',
  authUrl: 'https://auth.lender.example',
}

/** A client whose requests get one reaction after the other; the last one again and again. */
export function fakeService(reactions: readonly Reaction[], options: MkopoOptions = { token: 'a-token' }) {
  const sent: Sent[] = []
  const clock = heldClock()
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const { pathname, search } = new URL(String(url))
    const request: Sent = {
      method: init?.method ?? 'GET',
      path: pathname + search,
      headers: new Headers(init?.headers),
      body: (init?.body ?? undefined) as Sent['body'],
    }
    const reaction = reactions[Math.min(sent.length, reactions.length - 1)]!
    sent.push(request)
    const outcome = typeof reaction === 'function' ? await reaction(request, init!.signal!) : reaction
    if (outcome instanceof Error) throw outcome
    return outcome.clone()
  }
  return { mkopo: createMkopo({ ...URLS, fetch, clock, ...options }), sent, clock }
}

/** The error of a call that has to fail. */
export async function failureOf(call: Promise<unknown>): Promise<Record<string, unknown>> {
  return call.then(
    (value) => {
      throw new Error(`the call was answered with ${JSON.stringify(value)}`)
    },
    (error) => error,
  )
}

/** All items of an iterator. */
export async function allOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}
