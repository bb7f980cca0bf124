import { randomBytes, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Piscina } from 'piscina'
import { LendingError } from '../../../domain/errors.ts'
import type { Derivation } from './passwordWorker.ts'

/** 32 MiB and three passes: the OWASP password storage cheat sheet's setting for scrypt at this size. */
const COST = { N: 2 ** 15, r: 8, p: 3 }
const KEY_LENGTH = 32

/** Passwords that wait to be hashed, in all: some seconds of work. */
const MOST_WAITING = 20
const AGAIN_SECONDS = 2
const IDLE_MS = 10_000

/**
 * The threads that hash: half as many as there are cores, at a low priority where the system has one. Node's own thread
 * pool also verifies the tokens of all callers: passwords hashed there kept every caller waiting.
 */
let threads: Piscina<Derivation, Uint8Array> | undefined

function pool(): Piscina<Derivation, Uint8Array> {
  threads ??= new Piscina({
    filename: fileURLToPath(new URL('./passwordWorker.ts', import.meta.url)),
    minThreads: 0,
    maxThreads: Math.max(1, Math.floor(availableParallelism() / 2)),
    maxQueue: MOST_WAITING,
    idleTimeout: IDLE_MS,
    niceIncrement: 10,
  })
  return threads
}

/** @throws LendingError `unavailable` when too many wait already */
async function derive(password: string, salt: Buffer, cost: typeof COST): Promise<Buffer> {
  const { queueSize } = pool()
  if (queueSize >= MOST_WAITING)
    throw new LendingError('unavailable', 'too many passwords are being checked at once; try again', [], AGAIN_SECONDS)
  return Buffer.from(await pool().run({ password, salt, cost, length: KEY_LENGTH }))
}

/**
 * A password as it is stored: the cost, a salt of its own, and the scrypt of both.
 * @throws LendingError `unavailable` when too many passwords are being hashed already
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const key = await derive(password, salt, COST)
  return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64url'), key.toString('base64url')].join('$')
}

/**
 * True when the password is the one that was hashed. Takes the same time whether it is or not.
 * @throws LendingError `unavailable` when too many passwords are being hashed already
 */
export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const [, N, r, p, salt = '', key = ''] = stored.split('$')
  const derived = await derive(password, Buffer.from(salt, 'base64url'), { N: Number(N), r: Number(r), p: Number(p) })
  const expected = Buffer.from(key, 'base64url')
  return expected.length === derived.length && timingSafeEqual(expected, derived)
}

/** A hash that no password has, to compare with when an e-mail is unknown: that takes the time of a wrong password. */
export const NO_ACCOUNT_HASH = ['scrypt', COST.N, COST.r, COST.p, randomBytes(16), randomBytes(KEY_LENGTH)]
  .map((part) => (Buffer.isBuffer(part) ? part.toString('base64url') : part))
  .join('$')
