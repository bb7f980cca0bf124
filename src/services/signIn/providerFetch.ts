import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { Readable } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import {
  addressIn,
  byNameServers,
  bySystem,
  checkedLookup,
  createResolver,
  isPublicAddress,
  PrivateAddressError,
} from '../webhooks/address.ts'

/** The time within which a provider has to answer. */
export const PROVIDER_WITHIN_MS = 3_000
/** The most bytes of an answer of a provider. */
export const MOST_PROVIDER_BYTES = 262_144

/** Thrown where a provider does not answer, or says that it cannot now: the same request will do later. */
export class ProviderAwayError extends Error {
  override readonly name = 'ProviderAwayError'
}

/** A request to a provider, as its client makes it. */
interface Asked {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** Sends a request to a provider. @throws ProviderAwayError */
export type ProviderFetch = (url: string, asked: Asked) => Promise<Response>

/** What a status of a provider says that it cannot answer now. */
const isAway = (status: number): boolean => status >= 500 || status === 429

/**
 * Creates the requests to providers: to addresses of the internet alone unless `toPrivate`, following no redirect, each with a time and a
 * length that it may take.
 */
export function createProviderFetch(toPrivate: boolean, withinMs = PROVIDER_WITHIN_MS): ProviderFetch {
  const lookup = checkedLookup(createResolver(toPrivate ? bySystem : byNameServers), toPrivate)
  return async (text, { method, headers, body }) => {
    const url = new URL(text)
    const address = addressIn(url)
    if (url.protocol !== 'https:' && !(toPrivate && url.protocol === 'http:'))
      throw new ProviderAwayError('a provider must be called by https:')
    if (address !== undefined && !toPrivate && !isPublicAddress(address))
      throw new ProviderAwayError(new PrivateAddressError().message)
    const signal = AbortSignal.timeout(withinMs)
    try {
      const sent = body === undefined || body === null ? '' : String(body)
      const options = {
        method,
        lookup,
        signal,
        agent: false as const,
        headers: { ...headers, ...(sent !== '' && { 'content-length': String(Buffer.byteLength(sent)) }) },
      }
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        const request = (url.protocol === 'https:' ? https : http).request(url, options, resolve)
        request.on('error', reject)
        request.end(sent)
      })
      const content = await read(answer)
      const status = answer.statusCode ?? 502
      if (isAway(status)) throw new ProviderAwayError(`the provider answered ${status}`)
      const names = ['content-type', 'www-authenticate'] as const
      const kept = names.flatMap((name) => (answer.headers[name] === undefined ? [] : [[name, answer.headers[name]]]))
      const hasBody = status !== 204 && status !== 304
      return new Response(hasBody ? content : null, { status, headers: Object.fromEntries(kept) })
    } catch (error) {
      if (error instanceof ProviderAwayError) throw error
      throw new ProviderAwayError(signal.aborted ? 'the provider did not answer in time' : String(error), {
        cause: error,
      })
    }
  }
}

/** Reads an answer, up to the most that it may have. @throws ProviderAwayError */
async function read(answer: IncomingMessage): Promise<string> {
  let bytes = 0
  async function* bounded() {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > MOST_PROVIDER_BYTES) throw new ProviderAwayError('the answer of the provider is too long')
      yield chunk
    }
  }
  return textOf(Readable.from(bounded()))
}
