import type { Account } from '../../db/access/accounts.ts'
import { findOfficeSignIn } from '../../db/access/officeSignIn.ts'
import {
  checkedPageSession,
  claimRefresh,
  deletePageSession,
  type StoredSession,
  storeTokens,
} from '../../db/access/pageSessions.ts'
import type { Base } from '../base.ts'
import { followRoles, rolesTold } from './people.ts'
import type { Answer, Provider, ProviderClient, ProviderTokens } from './provider.ts'
import { signInBox } from './settings.ts'

/** While a provider is away, a session goes on for so long after the last answer; then it is unavailable. */
export const GRACE_MS = 60_000
/** The time of the last answer is stored at most this often. */
const NOTE_EVERY_MS = 20_000
/** The time that an instance has to refresh tokens. */
const REFRESH_WITHIN_MS = 15_000
const MOST_NOTED = 1_000

/** What becomes of a session of a person whom a provider knows. */
export type Held = { readonly account: Account } | 'ended' | 'away'

type HeldDeps = Pick<Base, 'db' | 'config' | 'machineNow'> & { readonly providers: ProviderClient }

/** Returns a function that asks the provider about the person of a session, and gives the account the roles that it tells. */
export function createHeldCheck(deps: HeldDeps): (session: StoredSession, account: Account) => Promise<Held> {
  const { db, config, machineNow, providers } = deps
  const answeredAt = new Map<string, number>()

  /** Notes an answer, in memory and now and then in the database. */
  async function note({ hash, checkedAt }: StoredSession): Promise<void> {
    const now = machineNow()
    if (answeredAt.size >= MOST_NOTED) answeredAt.clear()
    answeredAt.set(hash, now)
    if (now - (checkedAt ?? 0) >= NOTE_EVERY_MS) await checkedPageSession(db, hash, now)
  }

  /** Refreshes tokens that have ended, in one instance at a time. @returns what the provider answers then */
  async function refreshed(provider: Provider, session: StoredSession, known: Known): Promise<Answer> {
    const { hash } = session
    const { tokens } = known
    if (tokens.refreshToken === undefined) return { state: 'refused' }
    const now = machineNow()
    const claim = { hash, tokens: session.providerTokens! }
    // Another instance has it, and this one sees its tokens in a few seconds.
    if (!(await claimRefresh(db, claim, { now, until: now + REFRESH_WITHIN_MS }))) return { state: 'away' }
    const next = await providers.refresh(provider, tokens.refreshToken).catch(() => 'away' as const)
    if (next === 'away') return { state: 'away' }
    if (next === undefined) return { state: 'refused' }
    await storeTokens(db, hash, signInBox(config).encrypt(JSON.stringify(next)))
    return providers.ask(provider, known.subject, next)
  }

  return async (session, account) => {
    const { organizationId, known } = account
    const { provider } = await findOfficeSignIn(db, organizationId)
    const end = async () => {
      await deletePageSession(db, session.hash)
      return 'ended' as const
    }
    // The provider is another one by now, or none.
    if (!known || !provider || provider.issuer !== known.issuer || session.providerTokens === null) return end()
    const box = signInBox(config)
    const tokens = JSON.parse(box.decrypt(session.providerTokens)) as ProviderTokens
    const asked = { issuer: provider.issuer, clientId: provider.clientId, secret: box.decrypt(provider.clientSecret) }
    const first = await providers.ask(asked, known.subject, tokens)
    const answer =
      first.state === 'refused' ? await refreshed(asked, session, { subject: known.subject, tokens }) : first
    if (answer.state === 'away') {
      const last = Math.max(answeredAt.get(session.hash) ?? 0, session.checkedAt ?? session.createdAt)
      return machineNow() - last < GRACE_MS ? { account } : 'away'
    }
    if (answer.state === 'refused') return end()
    const given = await rolesTold(deps, organizationId, provider, answer.told)
    if (given.roles.length === 0) return end()
    await note(session)
    return { account: await followRoles(deps, account, given, 'provider') }
  }
}

interface Known {
  readonly subject: string
  readonly tokens: ProviderTokens
}
