import { LRUCache } from 'lru-cache'
import * as oidc from 'openid-client'
import type { StoredProvider } from '../../db/access/officeSignIn.ts'
import { createProviderFetch, ProviderAwayError, type ProviderFetch } from './providerFetch.ts'

/** The tokens of a person, by which the provider is asked about the person. */
export interface ProviderTokens {
  readonly accessToken: string
  readonly refreshToken?: string | undefined
}

/** A person, as the provider tells of one. */
export interface Told {
  readonly subject: string
  readonly claims: Readonly<Record<string, unknown>>
}

/** What the provider answers about a person whose session goes on. */
export type Answer =
  | { readonly state: 'told'; readonly told: Told; readonly tokens: ProviderTokens }
  | { readonly state: 'refused' }
  | { readonly state: 'away' }

/** What a sign-in that has begun has to know when the person comes back. */
export interface Begun {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  readonly redirectUri: string
}

/** Thrown where what the provider answered is not what was asked for: the sign-in has to begin again. */
export class SignInRefusedError extends Error {
  override readonly name = 'SignInRefusedError'
}

/** A provider with the secret of its client, decrypted. */
export type Provider = Pick<StoredProvider, 'issuer' | 'clientId'> & { readonly secret: string }

/** Speaks OpenID Connect with the providers of organizations. */
export interface ProviderClient {
  /** Begins a sign-in. @returns the address to send the browser to. @throws ProviderAwayError, SignInRefusedError */
  begin(provider: Provider, redirectUri: string): Promise<{ readonly url: URL; readonly begun: Begun }>
  /** Ends a sign-in, by the address that the browser came back to. @throws ProviderAwayError, SignInRefusedError */
  end(
    provider: Provider,
    begun: Begun,
    cameBack: URL,
  ): Promise<{ readonly told: Told; readonly tokens: ProviderTokens }>
  /** Asks about a person. A token that has ended is refreshed where it can be; never throws. */
  ask(provider: Provider, subject: string, tokens: ProviderTokens): Promise<Answer>
  /** Refreshes tokens. @returns undefined where the provider refuses. @throws ProviderAwayError */
  refresh(provider: Provider, refreshToken: string): Promise<ProviderTokens | undefined>
}

/** What a provider says of itself is used for ten minutes. */
const KNOWN_MS = 600_000
const MOST_KNOWN = 500
const WITHIN_S = 10
const SCOPE = 'openid email profile'

/** Returns a function that makes the client of a provider, by what the provider says of itself. */
function clientsOf(
  signInToPrivate: boolean,
  fetch: ProviderFetch,
): (provider: Provider) => Promise<oidc.Configuration> {
  const known = new LRUCache<string, Promise<oidc.ServerMetadata>>({ max: MOST_KNOWN, ttl: KNOWN_MS })
  const customFetch: oidc.CustomFetch = (url, { method, headers, body }) => fetch(url, { method, headers, body })

  const discover = async ({ issuer, clientId, secret }: Provider): Promise<oidc.ServerMetadata> => {
    const execute = signInToPrivate ? { execute: [oidc.allowInsecureRequests] } : {}
    const options = { ...execute, timeout: WITHIN_S, [oidc.customFetch]: customFetch }
    const found = (await oidc.discovery(new URL(issuer), clientId, secret, undefined, options)).serverMetadata()
    const { authorization_endpoint: authorize = '', userinfo_endpoint: userinfo } = found
    const protocol = URL.parse(authorize)?.protocol
    if (protocol !== 'https:' && !(signInToPrivate && protocol === 'http:'))
      throw new SignInRefusedError('the provider names no https: address to sign in at')
    if (userinfo === undefined) throw new SignInRefusedError('the provider has no userinfo endpoint')
    return found
  }

  /** Returns the client of a provider, with no keys kept: a sign-in reads those of now, so that a rotated one counts at once. */
  return async (provider) => {
    const { issuer, clientId, secret } = provider
    const found = known.get(issuer) ?? discover(provider)
    known.set(issuer, found)
    const metadata = await found.catch((error: unknown) => {
      if (known.peek(issuer) === found) known.delete(issuer)
      throw error
    })
    const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const byBasic = methods.includes('client_secret_basic')
    const authentication = byBasic ? oidc.ClientSecretBasic(secret) : oidc.ClientSecretPost(secret)
    const client = new oidc.Configuration(metadata, clientId, undefined, authentication)
    client[oidc.customFetch] = customFetch
    client.timeout = WITHIN_S
    // The signature of an identity is checked, although it came by TLS from the provider itself.
    oidc.enableNonRepudiationChecks(client)
    if (signInToPrivate) oidc.allowInsecureRequests(client)
    return client
  }
}

/** Creates the client of providers. */
export function createProviderClient(
  { signInToPrivate }: { readonly signInToPrivate: boolean },
  fetch: ProviderFetch = createProviderFetch(signInToPrivate),
): ProviderClient {
  const clientOf = clientsOf(signInToPrivate, fetch)
  const userOf = async (client: oidc.Configuration, subject: string, accessToken: string): Promise<Told> => {
    const claims = await oidc.fetchUserInfo(client, accessToken, subject)
    return { subject, claims }
  }

  const refresh = async (provider: Provider, refreshToken: string): Promise<ProviderTokens | undefined> => {
    try {
      const tokens = await oidc.refreshTokenGrant(await clientOf(provider), refreshToken)
      return { accessToken: tokens.access_token, refreshToken: tokens.refresh_token ?? refreshToken }
    } catch (error) {
      if (isAway(error)) throw new ProviderAwayError('the provider does not answer', { cause: error })
      return undefined
    }
  }

  return {
    async begin(provider, redirectUri) {
      const client = await orRefused(() => clientOf(provider))
      const verifier = oidc.randomPKCECodeVerifier()
      const begun = { state: oidc.randomState(), nonce: oidc.randomNonce(), verifier, redirectUri }
      const url = oidc.buildAuthorizationUrl(client, {
        scope: SCOPE,
        redirect_uri: redirectUri,
        state: begun.state,
        nonce: begun.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      })
      return { url, begun }
    },
    end: (provider, { state, nonce, verifier }, cameBack) =>
      orRefused(async () => {
        const client = await clientOf(provider)
        const tokens = await oidc.authorizationCodeGrant(client, cameBack, {
          pkceCodeVerifier: verifier,
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true,
        })
        const { sub } = tokens.claims()!
        const told = await userOf(client, sub, tokens.access_token)
        return { told, tokens: { accessToken: tokens.access_token, refreshToken: tokens.refresh_token } }
      }),
    async ask(provider, subject, tokens) {
      try {
        return { state: 'told', told: await userOf(await clientOf(provider), subject, tokens.accessToken), tokens }
      } catch (error) {
        return { state: isAway(error) ? 'away' : 'refused' }
      }
    },
    refresh,
  }
}

/** Returns whether an error says that the provider cannot answer now. */
function isAway(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause) {
    if (one instanceof ProviderAwayError) return true
    if (one instanceof oidc.ClientError && (one.code === 'OAUTH_TIMEOUT' || one.code === 'OAUTH_ABORT')) return true
  }
  return false
}

/** Returns what a part of a sign-in gives. @throws ProviderAwayError; SignInRefusedError for every other refusal of the provider */
async function orRefused<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (isAway(error)) throw new ProviderAwayError('the provider does not answer', { cause: error })
    if (error instanceof SignInRefusedError) throw error
    throw new SignInRefusedError('the provider did not sign the person in', { cause: error })
  }
}
