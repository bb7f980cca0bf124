import { randomBytes, scryptSync } from 'node:crypto'

/** The least cost of scrypt: at that of production, a hash takes a third of a second of a core. */
const LEAST = 16

/**
 * Returns the hash of a password at a low cost, as `account.password_hash` has it. A stored hash says its own cost, so signing
 * in takes the same steps as ever.
 * @param N the cost, a power of 2; the time grows with it
 */
export function cheapHash(password: string, N = LEAST): string {
  const salt = randomBytes(16)
  const cost = { N, r: 8, p: 1 }
  const key = scryptSync(password, salt, 32, cost)
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), key.toString('base64url')].join('$')
}
