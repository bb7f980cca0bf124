import { MkopoError } from './errors.ts'
import type { Event as PartnerEvent } from './generated/partner.ts'
import { eventShape, type Event as RecordEvent } from './generated/record.ts'
import { parseJson } from './json.ts'

/** The headers of a request: of `fetch`, or those of Node. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

/** Options of the verification of a webhook. */
export interface WebhookOptions {
  /** The style of the endpoint, in whose words the event is; `partner` when left out. */
  readonly style?: 'partner' | 'record'
  /** Seconds that the time of a delivery may differ from that of this machine; 300 when left out. */
  readonly toleranceSeconds?: number
  /** Milliseconds since 1970; of this machine when left out. */
  readonly now?: () => number
}

const TOLERANCE_SECONDS = 300
const PREFIX = 'whsec_'
const VERSION = 'v1,'

/**
 * Verifies that a webhook comes from the service, as Standard Webhooks 1.0.0 says, and reads its event.
 * @param body the bytes of the request as they came, or their text
 * @param secrets the secret of the endpoint, or several while it changes
 * @throws MkopoError `invalid_webhook`
 */
export function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  options: WebhookOptions & { readonly style: 'record' },
): Promise<RecordEvent>
export function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  options?: WebhookOptions,
): Promise<PartnerEvent>
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { style, toleranceSeconds = TOLERANCE_SECONDS, now = Date.now }: WebhookOptions = {},
): Promise<unknown> {
  const [id, timestamp, given] = ['id', 'timestamp', 'signature'].map((name) => headerOf(headers, `webhook-${name}`))
  if (!id || !timestamp || !given)
    throw invalid('the headers webhook-id, webhook-timestamp and webhook-signature are needed')
  const age = now() / 1_000 - Number(timestamp)
  // Also where the header is no number.
  if (!/^\d+$/.test(timestamp) || !(Math.abs(age) <= toleranceSeconds))
    throw invalid(`webhook-timestamp is more than ${toleranceSeconds} s away from the clock of this machine`)
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const signed = concatenated(new TextEncoder().encode(`${id}.${timestamp}.`), bytes)
  const signatures = given.split(' ').filter((one) => one.startsWith(VERSION))
  for (const secret of [secrets].flat())
    for (const signature of signatures)
      if (await isSignedBy(secret, signature.slice(VERSION.length), signed))
        return parseJson(text, style === 'record' ? eventShape : undefined)
  throw invalid('no signature in webhook-signature fits a secret')
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)
  return found && [found[1]].flat()[0]
}

/** Compares in constant time, as `verify` of WebCrypto does. */
async function isSignedBy(secret: string, signature: string, signed: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const key = fromBase64(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret)
  if (key === undefined || key.length === 0) throw new TypeError('a webhook secret is whsec_ and base64')
  const hmac = { name: 'HMAC', hash: 'SHA-256' }
  const imported = await crypto.subtle.importKey('raw', key, hmac, false, ['verify'])
  const mac = fromBase64(signature)
  return mac !== undefined && crypto.subtle.verify('HMAC', imported, mac, signed)
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0))
  } catch {
    return undefined
  }
}

function concatenated(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(head.length + tail.length)
  bytes.set(head)
  bytes.set(tail, head.length)
  return bytes
}

const invalid = (message: string) => new MkopoError(message, { code: 'invalid_webhook' })
