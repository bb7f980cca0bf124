import type { Instant, LocalDate } from '../../domain/dates.ts'
import type { DisputeOutcome, NoticeChannel } from '../../domain/exports/vocabulary.ts'
import { type Author, auditRow, keyRows } from '../audit/trail.ts'
import type { Dispute as DisputeRow, ListingNotice as NoticeRow } from '../generated/client.ts'
import type { Db } from '../postgres/client.ts'
import { cursorAt, type Found, type Position, sliceOf } from '../queries/cursor.ts'

/** A notice to a borrower that a loan will be listed at a credit bureau. */
export interface ListingNotice {
  readonly organizationId: number
  readonly id: bigint
  readonly loanId: bigint
  readonly sentOn: LocalDate
  readonly channel: NoticeChannel
  /** The number of the message at the sender. */
  readonly reference: string | null
  readonly createdAt: Instant
}

/** What a borrower says against what is told of a loan. The texts are encrypted by the key of the customer. */
export interface Dispute {
  readonly organizationId: number
  readonly id: bigint
  readonly loanId: bigint
  readonly customerId: bigint
  readonly openedOn: LocalDate
  readonly reason: string
  readonly outcome: DisputeOutcome | null
  readonly resolution: string | null
  readonly resolvedOn: LocalDate | null
  readonly createdAt: Instant
  readonly resolvedAt: Instant | null
}

/** The names in the audit trail. */
export const LISTING_NOTICE = 'listing notice'
export const DISPUTE = 'dispute'

const dayOf = (date: Date): LocalDate => date.toISOString().slice(0, 10)
const dateOf = (day: LocalDate): Date => new Date(`${day}T00:00:00Z`)

const toNotice = ({ sentOn, createdAt, channel, ...row }: NoticeRow): ListingNotice => ({
  ...row,
  channel: channel as NoticeChannel,
  sentOn: dayOf(sentOn),
  createdAt: createdAt.getTime(),
})

const toDispute = ({ openedOn, resolvedOn, createdAt, resolvedAt, outcome, ...row }: DisputeRow): Dispute => ({
  ...row,
  outcome: outcome as DisputeOutcome | null,
  openedOn: dayOf(openedOn),
  resolvedOn: resolvedOn && dayOf(resolvedOn),
  createdAt: createdAt.getTime(),
  resolvedAt: resolvedAt?.getTime() ?? null,
})

/** A loan whose notices or disputes are asked for. */
export interface OfLoan {
  readonly organizationId: number
  readonly loanId: bigint
}

const placedBy = (position: Position) =>
  'page' in position
    ? { above: {}, slice: sliceOf(position) }
    : { above: { id: { gt: position.cursor?.floor ?? 0n } }, slice: { take: position.rows } }

/** Returns the order of a list of a loan. */
export const orderOf = (list: 'notices' | 'disputes', { loanId }: Pick<OfLoan, 'loanId'>): string =>
  `loan-${list}-${loanId}`

/** Finds the notices of a loan, in the order in which they were told. */
export async function findNotices(db: Db, of: OfLoan, position: Position): Promise<Found<ListingNotice>> {
  const { above, slice } = placedBy(position)
  const where = { organizationId: of.organizationId, loanId: of.loanId }
  const rows = await db.prisma.listingNotice.findMany({
    where: { ...where, ...above },
    orderBy: { id: 'asc' },
    ...slice,
  })
  const total = 'page' in position ? await db.prisma.listingNotice.count({ where }) : undefined
  return { items: rows.map(toNotice), total, next: cursorAt(orderOf('notices', of), rows.at(-1)?.id) }
}

/** Finds the disputes of a loan, in the order in which they were told. */
export async function findDisputes(db: Db, of: OfLoan, position: Position): Promise<Found<Dispute>> {
  const { above, slice } = placedBy(position)
  const where = { organizationId: of.organizationId, loanId: of.loanId }
  const rows = await db.prisma.dispute.findMany({ where: { ...where, ...above }, orderBy: { id: 'asc' }, ...slice })
  const total = 'page' in position ? await db.prisma.dispute.count({ where }) : undefined
  return { items: rows.map(toDispute), total, next: cursorAt(orderOf('disputes', of), rows.at(-1)?.id) }
}

/** The notices of the loans of a customer, and the disputes of the customer. */
export interface ListingsOfCustomer {
  readonly notices: readonly ListingNotice[]
  readonly disputes: readonly Dispute[]
}

/** Reads what was told to a customer of listings, and what the customer disputed, in the order in which it was told. */
export async function readListingsOf(
  db: Db,
  {
    organizationId,
    customerId,
    most,
  }: { readonly organizationId: number; readonly customerId: bigint; readonly most: number },
  loanIds: readonly bigint[],
): Promise<ListingsOfCustomer> {
  const first = { orderBy: { id: 'asc' }, take: most } as const
  const [notices, disputes] = await Promise.all([
    db.prisma.listingNotice.findMany({ where: { organizationId, loanId: { in: [...loanIds] } }, ...first }),
    db.prisma.dispute.findMany({ where: { organizationId, customerId, loanId: { in: [...loanIds] } }, ...first }),
  ])
  return { notices: notices.map(toNotice), disputes: disputes.map(toDispute) }
}

/** Finds a dispute of a loan. */
export async function findDispute(
  db: Db,
  { organizationId, loanId }: OfLoan,
  id: bigint,
): Promise<Dispute | undefined> {
  const row = await db.prisma.dispute.findUnique({ where: { organizationId_id: { organizationId, id } } })
  return row && row.loanId === loanId ? toDispute(row) : undefined
}

/** Inserts a notice, with its row of the trail. */
export async function insertNotice(db: Db, author: Author, notice: ListingNotice): Promise<void> {
  const { id, loanId, sentOn, channel, reference, createdAt } = notice
  const after = { loanId: String(loanId), sentOn, channel, reference }
  const audited = auditRow(
    db.pool,
    author,
    createdAt,
    { entity: LISTING_NOTICE, id },
    { action: 'create', before: null, after },
  )
  await db.prisma.$transaction([
    db.prisma.listingNotice.create({
      data: { ...notice, sentOn: dateOf(sentOn), createdAt: new Date(createdAt) },
    }),
    db.prisma.auditEntry.create({ data: audited }),
    db.prisma.idempotencyKey.createMany({ data: keyRows(author, LISTING_NOTICE, Number(id)) }),
  ])
}

/** Inserts a dispute, with its row of the trail, which has no text. */
export async function insertDispute(db: Db, author: Author, dispute: Dispute): Promise<void> {
  const { organizationId, id, loanId, customerId, openedOn, reason, createdAt } = dispute
  const after = { loanId: String(loanId), customerId: String(customerId), openedOn }
  const trace = { action: 'create', before: null, after }
  await db.prisma.$transaction([
    db.prisma.dispute.create({
      data: {
        organizationId,
        id,
        loanId,
        customerId,
        openedOn: dateOf(openedOn),
        reason,
        createdAt: new Date(createdAt),
      },
    }),
    db.prisma.auditEntry.create({ data: auditRow(db.pool, author, createdAt, { entity: DISPUTE, id }, trace) }),
    db.prisma.idempotencyKey.createMany({ data: keyRows(author, DISPUTE, Number(id)) }),
  ])
}

/** The end of a dispute. */
export interface DisputeEnd extends Pick<Dispute, 'outcome' | 'resolution' | 'resolvedOn'> {
  readonly resolvedAt: Instant
}

/** Ends a dispute, with its row of the trail. @returns false where it has ended */
export async function resolveDispute(
  db: Db,
  author: Author,
  { organizationId, id }: Dispute,
  { outcome, resolution, resolvedOn, resolvedAt: now }: DisputeEnd,
): Promise<boolean> {
  const trace = { action: 'resolve', before: null, after: { outcome, resolvedOn } }
  const audited = auditRow(db.pool, author, now, { entity: DISPUTE, id }, trace)
  return db.prisma.$transaction(async (tx) => {
    const { count } = await tx.dispute.updateMany({
      where: { organizationId, id, outcome: null },
      data: { outcome, resolution, resolvedOn: resolvedOn && dateOf(resolvedOn), resolvedAt: new Date(now) },
    })
    if (count === 0) return false
    await tx.auditEntry.create({ data: audited })
    await tx.idempotencyKey.createMany({ data: keyRows(author, DISPUTE, Number(id)) })
    return true
  })
}

/** A loan, as far as its notices and disputes need it. */
export interface ListedLoan {
  readonly customerId: bigint
  readonly disbursedOn: LocalDate
  /** The key of the customer; null: the customer was erased. */
  readonly personKey: string | null
}

/**
 * Finds a loan with its customer.
 * @param customerId whose key is asked for; that of the loan's customer when left out
 */
export async function findListedLoan(
  db: Db,
  organizationId: number,
  id: bigint,
  customerId?: bigint,
): Promise<ListedLoan | undefined> {
  const row = await db.prisma.loan.findUnique({
    where: { organizationId_id: { organizationId, id } },
    select: { customerId: true, disbursedOn: true },
  })
  if (!row) return undefined
  const whose = customerId ?? row.customerId
  const person = await db.prisma.customer.findUnique({
    where: { organizationId_id: { organizationId, id: whose } },
    select: { personKey: true },
  })
  return { customerId: row.customerId, disbursedOn: dayOf(row.disbursedOn), personKey: person?.personKey ?? null }
}
