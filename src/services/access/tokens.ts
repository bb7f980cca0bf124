import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Account, findAccount } from '../../db/access/accounts.ts'
import type { Db } from '../../db/postgres/client.ts'
import { invariant, LendingError } from '../../domain/errors.ts'
import { LARGEST_INT32 } from '../../toolbox/integers.ts'
import { createReadCache } from '../../toolbox/readCache.ts'
import type { Identity } from './caller.ts'
import type { KeyRing } from './keyRing.ts'
import { permissionsOf } from './roles.ts'

/** A token is valid for a year (contract 3.1). */
const TOKEN_DAYS = 365
const DAY_SECONDS = 86_400

const MOST_VERIFIED = 20_000

/** The identity that a credential belongs to. */
interface Verified {
  readonly identity: Identity
  /**
   * Returns whether the key of the credential still verifies; checked at each use, so that the ages of two caches do
   * not add up.
   */
  readonly stillGood?: () => Promise<boolean>
}

/** Issues tokens, and finds the account that a token belongs to. */
export interface Tokens {
  /** Issues a token for an account. @param askedAt the instant at which the check of the password began */
  issue(account: Account, askedAt: number): Promise<string>
  /**
   * Finds the identity of a token.
   * @throws LendingError `unauthenticated` for a token that is malformed, forged, expired, or of a disabled account
   */
  verify(token: string): Promise<Verified>
}

/** Holds the claims of a token, by name. */
export type Claims = Readonly<Record<string, unknown>>

/** Signs tokens and verifies their signatures, with the key that is given for each. */
export interface TokenSigner {
  /** Returns a token of the claims, whose header names the key. */
  sign(claims: Claims, key: { readonly kid: string; readonly privatePem: string }): string
  /**
   * Returns the `kid` in the header of a token, unchecked.
   * @throws Error for a text that is not a token, or has another algorithm than ours
   */
  keyIdOf(token: string): unknown
  /**
   * Returns the claims of a token that the key signed, for our issuer. The caller checks when the token expires.
   * @throws Error for every other token
   */
  verify(token: string, publicPem: string): Claims
}

/** Holds the signer: the auth host mounts it after the services that need it were made. */
export interface SignerPlace {
  /** Sets the signer, in place of an earlier one. */
  mount(signer: TokenSigner): void
  /** Returns the signer, which must have been mounted. */
  mounted(): TokenSigner
}

/** Names what tokens need: where accounts are, the keys, the signer, and the issuer that tokens name. */
export interface TokensDeps {
  readonly db: Db
  readonly keys: KeyRing
  readonly tokenSigner: SignerPlace
  readonly now: () => number
  readonly issuer: string
}

const unauthenticated = (message: string) => new LendingError('unauthenticated', message)
const notOurs = () => unauthenticated('the token is not one of ours')

/** Creates the issuer and verifier of tokens, which the mounted signer signs and verifies. */
export function createTokens({ db, keys, tokenSigner, now, issuer }: TokensDeps): Tokens {
  const inTurn = oneEachTurn()

  /** Returns the claims of a token that is genuine and has not expired, and the id of its key. */
  async function check(token: string): Promise<{ claims: Claims; kid: string }> {
    const signer = tokenSigner.mounted()
    const kid = orNotOurs(() => signer.keyIdOf(token))
    const publicPem = typeof kid === 'string' ? await keys.verifying(kid) : undefined
    if (publicPem === undefined || typeof kid !== 'string')
      throw unauthenticated('the token was signed by a key that is unknown or revoked')
    const claims = orNotOurs(() => signer.verify(token, publicPem))
    const { iat, exp } = claims
    if (!isSeconds(iat) || !isSeconds(exp) || exp - iat > TOKEN_DAYS * DAY_SECONDS) throw notOurs()
    if (exp <= Math.floor(now() / 1000)) throw unauthenticated('the token has expired')
    return { claims, kid }
  }

  return {
    issue(account, askedAt) {
      const claims = claimsOf(account, askedAt, issuer)
      return inTurn(async () => tokenSigner.mounted().sign(claims, await keys.signing()))
    },
    async verify(token) {
      const { claims, kid } = await check(token)
      // Of the types that are issued: a number, and a text.
      const organizationId = typeof claims.org === 'number' ? smallId(String(claims.org)) : undefined
      const accountId = typeof claims.sub === 'string' ? smallId(claims.sub) : undefined
      if (organizationId === undefined || accountId === undefined) throw notOurs()
      const account = await findAccount(db, organizationId, accountId)
      if (!account || account.disabled) throw unauthenticated('the account is disabled or gone')
      if (account.tokensFrom !== null && Number(claims.iat) * 1000 < account.tokensFrom)
        throw unauthenticated('the token was revoked; sign in again')
      const { email, roles } = account
      const expiresAt = Number(claims.exp) * 1000
      const permissions = await permissionsOf(db, organizationId, roles)
      const identity = { accountId, organizationId, email, roles, permissions, expiresAt }
      return { identity, stillGood: () => keys.stillVerifies(kid) }
    },
  }
}

function claimsOf(account: Account, askedAt: number, issuer: string): Claims {
  // Whole seconds: in the second in which earlier tokens were revoked, a new token is dated to the next second.
  const iat = Math.max(Math.floor(askedAt / 1000), Math.ceil((account.tokensFrom ?? 0) / 1000))
  return {
    org: account.organizationId,
    roles: [...account.roles],
    iss: issuer,
    sub: String(account.id),
    iat,
    exp: iat + TOKEN_DAYS * DAY_SECONDS,
    jti: randomUUID(),
  }
}

/** Returns the id of an organization or an account that a text is; undefined for a text that is none. */
function smallId(text: string): number | undefined {
  const id = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : 0
  return id >= 1 && id <= LARGEST_INT32 ? id : undefined
}

/** Returns whether a claim is whole seconds since 1970. */
const isSeconds = (claim: unknown): claim is number => Number.isSafeInteger(claim) && Number(claim) >= 0

/** Returns what the signer reads from a token. @throws LendingError `unauthenticated` where the signer throws */
function orNotOurs<T>(read: () => T): T {
  try {
    return read()
  } catch {
    throw notOurs()
  }
}

/**
 * Returns a function that runs pieces of work one after the other, each in its own turn of the event loop. A signature
 * keeps the loop busy for half a millisecond: many sign-ins at once must not delay other requests for their total time.
 */
function oneEachTurn(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const result = last.then(() => nextTurn()).then(work)
    last = result.catch(() => undefined)
    return result
  }
}

/** Returns a check of credentials that keeps each identity for a few seconds; a refusal is never kept. */
export function cachingVerifier(
  now: () => number,
  verify: (credential: string) => Promise<Verified>,
): (credential: string) => Promise<Identity> {
  const verified = createReadCache(now, MOST_VERIFIED, verify)
  return async (credential) => {
    const { identity, stillGood } = await verified.get(credential)
    if (!stillGood || (await stillGood())) return identity
    verified.forget(credential)
    return (await verified.get(credential)).identity
  }
}

/** Returns a place that has no signer yet. */
export function signerPlace(): SignerPlace {
  let signer: TokenSigner | undefined
  return {
    mount: (given) => {
      signer = given
    },
    mounted: () => {
      invariant(signer, 'an auth host that signs and verifies tokens')
      return signer
    },
  }
}
