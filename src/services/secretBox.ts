import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
  scryptSync,
} from 'node:crypto'
import { invariant } from '../domain/errors.ts'
import { createLru } from '../toolbox/lru.ts'

const CIPHER = 'aes-256-gcm'
/** The bytes of the vector of a text. */
const IV_BYTES = 12
/** The most keys that are kept; deriving one is slow on purpose. */
const MOST_KEYS = 100

/** The keys that this process has derived, by the hash of the secret and the salt: Node makes ready one given as bytes at each use. */
const keys = createLru<string, KeyObject>(MOST_KEYS)

/** Thrown where the secret does not decrypt what is stored. */
export class WrongSecretError extends Error {
  override readonly name = 'WrongSecretError'
}

/** Encrypts texts for the database, and decrypts them, with a key derived from KEY_ENCRYPTION_SECRET. */
export interface SecretBox {
  /** Encrypts a text with AES-256-GCM: `salt.iv.tag.text`, base64url. */
  encrypt(text: string): string
  /** @throws WrongSecretError */
  decrypt(text: string): string
}

/** Encrypts a text with AES-256-GCM. @param bound what the text belongs to: decrypted with anything else, it is damaged */
export const encryptWith = (key: KeyObject, text: string, bound = ''): readonly Buffer[] =>
  encryptFrom(randomBytes(IV_BYTES), key, text, bound)

/**
 * Encrypts a text so that the same text gives the same, and can be compared without the key. The vector is a keyed hash of the text and of
 * what it belongs to (as in RFC 5297): two different texts have two different vectors.
 */
export const encryptAlike = (key: KeyObject, text: string, bound: string): readonly Buffer[] =>
  encryptFrom(
    createHmac('sha256', key)
      .update(JSON.stringify([bound, text]))
      .digest()
      .subarray(0, IV_BYTES),
    key,
    text,
    bound,
  )

function encryptFrom(iv: Buffer, key: KeyObject, text: string, bound: string): readonly Buffer[] {
  const cipher = createCipheriv(CIPHER, key, iv).setAAD(Buffer.from(bound))
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return [iv, cipher.getAuthTag(), sealed]
}

/** Decrypts what `encryptWith` has encrypted. @throws Error for another key, for what is bound to something else, and for what is damaged */
export function decryptWith(key: KeyObject, [iv, tag, sealed]: readonly Buffer[], bound = ''): string {
  invariant(iv && tag && sealed, 'an encrypted text of three parts')
  const decipher = createDecipheriv(CIPHER, key, iv).setAAD(Buffer.from(bound))
  decipher.setAuthTag(tag)
  return Buffer.concat([decipher.update(sealed), decipher.final()]).toString('utf8')
}

/** Writes the parts of an encrypted text, base64url. */
export const partsToText = (parts: readonly Buffer[]): string =>
  parts.map((part) => part.toString('base64url')).join('.')

/** Reads the parts of an encrypted text. */
export const partsFromText = (text: string): Buffer[] => text.split('.').map((part) => Buffer.from(part, 'base64url'))

/**
 * Opens a secret box. A key is derived once in a process for each secret and salt, and kept.
 * @param things what is encrypted, for the error: `signing keys`
 * @param salt of what is encrypted here; a random one when left out. One salt for many texts saves deriving a key for each
 */
export function openSecretBox(secret: string, things: string, salt: Buffer = randomBytes(16)): SecretBox {
  const hash = createHash('sha256').update(secret).digest('base64url')
  const keyOf = (given: Buffer): KeyObject => {
    const name = `${hash}.${given.toString('base64url')}`
    const key = keys.get(name) ?? createSecretKey(scryptSync(secret, given, 32))
    keys.set(name, key)
    return key
  }
  return {
    encrypt: (text) => partsToText([salt, ...encryptWith(keyOf(salt), text)]),
    decrypt(text) {
      const [saltUsed, ...parts] = partsFromText(text)
      invariant(saltUsed && parts.length === 3, 'an encrypted text of four parts')
      try {
        return decryptWith(keyOf(saltUsed), parts)
      } catch {
        throw new WrongSecretError(
          `KEY_ENCRYPTION_SECRET: is not the one that the stored ${things} were encrypted with`,
        )
      }
    },
  }
}
