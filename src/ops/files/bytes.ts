import { isUtf8 } from 'node:buffer'
import { LendingError } from '../../domain/errors.ts'

/** Files are split with one character for each byte, so that a byte that is no UTF-8 is the fault of its line alone. */
export const BYTES = 'latin1'

/** Decodes bytes, and returns whether they are UTF-8; a sign replaces each byte that is not. */
export function decode(bytes: string): { readonly text: string; readonly valid: boolean } {
  if (!/[\x80-\xff]/.test(bytes)) return { text: bytes, valid: true }
  const buffer = Buffer.from(bytes, BYTES)
  return { text: buffer.toString('utf8'), valid: isUtf8(buffer) }
}

/** Makes the refusal of a line that cannot be read at all. */
export const unreadable = (message: string) => new LendingError('invalid_argument', message)

/** Makes the refusal of a line that is not UTF-8, in the words for a request's body. */
export const notUtf8 = () => unreadable('the line is not valid UTF-8')
