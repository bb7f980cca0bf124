import { invariant } from '../errors.ts'

/** Returns whether a stored value is a whole number from 0 on. */
export const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0

/** Reads a number that is stored in digits, which JSON keeps exactly. @throws InvariantError for anything else */
export function digits(text: unknown): bigint {
  invariant(typeof text === 'string' && /^\d{1,19}$/.test(text), 'a number in digits')
  return BigInt(text)
}
