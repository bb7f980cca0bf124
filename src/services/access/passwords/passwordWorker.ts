import { type ScryptOptions, scryptSync } from 'node:crypto'

/** A key to derive: by scrypt, from a password and a salt, at a cost. */
export interface Derivation {
  readonly password: string
  readonly salt: Uint8Array
  readonly cost: { readonly N: number; readonly r: number; readonly p: number }
  /** Bytes of the key. */
  readonly length: number
}

/** Derives a key, on a thread of its own: `passwords.ts` says why. */
export default function derive({ password, salt, cost: { N, r, p }, length }: Derivation): Uint8Array {
  const options: ScryptOptions = { N, r, p, maxmem: 256 * N * r }
  return scryptSync(password.normalize('NFKC'), salt, length, options)
}
