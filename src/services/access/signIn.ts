import { createHmac, randomBytes } from 'node:crypto'
import type { Config } from '../../app/config.ts'
import { type Account, findAccountByEmail } from '../../db/access/accounts.ts'
import type { Db } from '../../db/postgres/client.ts'
import { LendingError } from '../../domain/errors.ts'
import { createSingleFlight } from '../../toolbox/singleFlight.ts'
import { type Listener, noListener } from '../listener.ts'
import { takeCode } from '../signIn/secondFactor.ts'
import { identifyApiKey } from './accounts.ts'
import type { Identity } from './caller.ts'
import { networkOf, withoutPort } from './caller.ts'
import { NO_ACCOUNT_HASH, verifyPassword } from './passwords/passwords.ts'
import { createSignInLimits } from './signInLimits.ts'
import { cachingVerifier, createTokens, type TokensDeps } from './tokens.ts'

/** What comes with an e-mail and a password: the id of the request, and the code of the second factor where the account has one. */
export interface SignInTold {
  readonly requestId?: string
  readonly code?: string
}

/** Issues tokens, and identifies callers by their tokens and API keys. */
export interface SignIn {
  /**
   * Issues a token for an account.
   * @throws LendingError `unauthenticated` for wrong credentials, a wrong code or a disabled account, `resource_exhausted` after too
   *   many failures of the e-mail or the address
   */
  issueToken(email: string, password: string, address: string, request?: SignInTold): Promise<string>
  /**
   * Confirms the password of an account, for a sign-in without a token.
   * @throws LendingError as `issueToken` does
   */
  confirm(email: string, password: string, address: string, request?: SignInTold): Promise<Account>
  /**
   * Identifies the caller of a token.
   * @throws LendingError `unauthenticated` for a token that is malformed, forged, expired, or of a disabled account
   */
  identify(token: string): Promise<Identity>
  /**
   * Identifies the caller of an API key.
   * @throws LendingError `unauthenticated` for a key that is unknown or revoked
   */
  identifyKey(key: string): Promise<Identity>
}

/** Names what sign-in needs: the dependencies of tokens, and a listener. */
export interface SignInDeps extends TokensDeps {
  /** Where attempts are counted: in the directory of several books; in `db` when left out. */
  readonly limitsIn?: Db
  readonly config: Config
  /** Left out: sign-ins are not counted. */
  readonly listener?: Listener
}

/** An account whose password was right, and the instant at which the check of it began. */
interface Checked {
  readonly account: Account
  readonly askedAt: number
}

/** Says what is missing where an account has a second factor. */
export const CODE_MISSING =
  'the account has a second factor: give its code, too (over HTTP in the header x-mkopo-code; programs use an API key)'

const unauthenticated = (message: string) => new LendingError('unauthenticated', message)

/** An e-mail and a password, and the network address that they came from. */
interface Credentials {
  readonly email: string
  readonly password: string
  readonly address: string
  /** Of the second factor. */
  readonly code: string
}

/** Creates the sign-in of the service. */
export function createSignIn({ listener = noListener, ...deps }: SignInDeps): SignIn {
  const { db, now } = deps
  const tokens = createTokens(deps)
  const check = shareChecks(createCheck(deps))
  const signInAt =
    (route: string) =>
    async (email: string, password: string, from: string, { requestId = '', code = '' }: SignInTold = {}) => {
      const checked = await check({ email, password, address: networkOf(from), code })
      const { organizationId, id: accountId } = checked.account
      listener.signedIn({ organizationId, accountId, route, address: withoutPort(from), requestId })
      return checked
    }
  const forToken = signInAt('auth /v1/auth/token')
  const forSession = signInAt('office /sign-in')
  return {
    async issueToken(...credentials) {
      const { account, askedAt } = await forToken(...credentials)
      return tokens.issue(account, askedAt)
    },
    confirm: async (...credentials) => (await forSession(...credentials)).account,
    // Two caches: a style that takes no keys must not find one among the cached tokens.
    identify: cachingVerifier(now, tokens.verify),
    identifyKey: cachingVerifier(now, async (key) => ({ identity: await identifyApiKey(db, key) })),
  }
}

/** Returns a function that finds the account whose password is right, within the limits of attempts. */
function createCheck({
  db,
  limitsIn,
  now,
  config,
}: Pick<SignInDeps, 'db' | 'limitsIn' | 'now' | 'config'>): (credentials: Credentials) => Promise<Checked> {
  const limits = createSignInLimits(limitsIn ?? db)
  return async ({ email, password, address, code }) => {
    const attempt = await limits.begin(email, address)
    let outcome: Parameters<typeof attempt.end>[0] = 'not decided'
    try {
      // Before the account is read: tokens that are revoked while the password is checked have to include this one.
      const askedAt = now()
      const account = await findAccountByEmail(db, email)
      const lately = attempt.signedInLately ? email.toLowerCase() : undefined
      const right = await verifyPassword(password, account?.passwordHash ?? NO_ACCOUNT_HASH, lately)
      outcome = 'failed'
      if (!right || !account || account.disabled)
        throw unauthenticated('wrong e-mail or password, or the account is disabled')
      const whose = { organizationId: account.organizationId, accountId: account.id }
      const state = await takeCode({ db, config, now }, whose, code)
      if (state === 'missing') outcome = 'not decided'
      if (state === 'missing') throw unauthenticated(CODE_MISSING)
      if (state === 'wrong') throw unauthenticated('the code is wrong, or was used before: wait for the next one')
      outcome = 'signed in'
      return { account, askedAt }
    } finally {
      await attempt.end(outcome)
    }
  }
}

/** Lets equal credentials that arrive at once share one check: an integrator's workers that start together. */
function shareChecks(check: (credentials: Credentials) => Promise<Checked>): typeof check {
  const share = createSingleFlight<string, Checked>()
  const secret = randomBytes(32)
  return (credentials) => {
    const { email, password, address, code } = credentials
    // A code is taken once: two requests with one code are two attempts.
    if (code !== '') return check(credentials)
    const name = createHmac('sha256', secret)
      .update(JSON.stringify([email, password, address]))
      .digest('base64url')
    return share(name, () => check(credentials))
  }
}
