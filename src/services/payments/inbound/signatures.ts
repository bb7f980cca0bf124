import {
  constants,
  createHash,
  createHmac,
  createPublicKey,
  type KeyObject,
  timingSafeEqual,
  verify,
} from 'node:crypto'
import { httpbis, type VerifyingKey } from 'http-message-signatures'
import type { Channel } from '../../../db/payments/channels.ts'
import type { Adapter } from '../../../domain/payments/adapters/adapter.ts'
import type { Tree } from '../../../domain/payments/adapters/tree.ts'
import { adapterOf } from '../../../domain/payments/adapters.ts'
import type { SecretBox } from '../../secretBox.ts'
import { readBody } from './messageBody.ts'
import type { Message } from './messages.ts'

// How providers sign their messages. A message is kept whether or not its signature is right: what is not signed by the key of its
// channel is never read, and says why, so that nothing is lost where the key is wrong.

/** The fewest characters of a shared secret. */
const SHORTEST_SECRET = 16

/** The kinds of public keys by which providers sign, by what they sign. */
const KEY_TYPES: Readonly<Record<NonNullable<Adapter['signature']>, readonly string[]>> = {
  fields: ['rsa'],
  request: ['rsa', 'ec', 'ed25519'],
}

/** Returns why a key cannot be that of a provider's signatures; undefined where it can. */
export function keyFault({ signature }: Adapter, key: string): string | undefined {
  if (signature === undefined) return 'cannot be given: the messages of this adapter are not signed'
  const type = publicKeyOf(key)?.asymmetricKeyType
  if (type !== undefined)
    return KEY_TYPES[signature].includes(type)
      ? undefined
      : `must be a public key of ${KEY_TYPES[signature].join(', ')}, in PEM`
  if (signature === 'request') return 'must be the public key of the provider, in PEM'
  return key.includes('-----') || key.length < SHORTEST_SECRET
    ? `must be the secret that you share with the provider, of ${SHORTEST_SECRET} characters or more, or its public key in PEM`
    : undefined
}

function publicKeyOf(text: string): KeyObject | undefined {
  try {
    return text.includes('-----BEGIN PUBLIC KEY-----') ? createPublicKey(text) : undefined
  } catch {
    return undefined
  }
}

/**
 * Checks the signature of a message by the key of its channel.
 * @param url the address that the provider sent it to
 * @returns why it is not right; null where it is, or where the channel has no key
 * @throws WrongSecretError
 */
export async function signatureFault(
  box: SecretBox,
  channel: Channel,
  message: Pick<Message, 'method' | 'headers' | 'body'>,
  url: string,
): Promise<string | null> {
  if (channel.signingKey === null) return null
  const key = box.decrypt(channel.signingKey)
  const adapter = adapterOf(channel)
  return adapter.signature === 'request' ? requestFault(key, message, url) : fieldsFault(adapter, key, message)
}

/** Checks the signature of fields: a header names them, and it is over `name=value` of each after that of the time. */
function fieldsFault(adapter: Adapter, key: string, { headers, body }: Pick<Message, 'headers' | 'body'>) {
  const { digest, timestamp, 'signed-fields': names, 'digest-method': method = '' } = headers
  if (digest === undefined || timestamp === undefined || names === undefined) return NOT_SIGNED
  const read = readBody(adapter, body)
  if ('why' in read) return read.why
  const signedNames = names.split(',').map((name) => name.trim())
  // What no signature covers could be changed on the way.
  const open = unsignedField(read.tree, signedNames)
  if (open !== undefined) return `its signature does not cover ${open}`
  const pairs = signedNames.map((name) => `${name}=${fieldOf(read.tree, name)}`)
  const signed = Buffer.from([`timestamp=${timestamp}`, ...pairs].join('&'))
  const given = Buffer.from(digest, 'base64')
  const publicKey = publicKeyOf(key)
  if (publicKey) return method === 'RS256' && verify('sha256', signed, publicKey, given) ? null : WRONG
  const expected = createHmac('sha256', key).update(signed).digest()
  return method === 'HS256' && given.length === expected.length && timingSafeEqual(given, expected) ? null : WRONG
}

const NOT_SIGNED = 'it is not signed, and the channel has a key by which its messages are signed'
const WRONG = 'its signature is not by the key of the channel'

/** The fields that tell of a payment, which have to be signed where a message has them, with whatever capitals. */
const TELLING = [
  'transid',
  'amount',
  'utilityref',
  'order_id',
  'resultcode',
  'payment_status',
  'currency',
  'msisdn',
  'phone',
]

const unsignedField = (tree: Tree, signed: readonly string[]): string | undefined =>
  Object.keys(tree ?? {}).find((name) => TELLING.includes(name.toLowerCase()) && !signed.includes(name))

/** Returns the text of a field as it is signed; a field that the message has not is signed as empty. */
function fieldOf(tree: Tree, name: string): string {
  const value = typeof tree === 'object' && tree !== null ? Object.entries(tree).find(([one]) => one === name)?.[1] : ''
  return typeof value === 'string' ? value : ''
}

/** What a signature of a request has to cover. */
const REQUIRED = ['@method', '@path', 'content-digest']

/** Checks the signature of a request (RFC 9421), and that its digest is that of the body (RFC 9530). */
async function requestFault(
  key: string,
  { method, headers, body }: Pick<Message, 'method' | 'headers' | 'body'>,
  url: string,
): Promise<string | null> {
  if (headers.signature === undefined || headers['signature-input'] === undefined) return NOT_SIGNED
  if (!isDigestOf(headers['content-digest'] ?? '', body)) return 'its Content-Digest is not that of the body'
  const publicKey = publicKeyOf(key)
  if (!publicKey) return WRONG
  const verifying: VerifyingKey = { verify: async (data, given) => isSigned(publicKey, data, given) }
  try {
    const asked = { keyLookup: async () => verifying, requiredFields: REQUIRED, all: true }
    return (await httpbis.verifyMessage(asked, { method, url, headers })) === true ? null : WRONG
  } catch (error) {
    // What a sender writes may break any rule of the headers.
    return `its signature cannot be checked: ${(error as Error).message.slice(0, LONGEST_WHY)}`
  }
}

const LONGEST_WHY = 200

/** Returns whether a header has the digest of a body, and no other one. */
function isDigestOf(header: string, body: Buffer): boolean {
  const digests = [...header.matchAll(/(sha-256|sha-512)=:([A-Za-z0-9+/=]+):/g)]
  return (
    digests.length > 0 &&
    digests.every(([, name, given]) => createHash(name!.replace('-', '')).update(body).digest('base64') === given)
  )
}

/** Returns whether data is signed by a key; of elliptic curves both ways of writing a signature count. */
function isSigned(key: KeyObject, data: Buffer, given: Buffer): boolean {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key
  if (type === 'ed25519') return verify(null, data, key, given)
  if (type === 'ec') {
    const hash = details?.namedCurve === 'secp384r1' ? 'sha384' : 'sha256'
    return (['ieee-p1363', 'der'] as const).some((dsaEncoding) => verify(hash, data, { key, dsaEncoding }, given))
  }
  if (type !== 'rsa') return false
  const pss = { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO }
  return verify('sha512', data, pss, given) || verify('sha256', data, key, given)
}
