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
}

/** Stores a session, and deletes those that nobody used since an instant. */
export async function insertPageSession(db: Db, session: StoredSession, unusedSince: Instant): Promise<void> {
  const { createdAt, seenAt, ...rest } = session
  await db.prisma.$transaction([
    db.prisma.pageSession.deleteMany({ where: { seenAt: { lt: new Date(unusedSince) } } }),
    db.prisma.pageSession.create({ data: { ...rest, createdAt: new Date(createdAt), seenAt: new Date(seenAt) } }),
  ])
}

/** Finds a session by the hash of its cookie, with its account as it is now. */
export async function findPageSession(
  db: Db,
  hash: string,
): Promise<{ readonly session: StoredSession; readonly account: Account } | undefined> {
  const row = await db.prisma.pageSession.findUnique({ where: { hash }, include: { account: true } })
  if (!row) return undefined
  const { account, createdAt, seenAt, ...rest } = row
  const session = { ...rest, createdAt: createdAt.getTime(), seenAt: seenAt.getTime() }
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
