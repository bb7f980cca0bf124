import { type ScryptOptions, scryptSync } from 'node:crypto'

/** The input of scrypt: a password, a salt and a cost. */
export interface Derivation {
  readonly password: string
  readonly salt: Uint8Array
  readonly cost: { readonly N: number; readonly r: number; readonly p: number }
  /** The length of the key, in bytes. */
  readonly length: number
}

/** Derives a key, on a thread of the pool of `passwords.ts`. */
export default function derive({ password, salt, cost: { N, r, p }, length }: Derivation): Uint8Array {
  const options: ScryptOptions = { N, r, p, maxmem: 256 * N * r }
  return scryptSync(password.normalize('NFKC'), salt, length, options)
}
