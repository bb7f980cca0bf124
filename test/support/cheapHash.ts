import { randomBytes, scryptSync } from 'node:crypto'

/** The least that scrypt takes: at the cost of production, a hash takes a third of a second of a core. */
const COST = { N: 16, r: 8, p: 1 }

/**
 * Returns the hash of a password at a low cost, as `account.password_hash` has it. A stored hash says its own cost, so signing
 * in takes the same steps as ever.
 */
export function cheapHash(password: string): string {
  const salt = randomBytes(16)
  const key = scryptSync(password, salt, 32, COST)
  return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64url'), key.toString('base64url')].join('$')
}
