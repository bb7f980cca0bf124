import type { Clock } from './clock.ts'

/** How a client signs its requests. */
export interface Credentials {
  /** The e-mail of an account, for tokens that the client takes and renews itself. */
  readonly email?: string | undefined
  readonly password?: string | undefined
  /** A token, or a function that gives one that is valid now. */
  readonly token?: string | (() => string | Promise<string>) | undefined
  /** An API key, which signs the requests of the record style. */
  readonly apiKey?: string | undefined
}

/** The tokens of an account. */
export interface Tokens {
  /** Returns a token that is valid now. Calls at the same time share one sign-in. */
  get(): Promise<string>
  /** Forgets a token that was refused. Returns whether another one can be had. */
  drop(refused: string): boolean
}

/** The part of the life of a token that is left when it is renewed, and after which a renewal that failed is tried again. */
const LAST_PART = 0.1

/**
 * Keeps the token of an account.
 * @param signIn takes a new token
 */
export function keepTokens(signIn: () => Promise<string>, clock: Clock): Tokens {
  let kept: Kept | undefined
  let signingIn: Promise<string> | undefined

  const renew = async (): Promise<string> => {
    try {
      const token = await signIn()
      const lifeMs = (expiryOf(token) ?? Number.POSITIVE_INFINITY) - clock.now()
      kept = { token, expiresAt: clock.now() + lifeMs, renewAt: clock.now() + lifeMs * (1 - LAST_PART) }
    } catch (error) {
      const leftMs = kept === undefined ? 0 : kept.expiresAt - clock.now()
      if (kept === undefined || leftMs <= 0) throw error
      // A token that is still valid does for a while.
      kept = { ...kept, renewAt: clock.now() + leftMs * LAST_PART }
    }
    return kept.token
  }
  return {
    async get() {
      if (kept !== undefined && clock.now() < kept.renewAt) return kept.token
      signingIn ??= renew().finally(() => {
        signingIn = undefined
      })
      return signingIn
    },
    drop(refused) {
      if (kept?.token === refused) kept = undefined
      return true
    },
  }
}

/** A token, and the instants when it is renewed and when it expires. */
interface Kept {
  readonly token: string
  readonly renewAt: number
  readonly expiresAt: number
}

/** Takes the tokens that the caller gives. */
export function givenTokens(token: NonNullable<Credentials['token']>): Tokens {
  return {
    get: async () => (typeof token === 'string' ? token : token()),
    drop: () => typeof token === 'function',
  }
}

/** Returns when a token expires, in milliseconds since 1970; undefined where it does not say so. */
function expiryOf(token: string): number | undefined {
  try {
    const claims = JSON.parse(atob((token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')))
    return typeof claims.exp === 'number' ? claims.exp * 1_000 : undefined
  } catch {
    return undefined
  }
}
