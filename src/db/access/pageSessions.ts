import type { Instant } from '../../domain/dates.ts'
import type { Db } from '../postgres/client.ts'
import { type Account, toAccount } from './accounts.ts'

/** A sign-in at the office pages. */
export interface StoredSession {
  readonly organizationId: number
  readonly accountId: number
  /** SHA-256 of the cookie's value, in hex digits. */
  readonly hash: string
  /** The secret from which the tokens of the session's forms are made. */
  readonly formSecret: string
  readonly createdAt: Instant
  /** The last request of a person; at most a minute old. */
  readonly seenAt: Instant
  /** Of an account of a provider: its tokens, encrypted. */
  readonly providerTokens: string | null
  /** When the provider last answered about the person. */
  readonly checkedAt: Instant | null
}

/** Stores a session, and deletes those that nobody used since an instant. */
export async function insertPageSession(db: Db, session: StoredSession, unusedSince: Instant): Promise<void> {
  const { createdAt, seenAt, checkedAt, ...rest } = session
  const at = {
    createdAt: new Date(createdAt),
    seenAt: new Date(seenAt),
    checkedAt: checkedAt === null ? null : new Date(checkedAt),
  }
  await db.prisma.$transaction([
    db.prisma.pageSession.deleteMany({ where: { seenAt: { lt: new Date(unusedSince) } } }),
    db.prisma.pageSession.create({ data: { ...rest, ...at } }),
  ])
}

/** Finds a session by the hash of its cookie, with its account as it is now. */
export async function findPageSession(
  db: Db,
  hash: string,
): Promise<{ readonly session: StoredSession; readonly account: Account } | undefined> {
  const row = await db.prisma.pageSession.findUnique({ where: { hash }, include: { account: true } })
  if (!row) return undefined
  const { account, createdAt, seenAt, checkedAt, refreshingUntil: _, ...rest } = row
  const at = { createdAt: createdAt.getTime(), seenAt: seenAt.getTime(), checkedAt: checkedAt?.getTime() ?? null }
  const session = { ...rest, ...at }
  return { session, account: toAccount(account) }
}

/** Notes that a session was used. */
export async function touchPageSession(db: Db, hash: string, seenAt: Instant): Promise<void> {
  await db.prisma.pageSession.updateMany({
    where: { hash, seenAt: { lt: new Date(seenAt) } },
    data: { seenAt: new Date(seenAt) },
  })
}

/** Deletes a session. */
export async function deletePageSession(db: Db, hash: string): Promise<void> {
  await db.prisma.pageSession.deleteMany({ where: { hash } })
}

/** Notes when the provider answered about the person of a session. */
export async function checkedPageSession(db: Db, hash: string, checkedAt: Instant): Promise<void> {
  await db.prisma.pageSession.updateMany({ where: { hash }, data: { checkedAt: new Date(checkedAt) } })
}

/**
 * Claims the refresh of the tokens of a session, for one instance at a time.
 * @param tokens the tokens that have ended, as they are stored
 * @returns whether this caller has it: false where another has, or has stored other tokens
 */
export async function claimRefresh(
  db: Db,
  { hash, tokens }: { readonly hash: string; readonly tokens: string },
  { now, until }: { readonly now: Instant; readonly until: Instant },
): Promise<boolean> {
  const isFree = [{ refreshingUntil: null }, { refreshingUntil: { lt: new Date(now) } }]
  const where = { hash, providerTokens: tokens, OR: isFree }
  return (await db.prisma.pageSession.updateMany({ where, data: { refreshingUntil: new Date(until) } })).count > 0
}

/** Stores the tokens of a session in place of those that have ended. */
export async function storeTokens(db: Db, hash: string, tokens: string): Promise<void> {
  await db.prisma.pageSession.updateMany({ where: { hash }, data: { providerTokens: tokens, refreshingUntil: null } })
}
