import { createHmac, randomBytes } from 'node:crypto'
import { type Account, findAccountByEmail } from '../../db/access/accounts.ts'
import { LendingError } from '../../domain/errors.ts'
import { type Events, noEvents } from '../events.ts'
import { identifyApiKey } from './apiKeys.ts'
import { remembering } from './cachingVerifier.ts'
import type { Identity } from './caller.ts'
import { networkOf, withoutPort } from './network.ts'
import { NO_ACCOUNT_HASH, verifyPassword } from './passwords/passwords.ts'
import { createSignInLimits } from './signInLimits.ts'
import { createTokens, type TokensDeps } from './tokens.ts'

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

/** Names what signing in needs: all that tokens need, and the events to tell of it. */
export interface SignInDeps extends TokensDeps {
  /** Nobody counts without one. */
  readonly events?: Events
}

/** An account whose password was right, and the instant at which the check of it began. */
interface Checked {
  readonly account: Account
  readonly askedAt: number
}

const unauthenticated = (message: string) => new LendingError('unauthenticated', message)

export function createSignIn({ events = noEvents, ...deps }: SignInDeps): SignIn {
  const { db, now } = deps
  const tokens = createTokens(deps)
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
    return tokens.issue(account, askedAt)
  }

  // Apart from each other: a style that takes no keys must not find one among the tokens it remembers.
  return {
    issueToken,
    identify: remembering(now, tokens.verify),
    identifyKey: remembering(now, async (key) => ({ identity: await identifyApiKey(db, key) })),
  }
}
