import { createHash, randomBytes } from 'node:crypto'
import {
  deletePageSession,
  findPageSession,
  insertPageSession,
  type StoredSession,
  touchPageSession,
} from '../../db/access/accounts.ts'
import { isUnavailable } from '../../db/postgres/errors.ts'
import { createReadCache } from '../../toolbox/readCache.ts'
import type { Identity } from '../access/caller.ts'
import { permissionsOf } from '../access/roles.ts'
import type { Deps } from '../deps.ts'

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
  /** The secret from which the tokens of the forms of this session are made. */
  readonly formSecret: string
}

/** An e-mail and a password, and the address and the request that they came with. */
export interface SignInRequest {
  readonly email: string
  readonly password: string
  readonly address: string
  readonly requestId: string
}

/** The sessions of the office pages. */
export interface PageSessions {
  /**
   * Opens a session for an account whose password is right.
   * @returns the value of its cookie
   * @throws LendingError as `SignIn.confirm` does
   */
  open(request: SignInRequest): Promise<string>
  /**
   * Finds the session of a cookie.
   * @returns undefined where the session has ended: signed out, unused for 15 minutes, 12 hours old, or of an account that is
   *   disabled or whose tokens were revoked since
   */
  find(cookie: string): Promise<PageSession | undefined>
  /** Ends a session; of one that has ended already, nothing. */
  close(cookie: string): Promise<void>
}

const hashOf = (cookie: string) => createHash('sha256').update(cookie).digest('hex')

/** Creates the sessions, which all instances share by the database; what was read is used for some seconds. */
export function createPageSessions({
  db,
  signIn,
  machineNow,
}: Pick<Deps, 'db' | 'signIn' | 'machineNow'>): PageSessions {
  const stored = createReadCache(machineNow, MOST_CACHED, async (hash: string) => {
    const found = await findPageSession(db, hash)
    if (!found) return undefined
    const { organizationId, roles } = found.account
    return { ...found, permissions: await permissionsOf(db, organizationId, roles) }
  })
  const touched = new Map<string, number>()

  /** Stores the time of the last request now and then. A database that takes no writes ends no session. */
  async function touch({ hash, seenAt }: StoredSession): Promise<void> {
    const now = machineNow()
    if (now - Math.max(seenAt, touched.get(hash) ?? 0) < TOUCH_EVERY_MS) return
    if (touched.size >= MOST_CACHED) touched.clear()
    touched.set(hash, now)
    await touchPageSession(db, hash, now).catch((error: unknown) => {
      if (!isUnavailable(error)) throw error
    })
  }

  return {
    async open({ email, password, address, requestId }) {
      const now = machineNow()
      const { organizationId, id: accountId } = await signIn.confirm(email, password, address, requestId)
      const cookie = randomBytes(SECRET_BYTES).toString('base64url')
      const formSecret = randomBytes(SECRET_BYTES).toString('base64url')
      const session = { organizationId, accountId, hash: hashOf(cookie), formSecret, createdAt: now, seenAt: now }
      await insertPageSession(db, session, now - IDLE_MS)
      return cookie
    },
    async find(cookie) {
      const found = await stored.get(hashOf(cookie))
      if (!found) return undefined
      const { session, account, permissions } = found
      const now = machineNow()
      const seenAt = Math.max(session.seenAt, touched.get(session.hash) ?? 0)
      if (now - seenAt >= IDLE_MS || now - session.createdAt >= LONGEST_MS || account.disabled) return undefined
      if (account.tokensFrom !== null && session.createdAt < account.tokensFrom) return undefined
      await touch(session)
      const { organizationId, id: accountId, email, roles } = account
      return {
        identity: { organizationId, accountId, email, roles, permissions, expiresAt: session.createdAt + LONGEST_MS },
        formSecret: session.formSecret,
      }
    },
    async close(cookie) {
      const hash = hashOf(cookie)
      await deletePageSession(db, hash)
      stored.forget(hash)
    },
  }
}
