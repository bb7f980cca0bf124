import { Agent, request } from 'node:http'
import { anyText, inHeader, mutatedBytes, oneOf, type Random, written } from './mutate.ts'

/** A request as it is sent. */
export interface Sent {
  /** The operation or route that it comes from. */
  readonly name: string
  readonly port: number
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | undefined
}

/** An answer; the status 0 where none came. */
export interface Got {
  readonly status: number
  readonly location: string
  readonly text: string
}

const ANSWER_WITHIN_MS = 60_000

/** The connections of a run; ended by `destroy`. */
export const connections = () => new Agent({ keepAlive: true, maxSockets: 64 })

/**
 * Sends a request over a socket, once more where the connection had been closed meanwhile, as a client does that keeps
 * connections. A connection that ends without an answer is an answer of the status 0.
 */
export async function send(agent: Agent, sent: Sent): Promise<Got> {
  const got = await sendOnce(agent, sent)
  return got.status === 0 && /socket hang up|ECONNRESET/.test(got.text) ? sendOnce(false, sent) : got
}

const sendOnce = (agent: Agent | false, { port, method, path, headers, body }: Sent): Promise<Got> =>
  new Promise((resolve) => {
    const fail = (error: Error) => resolve({ status: 0, location: '', text: error.message })
    // Node says no length of the body of a HEAD, which then is not HTTP.
    const length = body && { 'content-length': String(body.length) }
    const all = { ...headers, ...length }
    const asked = { agent, host: '127.0.0.1', port, method, path, headers: all, timeout: ANSWER_WITHIN_MS }
    const call = request(asked, (answer) => {
      const parts: Buffer[] = []
      answer.on('data', (part: Buffer) => parts.push(part))
      answer.on('error', fail)
      answer.on('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          location: answer.headers.location ?? '',
          text: Buffer.concat(parts).toString('utf8').slice(0, 500),
        }),
      )
    })
    call.on('timeout', () => call.destroy(new Error('no answer within a minute')))
    call.on('error', fail)
    call.end(body)
  })

/** Headers that callers send by mistake or on purpose, with values that some program understands. */
const HEADERS: readonly (readonly [name: string, values: readonly string[]])[] = [
  ['accept', ['text/csv', 'application/pdf', '*/*;q=0', 'text/html', 'application/json;q=x', ',,,', 'a'.repeat(3_000)]],
  ['accept-encoding', ['gzip', 'br', 'identity;q=0, *;q=0', 'gzip;q=2']],
  ['accept-language', ['sw', 'sw-KE,en;q=0.1', '*', 'x'.repeat(500)]],
  [
    'content-type',
    [
      'text/plain',
      'application/json; charset=utf-16',
      'multipart/form-data',
      'multipart/form-data; boundary=',
      'application/x-www-form-urlencoded',
      ';',
      'application/JSON;a="',
    ],
  ],
  ['content-encoding', ['gzip', 'br', 'x']],
  ['idempotency-key', ['k', '"k"', 'k'.repeat(300), '']],
  [
    'authorization',
    ['Basic Og==', 'Basic', 'Bearer', 'Bearer ..', 'Bearer a.b.c', 'Basic cGFydG5lckBleGFtcGxlLmNvbTp4'],
  ],
  ['cookie', ['mkopo_session=x', 'mkopo_session=%', 'mkopo_language=sw', ';;', '__proto__=1']],
  ['origin', ['null', 'http://elsewhere.example', 'http://[', 'x']],
  ['sec-fetch-site', ['cross-site', 'same-origin', 'none']],
  ['host', ['auth.localhost', 'api.localhost:3000', 'records.localhost', 'x', '[', '127.0.0.1:99999', 'a.b:c']],
  ['if-none-match', ['*', 'W/"x"']],
  ['range', ['bytes=0-', 'bytes=5-1']],
  ['traceparent', ['00-0-0-0', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`]],
  ['x-forwarded-for', ['1.2.3.4, ::1', 'x', ',']],
  ['x-forwarded-proto', ['https', 'https,http']],
  ['x-request-id', ['a b', 'x'.repeat(5_000)]],
  ['expect', ['200-ok']],
  ['origin-agent-cluster', ['?1']],
]

/** Changes one or two headers. */
export function withHeaders(random: Random, headers: Readonly<Record<string, string>>): Record<string, string> {
  const changed = { ...headers }
  for (let left = 1 + random(2); left > 0; left--) {
    const [name, values] = oneOf(random, HEADERS)
    changed[name] = random(3) === 0 ? inHeader(anyText(random)) : oneOf(random, values)
  }
  return changed
}

/** Changes the query of a path: another value, a value twice, an unknown parameter. */
export function withQuery(random: Random, path: string, names: readonly string[]): string {
  const [before = '', query = ''] = path.split('?')
  const parts = query === '' ? [] : query.split('&')
  for (let left = 1 + random(2); left > 0; left--) {
    const name = names.length > 0 && random(5) > 0 ? oneOf(random, names) : written(random, anyText(random))
    const part = `${name}${oneOf(random, ['', '', '', '[]', '[a]'])}=${written(random, anyText(random))}`
    if (random(2) === 0) parts.splice(0, parts.length, ...parts.filter((one) => !one.startsWith(`${name}=`)))
    parts.push(part)
    if (random(8) === 0) parts.push(part)
  }
  return `${before}?${parts.join('&')}`
}

/** Changes one step of a path, or adds one. */
export function withStep(random: Random, path: string): string {
  const [before = '', query] = path.split('?')
  const steps = before.split('/')
  const at = 1 + random(steps.length)
  steps.splice(at, random(5) === 0 ? 0 : 1, written(random, anyText(random)))
  return `${steps.join('/') || '/'}${query === undefined ? '' : `?${query}`}`
}

/** Changes some bytes of a body, or leaves it out. */
export const withBytes = (random: Random, body: Buffer): Buffer | undefined =>
  random(6) === 0 ? undefined : mutatedBytes(random, body)
