import type { Account } from '../../db/access/accounts.ts'
import { findOfficeSignIn, type StoredProvider } from '../../db/access/officeSignIn.ts'
import { LendingError, notFound } from '../../domain/errors.ts'
import type { Base } from '../base.ts'
import { accountOfPerson } from './people.ts'
import { type Begun, type ProviderClient, type ProviderTokens, SignInRefusedError } from './provider.ts'
import { ProviderAwayError } from './providerFetch.ts'
import { signInBox } from './settings.ts'

/** The time that a person has to sign in at the provider. */
export const BEGUN_MS = 600_000
const LONGEST_KEPT = 8_000

/** What the browser keeps of a sign-in that has begun, encrypted. */
interface Kept extends Begun {
  readonly organizationId: number
  readonly next: string
  readonly at: number
}

/** Signs people in by the providers of their organizations. */
export interface ProviderSignIn {
  /**
   * Begins a sign-in.
   * @returns the address of the provider, and what the browser keeps until it comes back
   * @throws LendingError `not_found` without a provider, `unavailable` where it does not answer, `failed_precondition` where it is none
   */
  begin(request: {
    readonly organizationId: number
    readonly redirectUri: string
    readonly next: string
  }): Promise<{ readonly url: URL; readonly kept: string }>
  /**
   * Ends a sign-in, by the query with which the browser came back.
   * @throws LendingError `unauthenticated`, `permission_denied` without a role, `unavailable`
   */
  end(
    kept: string,
    query: string,
    requestId: string,
  ): Promise<{ readonly account: Account; readonly tokens: ProviderTokens; readonly next: string }>
}

const again = (message: string) => new LendingError('unauthenticated', `${message}: sign in again`)
const away = () => new LendingError('unavailable', 'the provider that signs you in does not answer; try again', [], 5)

/** Creates the sign-in by providers. */
export function createProviderSignIn(
  deps: Pick<Base, 'db' | 'directory' | 'config' | 'machineNow'> & { readonly providers: ProviderClient },
): ProviderSignIn {
  const { db, config, machineNow, providers } = deps

  const providerOf = async (organizationId: number): Promise<StoredProvider> => {
    const { provider } = await findOfficeSignIn(db, organizationId)
    if (!provider) throw notFound('no organization of that number has a provider to sign in by')
    return provider
  }
  const withSecret = ({ issuer, clientId, clientSecret }: StoredProvider) => ({
    issuer,
    clientId,
    secret: signInBox(config).decrypt(clientSecret),
  })

  return {
    async begin({ organizationId, redirectUri, next }) {
      const provider = await providerOf(organizationId)
      const { url, begun } = await providers.begin(withSecret(provider), redirectUri).catch((error: unknown) => {
        if (error instanceof ProviderAwayError) throw away()
        if (error instanceof SignInRefusedError)
          throw new LendingError('failed_precondition', `the provider ${provider.issuer} cannot be used to sign in`)
        throw error
      })
      const kept: Kept = { ...begun, organizationId, next, at: machineNow() }
      return { url, kept: signInBox(config).encrypt(JSON.stringify(kept)) }
    },
    async end(text, query, requestId) {
      const kept = keptOf(text)
      if (!kept || machineNow() - kept.at >= BEGUN_MS || kept.at > machineNow())
        throw again('this sign-in was not begun here, or too long ago')
      const provider = await providerOf(kept.organizationId)
      const cameBack = new URL(`${kept.redirectUri}?${query}`)
      const { told, tokens } = await providers.end(withSecret(provider), kept, cameBack).catch((error: unknown) => {
        if (error instanceof ProviderAwayError) throw away()
        if (error instanceof SignInRefusedError) throw again('the provider did not sign you in')
        throw error
      })
      const { organizationId, next } = kept
      return { account: await accountOfPerson(deps, { ...provider, organizationId }, told, requestId), tokens, next }
    },
  }

  /** Reads what the browser kept; undefined for what this service did not give it. */
  function keptOf(text: string): Kept | undefined {
    if (text === '' || text.length > LONGEST_KEPT) return undefined
    try {
      return JSON.parse(signInBox(config).decrypt(text)) as Kept
    } catch {
      return undefined
    }
  }
}
