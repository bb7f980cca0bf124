import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { errors, jwtVerify, SignJWT } from 'jose'
import { type Account, findAccount, findAccountByEmail } from '../../db/access/accounts.ts'
import type { Db } from '../../db/postgres/client.ts'
import { LendingError } from '../../domain/errors.ts'
import { LARGEST_ID } from '../../domain/product/smallId.ts'
import { type Events, noEvents } from '../events.ts'
import { identifyApiKey } from './apiKeys.ts'
import { remembering, type Verified } from './cachingVerifier.ts'
import type { Identity } from './caller.ts'
import type { KeyRing } from './keyRing.ts'
import { networkOf, withoutPort } from './network.ts'
import { NO_ACCOUNT_HASH, verifyPassword } from './passwords.ts'
import { createSignInLimits } from './signInLimits.ts'

/** A token is good for a year (contract 3.1). */
const TOKEN_DAYS = 365
const DAY_SECONDS = 86_400

const ALGORITHM = 'RS256'

/** Signing in, and knowing who calls. */
export interface SignIn {
  /**
   * A token for the account.
   * @throws LendingError `unauthenticated` for wrong credentials or a disabled account, `resource_exhausted` after too
   * many failures of the e-mail or the address
   */
  issueToken(email: string, password: string, address: string, requestId?: string): Promise<string>
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
  /** Nobody counts without one. */
  readonly events?: Events
}

/** The number of an organization or an account as a claim has it; undefined for a claim that is none. */
function smallId(claim: unknown): number | undefined {
  const isNumber = typeof claim === 'number' || (typeof claim === 'string' && /^[1-9]\d{0,9}$/.test(claim))
  const id = isNumber ? Number(claim) : 0
  return Number.isInteger(id) && id >= 1 && id <= LARGEST_ID ? id : undefined
}

/** An account whose password was right, and the instant at which the check of it began. */
interface Checked {
  readonly account: Account
  readonly askedAt: number
}

const unauthenticated = (message: string) => new LendingError('unauthenticated', message)

export function createSignIn({ db, keys, now, issuer, events = noEvents }: SignInDeps): SignIn {
  const limits = createSignInLimits(db)
  // Those who send the same e-mail and password at once share one check: an integrator's workers that start together.
  const checking = new Map<string, Promise<Checked>>()
  const secret = randomBytes(32)

  /** The account that the password is right for, and when the check began. */
  async function check(email: string, password: string, address: string): Promise<Checked> {
    const attempt = await limits.begin(email, address)
    let failed = false
    try {
      // Before the account is read: tokens that are revoked while the password is checked have to include this one.
      const askedAt = now()
      const account = await findAccountByEmail(db, email)
      const right = await verifyPassword(password, account?.passwordHash ?? NO_ACCOUNT_HASH)
      failed = !right || !account || account.disabled
      if (!right || !account || account.disabled)
        throw unauthenticated('wrong e-mail or password, or the account is disabled')
      return { account, askedAt }
    } finally {
      await attempt.end(failed ? 'failed' : 'not failed')
    }
  }

  async function issueToken(email: string, password: string, from: string, requestId = ''): Promise<string> {
    const address = networkOf(from)
    const name = createHmac('sha256', secret)
      .update(JSON.stringify([email, password, address]))
      .digest('base64url')
    const under = checking.get(name) ?? check(email, password, address).finally(() => checking.delete(name))
    checking.set(name, under)
    const { account, askedAt } = await under
    const { organizationId, id: accountId } = account
    events.signedIn({ organizationId, accountId, address: withoutPort(from), requestId })
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
    const [organizationId, accountId] = [smallId(payload.org), smallId(payload.sub)]
    if (organizationId === undefined || accountId === undefined) throw unauthenticated('the token is not one of ours')
    const account = await findAccount(db, organizationId, accountId)
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
