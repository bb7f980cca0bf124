import type { Db } from './client.ts'

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
    if ((await tx.signingKey.count()) === 0)
      await tx.signingKey.create({ data: { ...key, createdAt: at, activatedAt: at } })
  })
}
