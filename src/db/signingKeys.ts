import type { Db } from './client.ts'
import { auditRow, service } from './trail.ts'

/** Signing keys belong to no organization. */
const WHOLE_SERVICE = 0

/** An RSA key pair that signs tokens, or did; its private half is encrypted. */
export interface SigningKey {
  readonly kid: string
  readonly publicPem: string
  readonly privateEncrypted: string
}

/** The keys that may still verify a token, the one that signs now first. */
export async function listSigningKeys(db: Db): Promise<SigningKey[]> {
  return db.prisma.signingKey.findMany({
    where: { revokedAt: null, activatedAt: { not: null } },
    orderBy: { activatedAt: 'desc' },
    select: { kid: true, publicPem: true, privateEncrypted: true },
  })
}

/** Stores the service's first key; where another instance was faster, that one's stands. */
export async function insertFirstSigningKey(db: Db, key: SigningKey, now: number): Promise<void> {
  await db.prisma.$transaction(async (tx) => {
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('mkopo first signing key'))`
    const at = new Date(now)
    if ((await tx.signingKey.count()) > 0) return
    await tx.signingKey.create({ data: { ...key, createdAt: at, activatedAt: at } })
    const trace = { action: 'create', before: null, after: { active: true } }
    await tx.auditEntry.create({ data: auditRow(service(WHOLE_SERVICE), now, 'signing key', key.kid, trace) })
  })
}
