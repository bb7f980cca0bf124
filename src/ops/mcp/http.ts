import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'

/** A request to the service. */
export interface HttpRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

/** An answer of the service. */
export interface HttpAnswer {
  readonly status: number
  readonly type: string
  readonly text: string
  /** Whether more bytes came than are read. */
  readonly isCut: boolean
}

/** Sends a request. @throws UnreachableError where no answer comes */
export type Send = (request: HttpRequest) => Promise<HttpAnswer>

/** The service does not answer: the same request may do later. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError'
}

/** The time within which an answer has to be there in full. */
const ANSWER_WITHIN_MS = 60_000
/** The most bytes of an answer that are read. */
export const MOST_READ_BYTES = 4 * 1024 * 1024

const LOCAL = /(^|\.)localhost$/i

/** Sends a request over HTTP. A redirect is not followed. A name below `localhost` is this machine, also where no name server says so. */
export const sendOverHttp: Send = async ({ method, url: text, headers, body }) => {
  const url = new URL(text)
  const signal = AbortSignal.timeout(ANSWER_WITHIN_MS)
  try {
    const options = {
      method,
      signal,
      headers: {
        ...headers,
        host: url.host,
        ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
      },
      ...(LOCAL.test(url.hostname) && { hostname: '127.0.0.1', servername: url.hostname }),
    }
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const request = (url.protocol === 'https:' ? https : http).request(url, options, resolve)
    request.on('error', reject)
    request.end(body)
    const answer = await promise
    return {
      status: answer.statusCode ?? 0,
      type: String(answer.headers['content-type'] ?? ''),
      ...(await read(answer)),
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = signal.aborted ? `no answer within ${ANSWER_WITHIN_MS / 1000} s` : (code ?? message)
    throw new UnreachableError(`${url.origin} does not answer (${why})`, { cause: error })
  }
}

async function read(answer: IncomingMessage): Promise<Pick<HttpAnswer, 'text' | 'isCut'>> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    // Leaving the loop ends the connection.
    if (bytes > MOST_READ_BYTES) break
  }
  const all = Buffer.concat(chunks)
  return { text: all.subarray(0, MOST_READ_BYTES).toString('utf8'), isCut: bytes > MOST_READ_BYTES }
}
