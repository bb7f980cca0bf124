import { createHash, randomBytes } from 'node:crypto'
import type { Account } from '../../db/access/accounts.ts'
import { findOfficeSignIn } from '../../db/access/officeSignIn.ts'
import {
  deletePageSession,
  findPageSession,
  insertPageSession,
  type StoredSession,
  touchPageSession,
} from '../../db/access/pageSessions.ts'
import type { Whose } from '../../db/access/secondFactors.ts'
import { isWorthRepeating } from '../../db/postgres/errors.ts'
import type { PermissionSet } from '../../domain/access/permissions.ts'
import { LendingError } from '../../domain/errors.ts'
import { createReadCache } from '../../toolbox/readCache.ts'
import { type Identity, mayOnlyPropose, withoutPort } from '../access/caller.ts'
import { permissionsOf } from '../access/roles.ts'
import type { Deps } from '../deps.ts'
import { createHeldCheck } from '../signIn/held.ts'
import { createProviderClient, type ProviderClient, type ProviderTokens } from '../signIn/provider.ts'
import { hasFactor } from '../signIn/secondFactor.ts'
import { signInBox } from '../signIn/settings.ts'

/** A session ends after this long without a request, and after this long in any case. */
export const IDLE_MS = 900_000
export const LONGEST_MS = 43_200_000
/** The time of the last request is stored at most this often. */
const TOUCH_EVERY_MS = 60_000
const MOST_CACHED = 1_000
const SECRET_BYTES = 32

/** A session of the office pages, and its account as it is now. */
export interface PageSession {
  readonly identity: Identity
  /** Whether the organization requires a second factor that the account does not have yet. */
  readonly needsFactor: boolean
  /** Whether the account has a password, and may have a second factor. */
  readonly hasPassword: boolean
  /** The secret from which the tokens of the forms of this session are made. */
  readonly formSecret: string
}

/** An e-mail and a password, and the address and the request that they came with. */
export interface SignInRequest {
  readonly email: string
  readonly password: string
  /** Of the second factor of the account; empty where it has none. */
  readonly code?: string
  readonly address: string
  readonly requestId: string
}

/** A person whom a provider has signed in. */
export interface KnownPerson {
  readonly account: Account
  readonly tokens: ProviderTokens
  readonly address: string
  readonly requestId: string
}

/** The sessions of the office pages. */
export interface PageSessions {
  /**
   * Opens a session for an account whose password is right.
   * @returns the value of its cookie
   * @throws LendingError as `SignIn.confirm` does, and `permission_denied` for a PROPOSER
   */
  open(request: SignInRequest): Promise<string>
  /** Opens a session for a person whom a provider has signed in. @returns the value of its cookie */
  openKnown(person: KnownPerson): Promise<string>
  /**
   * Finds the session of a cookie.
   * @returns undefined where the session has ended: signed out, unused for 15 minutes, 12 hours old, or of an account that is
   *   disabled, only proposes, or whose tokens were revoked since; of a person whom the provider of the organization signs in no more, or gives no role
   * @throws LendingError `unavailable` where the provider has not answered for a minute
   */
  find(cookie: string): Promise<PageSession | undefined>
  /** Reads a session again at its next request, after a change of its account here. */
  forget(cookie: string): void
  /** Ends a session; of one that has ended already, nothing. */
  close(cookie: string): Promise<void>
}

const hashOf = (cookie: string) => createHash('sha256').update(cookie).digest('hex')

type SessionDeps = Pick<Deps, 'db' | 'signIn' | 'machineNow' | 'config' | 'listener'>

/** A session that was read, and what its account may do. */
interface Read {
  readonly session: StoredSession
  readonly account: Account
  readonly permissions: PermissionSet
  readonly needsFactor: boolean
}

/** Returns a function that reads a session, and asks the provider about a person whom it knows. */
function createReading(deps: SessionDeps & { readonly providers: ProviderClient }) {
  const { db } = deps
  const hold = createHeldCheck(deps)
  return async (hash: string): Promise<Read | 'away' | undefined> => {
    const found = await findPageSession(db, hash)
    if (!found || hasEnded(found, deps.machineNow())) return undefined
    const { session } = found
    const held = found.account.known ? await hold(session, found.account) : found
    if (held === 'ended') return undefined
    if (held === 'away') return 'away'
    const { account } = held
    const { organizationId, id: accountId, roles } = account
    const permissions = await permissionsOf(db, organizationId, roles)
    const isRequired = account.known === null && (await findOfficeSignIn(db, organizationId)).secondFactorRequired
    const needsFactor = isRequired && !(await hasFactor({ db }, { organizationId, accountId }))
    return { session, account, permissions, needsFactor }
  }
}

/** Returns whether a session has ended, whatever a provider says. */
function hasEnded({ session, account }: Pick<Read, 'session' | 'account'>, now: number, seenAt = session.seenAt) {
  if (now - seenAt >= IDLE_MS || now - session.createdAt >= LONGEST_MS || account.disabled) return true
  return account.tokensFrom !== null && session.createdAt < account.tokensFrom
}

/** Creates the sessions, which all instances share by the database; what was read is used for some seconds. */
export function createPageSessions(
  parts: SessionDeps,
  providers: ProviderClient = createProviderClient(parts.config),
): PageSessions {
  const deps = { ...parts, providers }
  const { db, signIn, machineNow, config, listener } = deps
  const stored = createReadCache(machineNow, MOST_CACHED, createReading(deps))
  const touched = new Map<string, number>()

  /** Stores the time of the last request now and then. A database that takes no writes ends no session. */
  async function touch({ hash, seenAt }: StoredSession): Promise<void> {
    const now = machineNow()
    if (now - Math.max(seenAt, touched.get(hash) ?? 0) < TOUCH_EVERY_MS) return
    if (touched.size >= MOST_CACHED) touched.clear()
    touched.set(hash, now)
    await touchPageSession(db, hash, now).catch((error: unknown) => {
      if (!isWorthRepeating(error)) throw error
    })
  }

  const insert = async (whose: Whose, now: number, providerTokens: string | null): Promise<string> => {
    // The number tells in which book the session is.
    const cookie = `${whose.organizationId}.${randomBytes(SECRET_BYTES).toString('base64url')}`
    const formSecret = randomBytes(SECRET_BYTES).toString('base64url')
    const at = { createdAt: now, seenAt: now, checkedAt: providerTokens === null ? null : now }
    await insertPageSession(db, { ...whose, hash: hashOf(cookie), formSecret, providerTokens, ...at }, now - IDLE_MS)
    return cookie
  }

  return {
    async open({ email, password, code = '', address, requestId }) {
      const now = machineNow()
      const { organizationId, id, roles } = await signIn.confirm(email, password, address, { requestId, code })
      if (mayOnlyPropose({ roles }))
        throw new LendingError(
          'permission_denied',
          'the role PROPOSER is for programs, which ask over HTTP: the office pages are for people',
        )
      return insert({ organizationId, accountId: id }, now, null)
    },
    async openKnown({ account: { organizationId, id: accountId }, tokens, address, requestId }) {
      const cookie = await insert(
        { organizationId, accountId },
        machineNow(),
        signInBox(config).encrypt(JSON.stringify(tokens)),
      )
      const route = 'office /sign-in/provider'
      listener.signedIn({ organizationId, accountId, route, address: withoutPort(address), requestId })
      return cookie
    },
    async find(cookie) {
      const found = await stored.get(hashOf(cookie))
      if (found === 'away')
        throw new LendingError('unavailable', 'the provider that signs you in does not answer; try again', [], 5)
      if (!found) return undefined
      const { session, account, permissions, needsFactor } = found
      if (hasEnded(found, machineNow(), Math.max(session.seenAt, touched.get(session.hash) ?? 0))) return undefined
      if (mayOnlyPropose(account)) return undefined
      await touch(session)
      const { organizationId, id: accountId, email, roles } = account
      return {
        identity: { organizationId, accountId, email, roles, permissions, expiresAt: session.createdAt + LONGEST_MS },
        formSecret: session.formSecret,
        hasPassword: account.known === null,
        needsFactor,
      }
    },
    forget: (cookie) => stored.forget(hashOf(cookie)),
    async close(cookie) {
      const hash = hashOf(cookie)
      await deletePageSession(db, hash)
      stored.forget(hash)
    },
  }
}
