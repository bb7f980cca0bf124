import { type Author, auditRow } from '../audit/trail.ts'
import type { Db } from '../postgres/client.ts'

/** The second factor of an account. */
export interface StoredFactor {
  /** Encrypted. */
  readonly secret: string
  /** Whether the account has proved the secret by a code. */
  readonly isConfirmed: boolean
  readonly lastStep: bigint
  /** Hashes of the recovery codes that are left. */
  readonly recovery: readonly string[]
}

/** An account, by its organization and its number. */
export interface Whose {
  readonly organizationId: number
  readonly accountId: number
}

/** Finds the second factor of an account. */
export async function findFactor(db: Pick<Db, 'prisma'>, whose: Whose): Promise<StoredFactor | undefined> {
  const { organizationId, accountId } = whose
  const row = await db.prisma.secondFactor.findUnique({
    where: { organizationId_accountId: { organizationId, accountId } },
  })
  return row
    ? { secret: row.secret, isConfirmed: row.confirmedAt !== null, lastStep: row.lastStep, recovery: row.recovery }
    : undefined
}

/** Keeps a secret that an account has been shown, in place of one that was not proved. @returns false where one was proved */
export async function offerFactor(db: Db, whose: Whose, secret: string, now: number): Promise<boolean> {
  const { organizationId, accountId } = whose
  return db.prisma.$transaction(async (tx) => {
    await tx.secondFactor.deleteMany({ where: { organizationId, accountId, confirmedAt: null } })
    const data = { organizationId, accountId, secret, recovery: [], createdAt: new Date(now) }
    const { count } = await tx.secondFactor.createMany({ data, skipDuplicates: true })
    return count > 0
  })
}

/** Notes that a secret was proved, with its recovery codes and a row in the trail. @returns false where it was already */
export async function confirmFactor(
  db: Db,
  author: Author,
  { organizationId, accountId }: Whose,
  proved: {
    readonly step: bigint
    readonly recovery: readonly string[]
    readonly secret: string
    readonly now: number
  },
): Promise<boolean> {
  const { step, recovery, secret, now } = proved
  return db.prisma.$transaction(async (tx) => {
    const { count } = await tx.secondFactor.updateMany({
      where: { organizationId, accountId, secret, confirmedAt: null },
      data: { confirmedAt: new Date(now), lastStep: step, recovery: [...recovery] },
    })
    if (count === 0) return false
    const trace = { action: 'enable second factor', before: null, after: { secondFactor: true } }
    await tx.auditEntry.create({ data: auditRow(db.pool, author, now, { entity: 'account', id: accountId }, trace) })
    return true
  })
}

/** Takes a code: its step has to be later than that of the last one. @returns whether it was not taken before */
export async function takeStep(db: Db, { organizationId, accountId }: Whose, step: bigint): Promise<boolean> {
  const where = { organizationId, accountId, lastStep: { lt: step } }
  return (await db.prisma.secondFactor.updateMany({ where, data: { lastStep: step } })).count > 0
}

/** Takes a recovery code, which then is none any more. @returns whether it was there */
export async function takeRecovery(db: Db, { organizationId, accountId }: Whose, hash: string): Promise<boolean> {
  const changed = await db.prisma.$executeRaw`
    UPDATE second_factor SET recovery = array_remove(recovery, ${hash})
    WHERE organization_id = ${organizationId} AND account_id = ${accountId} AND ${hash} = ANY (recovery)`
  return changed > 0
}

/** Takes the second factor of an account away, with its row in the trail. @returns whether there was one */
export async function deleteFactor(db: Db, author: Author, whose: Whose, now: number): Promise<boolean> {
  const { organizationId, accountId } = whose
  return db.prisma.$transaction(async (tx) => {
    const { count } = await tx.secondFactor.deleteMany({ where: { organizationId, accountId } })
    if (count === 0) return false
    const trace = { action: 'reset second factor', before: { secondFactor: true }, after: { secondFactor: false } }
    const by = { ...author, organizationId }
    await tx.auditEntry.create({ data: auditRow(db.pool, by, now, { entity: 'account', id: accountId }, trace) })
    return true
  })
}
