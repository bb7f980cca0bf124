import { hash } from 'node:crypto'

/** Computes HMAC-SHA-256 with one key, over bytes and a text after them. @param before left out: none */
export type Mac = (text: string, before?: Uint8Array) => Buffer

/** The bytes of a block of SHA-256, and of its result. */
const BLOCK = 64
const RESULT = 32
/** The most bytes of a code unit of a text in UTF-8. */
const MOST_BYTES = 3

const NOTHING = new Uint8Array(0)

/**
 * Returns the HMAC-SHA-256 of a key, of 64 bytes at most, as RFC 2104 defines it: of two hashes, the inner one over the
 * message and the outer one over the inner. Each change of the book takes three. `createHmac` makes an object of OpenSSL for
 * each, which takes twice as long as both hashes; and a hash that is asked for as a buffer gets memory of its own, which takes
 * longer than to hash a short text.
 */
export function macOf(key: Uint8Array): Mac {
  const padded = (pad: number) => Uint8Array.from({ length: BLOCK }, (_, index) => (key[index] ?? 0) ^ pad)
  const outer = Buffer.alloc(BLOCK + RESULT)
  outer.set(padded(0x5c))
  const start = padded(0x36)
  let inner = Buffer.from(start)
  return (text, before = NOTHING) => {
    const begin = BLOCK + before.length
    const most = begin + text.length * MOST_BYTES
    if (inner.length < most) {
      inner = Buffer.allocUnsafe(most)
      inner.set(start)
    }
    inner.set(before, BLOCK)
    const end = begin + inner.write(text, begin)
    outer.write(hash('sha256', inner.subarray(0, end), 'binary'), BLOCK, 'binary')
    return Buffer.from(hash('sha256', outer, 'binary'), 'binary')
  }
}
