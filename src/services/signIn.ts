import { createHash, randomUUID } from 'node:crypto'
import { errors, jwtVerify, SignJWT } from 'jose'
import { type Account, findAccount, findAccountByEmail } from '../db/accounts.ts'
import { countAttempts } from '../db/attempts.ts'
import type { Db } from '../db/client.ts'
import { LendingError } from '../domain/errors.ts'
import { identifyApiKey } from './apiKeys.ts'
import type { Identity } from './caller.ts'
import type { KeyRing } from './keyRing.ts'
import { networkOf } from './network.ts'
import { unknownAccountHash, verifyPassword } from './passwords.ts'
import { remembering, type Verified } from './verified.ts'

/** A token is good for a year (contract 3.1). */
const TOKEN_DAYS = 365
const DAY_SECONDS = 86_400

/** Failed attempts before an e-mail or an address has to wait, within a quarter of an hour. */
const MOST_FAILURES = { email: 10, address: 100 }
const WINDOW_SECONDS = 900

const ALGORITHM = 'RS256'

/** Signing in, and knowing who calls. */
export interface SignIn {
  /**
   * A token for the account.
   * @throws LendingError `unauthenticated` for wrong credentials or a disabled account, `resource_exhausted` after too
   * many failures of the e-mail or the address
   */
  issueToken(email: string, password: string, address: string): Promise<string>
  /** @throws LendingError `unauthenticated` for a token that is malformed, forged, expired, or of a disabled account */
  identify(token: string): Promise<Identity>
  /** @throws LendingError `unauthenticated` for an API key that is unknown or revoked */
  identifyKey(key: string): Promise<Identity>
}

/** What signing in needs: where accounts are, who signs, and what the tokens say of their issuer. */
export interface SignInDeps {
  readonly db: Db
  readonly keys: KeyRing
  readonly now: () => number
  readonly issuer: string
}

const unauthenticated = (message: string) => new LendingError('unauthenticated', message)

export function createSignIn({ db, keys, now, issuer }: SignInDeps): SignIn {
  const failures = {
    email: countAttempts(db, 'signin-email', MOST_FAILURES.email, WINDOW_SECONDS),
    address: countAttempts(db, 'signin-address', MOST_FAILURES.address, WINDOW_SECONDS),
  }

  async function requirePatience(email: string, address: string): Promise<void> {
    const waits = await Promise.all([failures.email.waitFor(email), failures.address.waitFor(address)])
    const seconds = Math.max(...waits)
    if (seconds > 0)
      throw new LendingError('resource_exhausted', `too many failed sign-ins; try again in ${seconds} s`, [], seconds)
  }

  async function issueToken(givenEmail: string, password: string, from: string): Promise<string> {
    const address = networkOf(from)
    const email = givenEmail.toLowerCase()
    // Before the account is read: tokens that are revoked while the password is checked have to include this one.
    const askedAt = now()
    const guessed = createHash('sha256').update(email).digest('base64url')
    await requirePatience(guessed, address)
    const account = await findAccountByEmail(db, email)
    const right = await verifyPassword(password, account?.passwordHash ?? (await unknownAccountHash))
    if (!right || !account || account.disabled) {
      await Promise.all([failures.email.fail(guessed), failures.address.fail(address)])
      throw unauthenticated('wrong e-mail or password, or the account is disabled')
    }
    // Asked again: of many guesses sent at once, one may be right after the others used up the patience.
    await requirePatience(guessed, address)
    return sign(account, askedAt)
  }

  async function sign(account: Account, askedAt: number): Promise<string> {
    const { kid, privateKey } = await keys.signing()
    // Whole seconds: in the second in which earlier tokens were revoked, a new one counts from the next.
    const issuedAt = Math.max(Math.floor(askedAt / 1000), Math.ceil((account.tokensFrom ?? 0) / 1000))
    return new SignJWT({ org: account.organizationId, roles: [...account.roles] })
      .setProtectedHeader({ alg: ALGORITHM, kid, typ: 'JWT' })
      .setIssuer(issuer)
      .setSubject(String(account.id))
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + TOKEN_DAYS * DAY_SECONDS)
      .setJti(randomUUID())
      .sign(privateKey)
  }

  async function verify(token: string): Promise<Verified> {
    const { payload, protectedHeader } = await jwtVerify(
      token,
      async ({ kid }) => {
        const key = kid === undefined ? undefined : await keys.verifying(kid)
        if (!key) throw unauthenticated('the token was signed by a key that is unknown or revoked')
        return key
      },
      {
        algorithms: [ALGORITHM],
        issuer,
        currentDate: new Date(now()),
        requiredClaims: ['exp', 'iat', 'sub', 'org', 'jti'],
      },
    ).catch((error: unknown) => {
      if (error instanceof errors.JWTExpired) throw unauthenticated('the token has expired')
      if (error instanceof errors.JOSEError) throw unauthenticated('the token is not one of ours')
      throw error
    })
    const account = await findAccount(db, Number(payload.org), Number(payload.sub))
    if (!account || account.disabled) throw unauthenticated('the account is disabled or gone')
    if (account.tokensFrom !== null && Number(payload.iat) * 1000 < account.tokensFrom)
      throw unauthenticated('the token was revoked; sign in again')
    const identity = {
      accountId: account.id,
      organizationId: account.organizationId,
      email: account.email,
      roles: account.roles,
      expiresAt: Number(payload.exp) * 1000,
    }
    const kid = String(protectedHeader.kid)
    return { identity, stillGood: () => keys.stillVerifies(kid) }
  }

  // Apart from each other: a style that takes no keys must not find one among the tokens it remembers.
  return {
    issueToken,
    identify: remembering(now, verify),
    identifyKey: remembering(now, async (key) => ({ identity: await identifyApiKey(db, key) })),
  }
}
