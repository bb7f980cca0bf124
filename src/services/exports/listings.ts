import {
  type Dispute,
  resolveDispute as endDispute,
  findDispute,
  findDisputes,
  findListedLoan,
  findNotices,
  insertDispute,
  insertNotice,
  type ListingNotice,
  orderOf,
} from '../../db/exports/listings.ts'
import { reserveIds } from '../../db/queries/idBlocks.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { dateIn, type LocalDate } from '../../domain/dates.ts'
import { type FaultRole, failedPrecondition, invalidArgument, notFound } from '../../domain/errors.ts'
import type { DisputeOutcome, NoticeChannel } from '../../domain/exports/vocabulary.ts'
import type { Caller } from '../access/caller.ts'
import { abortedWhereKeyTaken } from '../access/idempotency.ts'
import type { Core, Writing } from '../deps.ts'
import { positionOf, type Range, type Ranged, rangedOf } from '../paging.ts'

export type { ListingNotice } from '../../db/exports/listings.ts'

type ListingDeps = Pick<Core & Writing, 'db' | 'config' | 'now' | 'idBlocks' | 'people'>

/** A dispute with its texts; undefined where the customer was erased. */
export interface ReadDispute extends Omit<Dispute, 'reason' | 'resolution'> {
  readonly reason: string | undefined
  readonly resolution: string | undefined
}

const loanOf = async (
  { db }: Pick<Core, 'db'>,
  caller: Caller,
  loanId: bigint,
  needed: 'people.read' | 'people.decide' = 'people.decide',
) => {
  requirePermission(caller, needed)
  const loan = await findListedLoan(db, caller.organizationId, loanId)
  if (!loan) throw notFound('no loan has that id', 'loan')
  return loan
}

/** @throws LendingError `invalid_argument` for a day before another one, or one that is yet to come */
function requireDay(role: FaultRole, day: LocalDate, [from, to]: readonly [LocalDate, LocalDate]): void {
  if (day > to) throw invalidArgument(role, `must not be in the future: today is ${to}`)
  if (day < from) throw invalidArgument(role, `must not be before ${from}`)
}

/** A notice that was sent. */
export interface NoticeRequest {
  readonly sentOn: LocalDate
  readonly channel: NoticeChannel
  readonly reference?: string | undefined
}

/**
 * Keeps that a borrower was told that a loan will be listed.
 * @throws LendingError `permission_denied`, `not_found`, `invalid_argument` for a day in the future, or before the loan
 */
export async function addListingNotice(
  deps: ListingDeps,
  caller: Caller,
  loanId: bigint,
  { sentOn, channel, reference }: NoticeRequest,
): Promise<ListingNotice> {
  const { disbursedOn } = await loanOf(deps, caller, loanId)
  const { organizationId } = caller
  const createdAt = deps.now(organizationId)
  requireDay('sentOn', sentOn, [disbursedOn, dateIn(deps.config.zone, createdAt)])
  const id = (await reserveIds(deps, 'payment', 1))()
  const notice = { organizationId, id, loanId, sentOn, channel, reference: reference ?? null, createdAt }
  await abortedWhereKeyTaken(insertNotice(deps.db, caller, notice))
  return notice
}

/** Returns a part of the notices of a loan. @throws LendingError `permission_denied`, `not_found` */
export async function listListingNotices(
  deps: ListingDeps,
  caller: Caller,
  loanId: bigint,
  range: Range,
): Promise<Ranged<ListingNotice>> {
  await loanOf(deps, caller, loanId, 'people.read')
  const of = { organizationId: caller.organizationId, loanId }
  return rangedOf(await findNotices(deps.db, of, positionOf(range, { arrival: orderOf('notices', of) })))
}

/** A dispute that a borrower opens. */
export interface DisputeRequest {
  readonly openedOn: LocalDate
  readonly reason: string
}

const OPEN = { outcome: null, resolution: null, resolvedOn: null, resolvedAt: null }

/**
 * Keeps what a borrower says against what is told of a loan; the text is encrypted by the key of the customer.
 * @throws LendingError `permission_denied`, `not_found`, `invalid_argument` for a day in the future, or before the loan;
 *   `failed_precondition` for a customer who was erased
 */
export async function openDispute(
  deps: ListingDeps,
  caller: Caller,
  loanId: bigint,
  { openedOn, reason }: DisputeRequest,
): Promise<ReadDispute> {
  const { organizationId } = caller
  const { disbursedOn, customerId, personKey } = await loanOf(deps, caller, loanId)
  const createdAt = deps.now(organizationId)
  requireDay('openedOn', openedOn, [disbursedOn, dateIn(deps.config.zone, createdAt)])
  if (personKey === null) throw failedPrecondition('the customer was erased, and nothing of it can be kept')
  const sealed = deps.people.sealText({ organizationId, id: customerId }, reason, personKey)
  const id = (await reserveIds(deps, 'payment', 1))()
  const dispute: Dispute = { ...OPEN, organizationId, id, loanId, customerId, openedOn, reason: sealed, createdAt }
  await abortedWhereKeyTaken(insertDispute(deps.db, caller, dispute))
  return { ...dispute, reason, resolution: undefined }
}

/** Returns a part of the disputes of a loan, with their texts. @throws LendingError `permission_denied`, `not_found` */
export async function listDisputes(
  deps: ListingDeps,
  caller: Caller,
  loanId: bigint,
  range: Range,
): Promise<Ranged<ReadDispute>> {
  await loanOf(deps, caller, loanId, 'people.read')
  const of = { organizationId: caller.organizationId, loanId }
  const part = rangedOf(await findDisputes(deps.db, of, positionOf(range, { arrival: orderOf('disputes', of) })))
  return { ...part, items: await Promise.all(part.items.map((one) => readable(deps, one))) }
}

/** Returns a dispute with its texts. */
async function readable({ db, people }: ListingDeps, dispute: Dispute): Promise<ReadDispute> {
  const { organizationId, loanId, customerId } = dispute
  const personKey = (await findListedLoan(db, organizationId, loanId, customerId))?.personKey ?? null
  const open = (text: string | null) =>
    text === null || personKey === null
      ? undefined
      : people.openText({ organizationId, id: customerId }, text, personKey)
  return { ...dispute, reason: open(dispute.reason), resolution: open(dispute.resolution) }
}

/** The end of a dispute. */
export interface ResolutionRequest {
  readonly resolvedOn: LocalDate
  readonly outcome: DisputeOutcome
  readonly note?: string | undefined
}

/**
 * Ends a dispute.
 * @throws LendingError `permission_denied`, `not_found`; `failed_precondition` where it has ended, or the customer was erased;
 *   `invalid_argument` for a day in the future, or before it was opened
 */
export async function resolveDispute(
  deps: ListingDeps,
  caller: Caller,
  { loanId, id }: { readonly loanId: bigint; readonly id: bigint },
  { resolvedOn, outcome, note }: ResolutionRequest,
): Promise<ReadDispute> {
  await loanOf(deps, caller, loanId)
  const { organizationId } = caller
  const dispute = await findDispute(deps.db, { organizationId, loanId }, id)
  if (!dispute) throw notFound('no dispute of the loan has that id', 'dispute')
  if (dispute.outcome !== null) throw failedPrecondition(`the dispute has ended: it was ${dispute.outcome}`)
  const now = deps.now(organizationId)
  requireDay('resolvedOn', resolvedOn, [dispute.openedOn, dateIn(deps.config.zone, now)])
  const resolution = await sealedNote(deps, dispute, note)
  const end = { outcome, resolution, resolvedOn, resolvedAt: now }
  if (!(await abortedWhereKeyTaken(endDispute(deps.db, caller, dispute, end))))
    throw failedPrecondition('the dispute has ended')
  return readable(deps, (await findDispute(deps.db, { organizationId, loanId }, id))!)
}

async function sealedNote({ db, people }: ListingDeps, dispute: Dispute, note: string | undefined) {
  if (note === undefined) return null
  const { organizationId, loanId, customerId } = dispute
  const personKey = (await findListedLoan(db, organizationId, loanId, customerId))?.personKey ?? null
  if (personKey === null) throw failedPrecondition('the customer was erased: leave the note out')
  return people.sealText({ organizationId, id: customerId }, note, personKey)
}
