import { randomBytes, timingSafeEqual } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import { createGate, type GateBounds, type Holder } from '../../../toolbox/gate.ts'
import { HALF_THE_CORES } from '../../cores.ts'
import deriveHere, { type Derivation } from './passwordWorker.ts'

/** The cost of scrypt: 32 MiB and three passes, as the OWASP password storage cheat sheet has for this size. */
const COST = { N: 2 ** 15, r: 8, p: 3 }
/** The least cost of scrypt, which takes no time. */
const LEAST_COST = { N: 2 ** 4, r: 8, p: 1 }
const KEY_LENGTH = 32

const IDLE_MS = 10_000

/**
 * The places of passwords, some seconds of work. E-mails that signed in lately, all others, and new passwords take turns, and
 * have room to wait of their own: one who guesses fills the room of the others.
 */
export const PASSWORD_PLACES: GateBounds = {
  atOnce: HALF_THE_CORES,
  waiting: { all: 60, ofGroup: 20, ofMember: 10 },
  waitMs: 30_000,
  code: 'unavailable',
  refusal: 'too many passwords are being checked at once; try again',
  againSeconds: 2,
}
const places = createGate(PASSWORD_PLACES)

/**
 * The threads that hash: half as many as there are cores, at a low priority where the system has one. Node's own thread
 * pool is for the tokens of all callers, who would wait for passwords hashed there.
 */
let threads: Piscina<Derivation, Uint8Array> | undefined

function pool(): Piscina<Derivation, Uint8Array> {
  threads ??= new Piscina({
    filename: fileURLToPath(new URL('./passwordWorker.ts', import.meta.url)),
    minThreads: 0,
    maxThreads: HALF_THE_CORES,
    idleTimeout: IDLE_MS,
    niceIncrement: 10,
  })
  return threads
}

/** Derives a key on one of the threads. @throws LendingError `unavailable` when too many passwords wait */
const derive = async (password: string, salt: Buffer, cost: typeof COST, holder: Holder): Promise<Buffer> =>
  places.run(holder, async () => Buffer.from(await pool().run({ password, salt, cost, length: KEY_LENGTH })))

/**
 * Hashes a password as it is stored: the cost, a new salt, and the scrypt of both.
 * @throws LendingError `unavailable` when too many passwords are being hashed already
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  return written(COST, salt, await derive(password, salt, COST, { group: 'new passwords' }))
}

/** Hashes a password that is published, and so has nothing to protect, at the least cost: signing in takes the same steps. */
export function hashPublishedPassword(password: string): string {
  const salt = randomBytes(16)
  return written(LEAST_COST, salt, deriveHere({ password, salt, cost: LEAST_COST, length: KEY_LENGTH }))
}

/** Returns a hash as `account.password_hash` has it; it says its own cost. */
const written = ({ N, r, p }: typeof COST, salt: Uint8Array, key: Uint8Array): string =>
  ['scrypt', N, r, p, ...[salt, key].map((part) => Buffer.from(part).toString('base64url'))].join('$')

/**
 * Returns whether a password is the one that was hashed, in the same time for both results.
 * @param lately the e-mail, where it signed in lately
 * @throws LendingError `unavailable` when too many passwords are being hashed already
 */
export async function verifyPassword(password: string, stored: string, lately?: string): Promise<boolean> {
  const [, N, r, p, salt = '', key = ''] = stored.split('$')
  const cost = { N: Number(N), r: Number(r), p: Number(p) }
  const holder = lately === undefined ? { group: 'others' } : { group: 'signed in lately', member: lately }
  const derived = await derive(password, Buffer.from(salt, 'base64url'), cost, holder)
  const expected = Buffer.from(key, 'base64url')
  return expected.length === derived.length && timingSafeEqual(expected, derived)
}

/** A hash that no password has. An unknown e-mail is compared with it, which takes as long as a wrong password. */
export const NO_ACCOUNT_HASH = written(COST, randomBytes(16), randomBytes(KEY_LENGTH))
