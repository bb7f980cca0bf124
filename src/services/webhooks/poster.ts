import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import manifest from '../../../package.json' with { type: 'json' }
import { readRetryAfter } from '../../domain/webhooks/webhooks.ts'
import {
  addressIn,
  byNameServers,
  bySystem,
  checkedLookup,
  createResolver,
  isPublicAddress,
  PrivateAddressError,
  type ResolveName,
} from './address.ts'

/** The time within which a receiver has to answer (contract 8). */
export const ANSWER_WITHIN_MS = 15_000
/** The most bytes of an answer that are read. */
export const MOST_ANSWER_BYTES = 1_024
/** The time that the body of an answer may take after its status. */
const BODY_WITHIN_MS = 1_000
/** Connections to one host that are kept between two requests. */
const MOST_KEPT = 32
/** Shorter than the idle timeout of the usual receivers, so that they seldom close a connection that is about to be used. */
const KEEP_ALIVE_MS = 4_000

/** What came of a request: the answer, or why there is none. */
export interface Posted {
  /** Null: no answer. */
  readonly status: number | null
  readonly ms: number
  /** The first kB of the body of the answer. */
  readonly text: string
  /** Why there is no answer, or why the answer is no success; null for a success. */
  readonly error: string | null
  readonly retryAfterMs: number | undefined
}

/** A request to a receiver. */
export interface Message {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Sends requests to receivers. */
export interface Poster {
  /** Sends one request; never throws. */
  post(message: Message): Promise<Posted>
  /** Looks the names up as a request does. */
  readonly resolve: ResolveName
  /** Closes the connections that are kept. */
  close(): void
}

/** Options of a poster. */
export interface PosterOptions {
  /** Whether private addresses are allowed. */
  readonly toPrivate: boolean
  readonly resolve?: ResolveName
  readonly answerWithinMs?: number
}

/** Creates a poster with connections of its own. */
export function createPoster(options: PosterOptions): Poster {
  const { toPrivate, answerWithinMs = ANSWER_WITHIN_MS } = options
  const resolve = createResolver(options.resolve ?? (toPrivate ? bySystem : byNameServers))
  const pool = { keepAlive: true, scheduling: 'lifo' as const, timeout: KEEP_ALIVE_MS, maxFreeSockets: MOST_KEPT }
  const agents = { 'http:': new http.Agent(pool), 'https:': new https.Agent(pool) }
  const lookup = checkedLookup(resolve, toPrivate)
  return {
    resolve,
    async post({ url: text, headers, body }) {
      const begun = performance.now()
      const since = () => Math.round(performance.now() - begun)
      const none = (error: string): Posted => ({ status: null, ms: since(), text: '', error, retryAfterMs: undefined })
      const url = new URL(text)
      const address = addressIn(url)
      if (url.protocol === 'http:' && !toPrivate) return none('http: is not allowed')
      if (address !== undefined && !toPrivate && !isPublicAddress(address))
        return none(new PrivateAddressError().message)
      const deadline = new AbortController()
      const timer = setTimeout(() => deadline.abort(), answerWithinMs)
      const { promise: late, reject } = Promise.withResolvers<never>()
      deadline.signal.addEventListener('abort', () => reject(deadline.signal.reason), { once: true })
      // Nobody waits for it where the answer comes in time.
      late.catch(() => undefined)
      try {
        const sending = { method: 'POST', lookup, signal: deadline.signal, headers: headersOf(headers, body) }
        const ask = (agent: http.Agent | false) =>
          answerOf((url.protocol === 'https:' ? https : http).request(url, { ...sending, agent }), body)
        const asked = ask(agents[url.protocol as keyof typeof agents]).catch((error: unknown) => {
          if (error instanceof KeptConnectionError) return ask(false)
          throw error
        })
        const answer = await Promise.race([asked, late])
        return { ...(await read(answer)), ms: since() }
      } catch (error) {
        return none(deadline.signal.aborted ? `no answer within ${answerWithinMs / 1000} s` : reasonOf(error))
      } finally {
        clearTimeout(timer)
      }
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}

const headersOf = (headers: Message['headers'], body: string) => ({
  'content-type': 'application/json; charset=utf-8',
  'content-length': Buffer.byteLength(body),
  'user-agent': `Mkopo/${manifest.version}`,
  ...headers,
})

/** Thrown where the receiver had closed a kept connection: a new one may do. */
class KeptConnectionError extends Error {}

function answerOf(request: http.ClientRequest, body: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    // A listener stays for ever: without one, an error after the answer would end the process.
    request.on('error', (error: NodeJS.ErrnoException) => {
      const wasClosed = request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
      reject(wasClosed ? new KeptConnectionError() : error)
    })
    request.on('response', resolve)
    // Without a listener, Node ends the connection and says nothing.
    request.on('upgrade', (answer, socket) => {
      socket.destroy()
      reject(new Error(`answered ${answer.statusCode}: another protocol is not spoken`))
    })
    request.on('close', () => reject(new Error('the connection was closed without an answer')))
    request.end(body)
  })
}

/** Reads the first kB of an answer. Its status counts also where its body breaks off, is late or is long. */
async function read(answer: IncomingMessage): Promise<Omit<Posted, 'ms'>> {
  const status = answer.statusCode ?? 0
  const chunks: Buffer[] = []
  let bytes = 0
  await new Promise<void>((done) => {
    const late = setTimeout(done, BODY_WITHIN_MS)
    const end = () => {
      clearTimeout(late)
      done()
    }
    answer.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > MOST_ANSWER_BYTES) end()
    })
    answer.on('end', end).on('close', end).on('error', end)
  })
  // What is not read to its end must not be read later by the next request of the connection.
  if (!answer.complete) answer.destroy()
  const success = status >= 200 && status < 300
  return {
    status,
    text: Buffer.concat(chunks).subarray(0, MOST_ANSWER_BYTES).toString('utf8'),
    error: success ? null : wordsOf(status),
    retryAfterMs: readRetryAfter(answer.headers['retry-after'], Date.now()),
  }
}

const wordsOf = (status: number): string =>
  status >= 300 && status < 400
    ? `answered ${status}: a redirect is not followed`
    : `answered ${status} ${http.STATUS_CODES[status] ?? ''}`.trimEnd()

const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'no address is known for the name',
  ENODATA: 'no address is known for the name',
  EAI_AGAIN: 'the name could not be looked up now',
  ETIMEOUT: 'the name could not be looked up now',
  ESERVFAIL: 'the name could not be looked up now',
  EREFUSED: 'the name could not be looked up now',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed without an answer',
  ETIMEDOUT: 'the connection could not be made in time',
  EHOSTUNREACH: 'the address cannot be reached',
  ENETUNREACH: 'the address cannot be reached',
}

/** The most characters of an error that are kept. */
const LONGEST_REASON = 200

/** Says why there is no answer, without what only a programmer reads. */
function reasonOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException
  const first = error instanceof AggregateError ? (error.errors[0] as NodeJS.ErrnoException | undefined) : undefined
  const known = REASONS[code] ?? REASONS[first?.code ?? '']
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a receiver can write what it wants into a certificate
  return (known ?? (message || code)).replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ').slice(0, LONGEST_REASON)
}
