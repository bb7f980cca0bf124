import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'

/** 32 MiB and three passes: the OWASP password storage cheat sheet's setting for scrypt at this size. */
const COST = { N: 2 ** 15, r: 8, p: 3 }
const KEY_LENGTH = 32

const derive = (password: string, salt: Buffer, { N, r, p }: typeof COST): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const options: ScryptOptions = { N, r, p, maxmem: 256 * N * r }
    scrypt(password.normalize('NFKC'), salt, KEY_LENGTH, options, (error, key) =>
      error ? reject(error) : resolve(key),
    )
  })

/** A password as it is stored: the cost, a salt of its own, and the scrypt of both. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const key = await derive(password, salt, COST)
  return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64url'), key.toString('base64url')].join('$')
}

/** True when the password is the one that was hashed. Takes the same time whether it is or not. */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const [, N, r, p, salt = '', key = ''] = stored.split('$')
  const derived = await derive(password, Buffer.from(salt, 'base64url'), { N: Number(N), r: Number(r), p: Number(p) })
  const expected = Buffer.from(key, 'base64url')
  return expected.length === derived.length && timingSafeEqual(expected, derived)
}

/** Compared against when an e-mail is unknown, so that this costs the time of a wrong password. */
export const unknownAccountHash = hashPassword(randomBytes(16).toString('hex'))
