import type { Clock } from './clock.ts'

/** How a client signs its requests. */
export interface Credentials {
  /** The e-mail of an account, for tokens that the client takes and renews itself. */
  readonly email?: string
  readonly password?: string
  /** A token, or a function that gives one that is valid now. */
  readonly token?: string | (() => string | Promise<string>)
  /** An API key, which signs the requests of the record style. */
  readonly apiKey?: string
}

/** The tokens of an account. */
export interface Tokens {
  /** Returns a token that is valid now. Calls at the same time share one sign-in. */
  get(): Promise<string>
  /** Forgets a token that was refused. Returns whether another one can be had. */
  drop(refused: string): boolean
}

/** The part of the life of a token that is left when it is renewed. */
const RENEWED_BEFORE = 0.1

/**
 * Keeps the token of an account.
 * @param signIn takes a new token
 */
export function keepTokens(signIn: () => Promise<string>, clock: Clock): Tokens {
  let token: string | undefined
  let renewAt = 0
  let expiresAt = 0
  let signingIn: Promise<string> | undefined

  const renew = async (): Promise<string> => {
    const fresh = await signIn()
    const now = clock.now()
    expiresAt = expiryOf(fresh) ?? Number.POSITIVE_INFINITY
    renewAt = expiresAt - (expiresAt - now) * RENEWED_BEFORE
    token = fresh
    return fresh
  }
  return {
    async get() {
      if (token !== undefined && clock.now() < renewAt) return token
      signingIn ??= renew().finally(() => {
        signingIn = undefined
      })
      // A token that is still valid does while no other can be had.
      const old = token
      if (old === undefined || clock.now() >= expiresAt) return signingIn
      return signingIn.catch(() => old)
    },
    drop(refused) {
      if (token === refused) token = undefined
      return true
    },
  }
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
