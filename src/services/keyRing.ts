import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  randomBytes,
  randomUUID,
  scryptSync,
} from 'node:crypto'
import { promisify } from 'node:util'
import type { Db } from '../db/client.ts'
import { insertFirstSigningKey, listSigningKeys, type SigningKey } from '../db/signingKeys.ts'
import { invariant } from '../domain/errors.ts'

/** Keys are read again when this old: within 5 s, a revoked one verifies nothing on any instance (contract 3.6). */
const FRESH_FOR_MS = 4_000

/** The key that signs now, and those that may still verify, by `kid`. */
interface Ring {
  readonly active: { readonly kid: string; readonly privateKey: KeyObject }
  readonly verifying: ReadonlyMap<string, KeyObject>
  readonly readAt: number
}

/** The signing keys of the service, shared by its instances through the database. */
export interface KeyRing {
  signing(): Promise<Ring['active']>
  /** The public key of that id; undefined when no such key may verify. */
  verifying(kid: string): Promise<KeyObject | undefined>
}

/** The secret does not open the stored keys. */
export class WrongSecretError extends Error {
  override readonly name = 'WrongSecretError'
}

/**
 * Opens the key ring; makes the service's first key pair where there is none.
 * @throws WrongSecretError when the stored key was encrypted with another secret
 */
export async function openKeyRing(db: Db, secret: string, now: () => number): Promise<KeyRing> {
  const decrypt = decrypterOf(secret)
  let ring = await readRing(db, decrypt, now())
  if (!ring) {
    await insertFirstSigningKey(db, await makeSigningKey(secret), now())
    ring = await readRing(db, decrypt, now())
  }
  invariant(ring, 'a signing key after one was made')
  let current = ring
  let reading: Promise<unknown> | undefined

  const fresh = async (): Promise<Ring> => {
    if (now() - current.readAt < FRESH_FOR_MS) return current
    reading ??= readRing(db, decrypt, now())
      .then((read) => {
        invariant(read, 'a signing key that is active')
        current = read
      })
      .finally(() => {
        reading = undefined
      })
    await reading
    return current
  }

  return {
    signing: async () => (await fresh()).active,
    verifying: async (kid) => (await fresh()).verifying.get(kid),
  }
}

async function readRing(db: Db, decrypt: (text: string) => string, readAt: number): Promise<Ring | undefined> {
  const keys = await listSigningKeys(db)
  const [active] = keys
  if (!active) return undefined
  return {
    active: { kid: active.kid, privateKey: createPrivateKey(decrypt(active.privateEncrypted)) },
    verifying: new Map(keys.map((key) => [key.kid, createPublicKey(key.publicPem)])),
    readAt,
  }
}

/** A new RSA key pair, its private half encrypted with the secret. */
export async function makeSigningKey(secret: string): Promise<SigningKey> {
  const pair = await promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  return { kid: randomUUID(), publicPem: pair.publicKey, privateEncrypted: encrypt(pair.privateKey, secret) }
}

/** A new KEY_ENCRYPTION_SECRET. */
export const makeSecret = (): string => randomBytes(32).toString('base64url')

const CIPHER = 'aes-256-gcm'
const wrappingKey = (secret: string, salt: Buffer) => scryptSync(secret, salt, 32)

/** AES-256-GCM under a key derived from the secret: `salt.iv.tag.text`, base64url. */
function encrypt(text: string, secret: string): string {
  const salt = randomBytes(16)
  const iv = randomBytes(12)
  const cipher = createCipheriv(CIPHER, wrappingKey(secret, salt), iv)
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return [salt, iv, cipher.getAuthTag(), sealed].map((part) => part.toString('base64url')).join('.')
}

/** Deriving a key takes a while on purpose, so what was opened once is remembered. */
function decrypterOf(secret: string): (text: string) => string {
  const opened = new Map<string, string>()
  return (text) => {
    const known = opened.get(text)
    if (known !== undefined) return known
    const [salt, iv, tag, sealed] = text.split('.').map((part) => Buffer.from(part, 'base64url'))
    invariant(salt && iv && tag && sealed, 'a stored key of four parts')
    const decipher = createDecipheriv(CIPHER, wrappingKey(secret, salt), iv)
    decipher.setAuthTag(tag)
    try {
      const plain = Buffer.concat([decipher.update(sealed), decipher.final()]).toString('utf8')
      opened.set(text, plain)
      return plain
    } catch {
      throw new WrongSecretError(
        'KEY_ENCRYPTION_SECRET: is not the one that the stored signing keys were encrypted with',
      )
    }
  }
}
