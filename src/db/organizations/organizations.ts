import { createHash } from 'node:crypto'
import type { Logo } from '../../domain/organization/logo.ts'
import { type Author, auditRow, service } from '../audit/trail.ts'
import type { Db } from '../postgres/client.ts'

/** A lender: everything in the book belongs to one. */
export interface Organization {
  readonly id: number
  readonly name: string
  readonly currency: string
  readonly officeId: string
  readonly officeName: string
  /** The payment method of its customers, unless a repayment has its own (contract 4.4.3). */
  readonly paymentMethod: string
  /** Fixed when the organization is made; a test one has a clock of its own. */
  readonly mode: Mode
  /** The name that the lender has in its documents; null: `name`. */
  readonly legalName: string | null
  readonly licenceNumber: string | null
  /** Minor units of `currency`: what is larger waits for a second ADMIN (contract 14.7). Null: nothing waits. */
  readonly approvalAbove: bigint | null
  /** The years for which what is known of people is kept: of borrowers, and of customers who never borrowed. Null: the lender has not said. */
  readonly keepBorrowersYears: number | null
  readonly keepOthersYears: number | null
  /** When borrowers are reminded, as JSON; null: never. */
  readonly reminderPolicy: string | null
}

/** The modes of an organization. */
export const MODES = ['live', 'test'] as const
export type Mode = (typeof MODES)[number]

const toOrganization = ({
  createdAt: _,
  mode,
  ...row
}: Omit<Organization, 'mode'> & { createdAt: Date; mode: string }) => ({
  ...row,
  mode: mode === 'test' ? ('test' as const) : ('live' as const),
})

export async function findOrganization(db: Db, id: number): Promise<Organization | undefined> {
  const row = await db.prisma.organization.findUnique({ where: { id } })
  return row ? toOrganization(row) : undefined
}

/** Every organization, by id. */
export async function listOrganizations(db: Db): Promise<Organization[]> {
  const rows = await db.prisma.organization.findMany({ orderBy: { id: 'asc' } })
  return rows.map(toOrganization)
}

/** Returns the lowest number that no organization has. */
export async function nextOrganizationId(db: Db): Promise<number> {
  const rows = await db.prisma.organization.findMany({ select: { id: true } })
  const taken = new Set(rows.map(({ id }) => id))
  let next = 1
  while (taken.has(next)) next++
  return next
}

/** @throws a unique violation when the id is taken */
export async function insertOrganization(
  db: Db,
  organization: Pick<Organization, 'id' | 'name' | 'currency'> & Partial<Organization>,
  now: number,
  author: Author = service(organization.id),
): Promise<void> {
  const { id, ...after } = organization
  const by = { ...author, organizationId: id }
  await db.prisma.$transaction([
    db.prisma.organization.create({ data: { ...organization, createdAt: new Date(now) } }),
    ...(organization.mode === 'test' ? [db.prisma.testClock.create({ data: { organizationId: id } })] : []),
    db.prisma.auditEntry.create({
      data: auditRow(db.pool, by, now, { entity: 'organization', id }, { action: 'create', before: null, after }),
    }),
  ])
}

/** The properties of an organization that can be changed; what is left out stays. */
export type OrganizationChange = Partial<
  Pick<
    Organization,
    'paymentMethod' | 'legalName' | 'licenceNumber' | 'approvalAbove' | 'keepBorrowersYears' | 'keepOthersYears'
  >
> & {
  /** Null: borrowers are not reminded from now on. */
  readonly reminderPolicy?: string | null
  /** Null: the organization has no logo from now on. */
  readonly logo?: Logo | null
}

/** Returns what the trail keeps of a logo. */
const traceOf = (logo: { type: string; content: Uint8Array } | null) =>
  logo && { type: logo.type, sha256: createHash('sha256').update(logo.content).digest('hex') }

/** @returns the organization as it is then; undefined when there is none with the id */
export async function changeOrganization(
  db: Db,
  author: Author,
  { logo, ...change }: OrganizationChange,
  now: number,
): Promise<Organization | undefined> {
  const { organizationId: id } = author
  return db.prisma.$transaction(async (tx) => {
    const found = await tx.organization.findUnique({ where: { id }, include: { logo: logo !== undefined } })
    if (!found) return undefined
    const organization = await tx.organization.update({ where: { id }, data: change })
    const before = Object.fromEntries(Object.keys(change).map((name) => [name, found[name as keyof typeof change]]))
    const after = { ...change }
    if (logo !== undefined) {
      Object.assign(before, { logo: traceOf(found.logo) })
      Object.assign(after, { logo: traceOf(logo) })
      const content = logo && { type: logo.type, content: new Uint8Array(logo.content) }
      await tx.organizationLogo.deleteMany({ where: { organizationId: id } })
      if (content) await tx.organizationLogo.create({ data: { organizationId: id, ...content } })
    }
    const trace = { action: 'update', before, after }
    await tx.auditEntry.create({ data: auditRow(db.pool, author, now, { entity: 'organization', id }, trace) })
    return toOrganization(organization)
  })
}

/**
 * Adds a row to the trail that says who exported the book of the organization. The transaction gets its number before the
 * row draws its own, as every insert into the trail does: nothing appears below a number that is settled.
 */
export async function noteExport(db: Db, author: Author, now: number): Promise<void> {
  const trace = { action: 'export', before: null, after: null }
  const data = auditRow(db.pool, author, now, { entity: 'organization', id: author.organizationId }, trace)
  await db.prisma.$transaction([
    db.prisma.$queryRaw`SELECT pg_current_xact_id()::text`,
    db.prisma.auditEntry.create({ data }),
  ])
}

/** Returns the logo of an organization; null where it has none. */
export async function findLogo(db: Db, organizationId: number): Promise<Logo | null> {
  const row = await db.prisma.organizationLogo.findUnique({ where: { organizationId } })
  return row && { type: row.type === 'image/png' ? 'image/png' : 'image/jpeg', content: row.content }
}

/** Returns whether an organization has a logo. */
export async function hasLogo(db: Db, organizationId: number): Promise<boolean> {
  return (await db.prisma.organizationLogo.count({ where: { organizationId } })) > 0
}
