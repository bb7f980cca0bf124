import { createHash, randomBytes } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import type { Config } from '../../app/config.ts'
import {
  confirmFactor,
  findFactor,
  offerFactor,
  takeRecovery,
  takeStep,
  type Whose,
} from '../../db/access/secondFactors.ts'
import type { Author } from '../../db/audit/trail.ts'
import type { Db } from '../../db/postgres/client.ts'
import { failedPrecondition, LendingError } from '../../domain/errors.ts'
import { signInBox } from './settings.ts'

/** A code is of 30 s, and that before and after it are taken, too (RFC 6238 5.2). */
const PERIOD_S = 30
const DRIFT = 1
const SECRET_BYTES = 20
export const RECOVERY_CODES = 10
/** Bytes of a recovery code: 80 bits, which cannot be guessed and need no slow hash. */
const RECOVERY_BYTES = 10
/** The most characters of a code that are read. */
export const LONGEST_CODE = 40

type FactorDeps = { readonly db: Db; readonly config: Config; readonly now: () => number }

/** A secret as it is shown, once: as text, and as the address that an app reads. */
export interface Offered {
  readonly secret: string
  readonly uri: string
}

const totpOf = (secret: Secret, label: string) =>
  new TOTP({ issuer: 'Mkopo', label, secret, digits: 6, period: PERIOD_S, algorithm: 'SHA1' })

const hashOf = (code: string): string => createHash('sha256').update(code).digest('base64url')

/** Returns a recovery code without what people put between its parts. */
const plain = (code: string): string => code.replace(/[\s-]/g, '').toUpperCase()

/** Returns whether an account has a second factor that it has proved. */
export async function hasFactor({ db }: Pick<FactorDeps, 'db'>, whose: Whose): Promise<boolean> {
  return (await findFactor(db, whose))?.isConfirmed ?? false
}

/** Offers an account a secret, in place of one that was not proved. @throws LendingError `failed_precondition` where it has one */
export async function offerSecret(deps: FactorDeps, whose: Whose, label: string): Promise<Offered> {
  const secret = new Secret({ buffer: new Uint8Array(randomBytes(SECRET_BYTES)).buffer })
  if (!(await offerFactor(deps.db, whose, signInBox(deps.config).encrypt(secret.base32), deps.now())))
    throw failedPrecondition('the account has a second factor already: who manages the organization can reset it')
  return { secret: secret.base32, uri: totpOf(secret, label).toString() }
}

/** Returns the secret that an account was offered and has not proved; undefined where there is none. */
export async function offeredSecret(deps: FactorDeps, whose: Whose, label: string): Promise<Offered | undefined> {
  const stored = await findFactor(deps.db, whose)
  if (!stored || stored.isConfirmed) return undefined
  const secret = Secret.fromBase32(signInBox(deps.config).decrypt(stored.secret))
  return { secret: secret.base32, uri: totpOf(secret, label).toString() }
}

/**
 * Proves the secret that was offered, by a code.
 * @returns the recovery codes, shown only now
 * @throws LendingError `invalid_argument` for a wrong code, `failed_precondition` without an offered secret
 */
export async function proveSecret(deps: FactorDeps, author: Author, whose: Whose, code: string): Promise<string[]> {
  const stored = await findFactor(deps.db, whose)
  if (!stored || stored.isConfirmed) throw failedPrecondition('no secret is waiting for a code: open the page again')
  const step = stepOf(deps, stored.secret, code)
  if (step === undefined)
    throw new LendingError(
      'invalid_argument',
      'the code is not right: look at the time of the phone, and type the next one',
    )
  const codes = Array.from({ length: RECOVERY_CODES }, () =>
    new Secret({ buffer: new Uint8Array(randomBytes(RECOVERY_BYTES)).buffer }).base32.replace(/(.{4})(?=.)/g, '$1-'),
  )
  const recovery = codes.map((one) => hashOf(plain(one)))
  const proved = { step, recovery, secret: stored.secret, now: deps.now() }
  if (!(await confirmFactor(deps.db, author, whose, proved)))
    throw failedPrecondition('another request has proved the secret')
  return codes
}

/** Returns the step of time of a code; undefined for a wrong one. */
function stepOf({ config, now }: Pick<FactorDeps, 'config' | 'now'>, encrypted: string, code: string) {
  if (!/^\d{6}$/.test(code)) return undefined
  const timestamp = now()
  const totp = totpOf(Secret.fromBase32(signInBox(config).decrypt(encrypted)), '')
  const delta = totp.validate({ token: code, timestamp, window: DRIFT })
  return delta === null ? undefined : BigInt(Math.floor(timestamp / 1000 / PERIOD_S) + delta)
}

/** What a code of a sign-in is: none needed, right, wrong, or left out. */
export type CodeState = 'none needed' | 'right' | 'wrong' | 'missing'

/** Takes the code of an account, once: one of an app, or a recovery code. */
export async function takeCode(deps: FactorDeps, whose: Whose, given: string): Promise<CodeState> {
  const stored = await findFactor(deps.db, whose)
  if (!stored?.isConfirmed) return 'none needed'
  const code = given.slice(0, LONGEST_CODE + 1)
  if (plain(code) === '') return 'missing'
  const step = stepOf(deps, stored.secret, code.replace(/\s/g, ''))
  if (step !== undefined) return (await takeStep(deps.db, whose, step)) ? 'right' : 'wrong'
  const hash = hashOf(plain(code))
  return stored.recovery.includes(hash) && (await takeRecovery(deps.db, whose, hash)) ? 'right' : 'wrong'
}
