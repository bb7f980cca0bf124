import type { Operation } from './operation.ts'
import type { Target } from './send.ts'
import type { Credentials, Tokens } from './tokens.ts'

/** The hosts of the service, by the styles that they serve. */
export interface Hosts {
  /** The URL of the partner style, `BASE_URL` of the service. */
  readonly baseUrl?: string | undefined
  /** The URL of the record style, `RECORDS_URL` of the service. */
  readonly recordsUrl?: string | undefined
  /** The URL that issues tokens, `AUTH_URL` of the service; another of the two when left out. */
  readonly authUrl?: string | undefined
}

/**
 * Checks the options that are about hosts and credentials.
 * @throws TypeError, which names the option
 */
export function requireOptions({ baseUrl, recordsUrl, authUrl, email, password }: Hosts & Credentials): void {
  for (const [name, url] of Object.entries({ baseUrl, recordsUrl, authUrl }))
    if (url !== undefined && !/^https?:\/\/[^/?#]+[^?#]*$/.test(url))
      throw new TypeError(`${name} must be a URL such as https://api.lender.example`)
  if ((email === undefined) !== (password === undefined)) throw new TypeError('email and password go together')
}

/**
 * Returns where an operation of a host is sent, and how it is signed.
 * @throws TypeError where an option that the operation needs was left out
 */
export function targetOf(
  host: keyof Hosts,
  { baseUrl, recordsUrl, authUrl = baseUrl ?? recordsUrl, email, password, apiKey }: Hosts & Credentials,
  tokens: Tokens | undefined,
  { signed }: Operation,
): Target {
  const url = { baseUrl, recordsUrl, authUrl }[host]
  if (url === undefined) throw new TypeError(`createMkopo needs ${host} for this call`)
  if (signed === 'none') return { url }
  if (signed === 'basic') {
    if (email === undefined || password === undefined) throw new TypeError('createMkopo needs email and password')
    return { url, authorization: `Basic ${toBase64(`${email}:${password}`)}` }
  }
  const takesKeys = host === 'recordsUrl'
  if (takesKeys && apiKey !== undefined) return { url, authorization: `Bearer ${apiKey}` }
  if (tokens !== undefined) return { url, tokens }
  throw new TypeError(`createMkopo needs email and password, or a token${takesKeys ? ', or an apiKey' : ''}`)
}

/** Writes the bytes of a text in UTF-8 as base64. */
const toBase64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)))
