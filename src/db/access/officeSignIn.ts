import { hash } from 'node:crypto'
import { type Author, auditRow } from '../audit/trail.ts'
import { Prisma } from '../generated/client.ts'
import type { Db } from '../postgres/client.ts'

/** A provider of identities, as an organization uses it. */
export interface StoredProvider {
  readonly issuer: string
  readonly clientId: string
  /** Encrypted. */
  readonly clientSecret: string
  /** The claim of the answer about a person that names roles. */
  readonly roleClaim: string
  /** The role for each value of the claim. */
  readonly roles: Readonly<Record<string, string>>
}

/** How the people of an organization sign in at the office pages. */
export interface OfficeSignIn {
  readonly organizationId: number
  readonly secondFactorRequired: boolean
  readonly provider: StoredProvider | null
  /** When it was last changed; 0: never. */
  readonly updatedAt: number
}

type Row = Prisma.OfficeSignInGetPayload<object>

const toSignIn = (row: Row): OfficeSignIn => {
  const { organizationId, secondFactorRequired, issuer, clientId, clientSecret, roleClaim, roleMap } = row
  const isComplete = issuer !== null && clientId !== null && clientSecret !== null && roleClaim !== null
  const roles = (roleMap ?? {}) as Record<string, string>
  const provider = isComplete ? { issuer, clientId, clientSecret, roleClaim, roles } : null
  return { organizationId, secondFactorRequired, provider, updatedAt: row.updatedAt.getTime() }
}

/** Finds how the people of an organization sign in: by a password alone where nothing was said. */
export async function findOfficeSignIn(db: Pick<Db, 'prisma'>, organizationId: number): Promise<OfficeSignIn> {
  const row = await db.prisma.officeSignIn.findUnique({ where: { organizationId } })
  return row ? toSignIn(row) : { organizationId, secondFactorRequired: false, provider: null, updatedAt: 0 }
}

/** Finds the organizations that have a provider: at most two, which tells one from several. */
export async function findProviders(db: Pick<Db, 'prisma'>): Promise<number[]> {
  const where = { issuer: { not: null } }
  const rows = await db.prisma.officeSignIn.findMany({ where, select: { organizationId: true }, take: 2 })
  return rows.map(({ organizationId }) => organizationId)
}

/** What the trail keeps: of the secret its SHA-256, by which book check finds another one. */
const toldOf = ({ secondFactorRequired, provider }: Pick<OfficeSignIn, 'secondFactorRequired' | 'provider'>) => ({
  secondFactorRequired,
  issuer: provider?.issuer ?? null,
  clientId: provider?.clientId ?? null,
  clientSecretSha256: provider ? hash('sha256', provider.clientSecret, 'hex') : null,
  roleClaim: provider?.roleClaim ?? null,
  roles: provider?.roles ?? null,
})

/** Says how the people of an organization sign in, with its row in the trail. */
export async function saveOfficeSignIn(
  db: Db,
  author: Author,
  {
    before,
    next,
    now,
  }: {
    readonly before: OfficeSignIn
    readonly next: Pick<OfficeSignIn, 'secondFactorRequired' | 'provider'>
    readonly now: number
  },
): Promise<OfficeSignIn> {
  const { organizationId } = author
  const { provider, secondFactorRequired } = next
  const data = {
    secondFactorRequired,
    issuer: provider?.issuer ?? null,
    clientId: provider?.clientId ?? null,
    clientSecret: provider?.clientSecret ?? null,
    roleClaim: provider?.roleClaim ?? null,
    roleMap: provider ? { ...provider.roles } : Prisma.DbNull,
    updatedAt: new Date(now),
  }
  const trace = { action: 'set', before: before.updatedAt === 0 ? null : toldOf(before), after: toldOf(next) }
  return db.prisma.$transaction(async (tx) => {
    const row = await tx.officeSignIn.upsert({
      where: { organizationId },
      create: { organizationId, ...data },
      update: data,
    })
    const subject = { entity: 'office sign-in', id: organizationId }
    await tx.auditEntry.create({ data: auditRow(db.pool, author, now, subject, trace) })
    return toSignIn(row)
  })
}
