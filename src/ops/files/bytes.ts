import { isUtf8 } from 'node:buffer'
import { LendingError } from '../../domain/errors.ts'

/** A file is taken apart a character a byte, so that a byte which is no UTF-8 is the fault of its line alone. */
export const BYTES = 'latin1'

/** What bytes say, and whether they are UTF-8; where they are not, with a sign in the place of each that is none. */
export function decode(bytes: string): { readonly text: string; readonly valid: boolean } {
  if (!/[\x80-\xff]/.test(bytes)) return { text: bytes, valid: true }
  const buffer = Buffer.from(bytes, BYTES)
  return { text: buffer.toString('utf8'), valid: isUtf8(buffer) }
}

/** Why a line is refused of which nothing can be read. */
export const unreadable = (message: string) => new LendingError('invalid_argument', message)

/** In the words of a request's body. */
export const notUtf8 = () => unreadable('the line is not valid UTF-8')
