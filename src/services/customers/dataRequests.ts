import { service } from '../../db/audit/trail.ts'
import { findCustomer } from '../../db/customers/customers.ts'
import {
  DATA_REQUESTS_ORDER,
  type DataRequest,
  type DataRequestFilter,
  endDataRequest,
  findDataRequest,
  findDataRequests,
  findPastRetention,
  insertDataRequest,
  type LockedDataRequest,
  lockDataRequest,
} from '../../db/customers/dataRequests.ts'
import { type Erasable, eraseCustomer, lockErasable, readErasureFacts } from '../../db/customers/erasures.ts'
import type { CustomerRef } from '../../db/customers/identities.ts'
import { listOrganizations } from '../../db/organizations/organizations.ts'
import { inTransaction, type Transaction } from '../../db/postgres/transaction.ts'
import { arrayOf } from '../../db/queries/rows.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import {
  DATA_REQUEST_ENDS,
  type DataRequestEnd,
  type DataRequestKind,
  dueOf,
  requireCompletable,
  requireConfirmable,
  requireUndecided,
} from '../../domain/customer/dataRequest.ts'
import {
  LONGEST_DUTY,
  type Obstacle,
  obstaclesOf,
  obstacleText,
  type Retention,
} from '../../domain/customer/erasure.ts'
import { addPeriods, dateIn, type LocalDate } from '../../domain/dates.ts'
import { failedPrecondition, invalidArgument, notFound } from '../../domain/errors.ts'
import type { Caller } from '../access/caller.ts'
import { abortedWhereKeyTaken } from '../access/idempotency.ts'
import type { Caches, Core, Writing } from '../deps.ts'
import type { Job } from '../jobs/job.ts'
import { getOrganization, type Organization } from '../organizations/organizations.ts'
import { positionOf, type Range, type Ranged, rangedOf } from '../paging.ts'

export { DATA_REQUEST, type DataRequest, type DataRequestFilter } from '../../db/customers/dataRequests.ts'
export {
  DATA_REQUEST_KINDS,
  DATA_REQUEST_STATES,
  type DataRequestKind,
  type DataRequestState,
  isAsker,
  isUndecided,
  requireConfirmable,
} from '../../domain/customer/dataRequest.ts'

/** The most characters of the reason of a request, and of the answer. */
export const LONGEST_REASON = 1_000

type RequestDeps = Core & Pick<Caches, 'organizations'> & Pick<Writing, 'people'>

const noSuchRequest = () => notFound('no data request has that id')

/** What a person asks for. */
export interface AskedData {
  readonly kind: DataRequestKind
  readonly reason?: string | undefined
}

/**
 * Keeps what a person asks of the lender. An erasure waits for another ADMIN; where something is against it, it is refused at once, and
 * says by what. An erasure that waits already is the answer to another.
 * @throws LendingError `permission_denied`, `not_found`, `failed_precondition` for a person who was erased, `aborted`
 */
export async function askForData(
  deps: RequestDeps,
  caller: Caller,
  ref: CustomerRef,
  { kind, reason = undefined }: AskedData,
): Promise<DataRequest> {
  requirePermission(caller, kind === 'erasure' ? ['customers.write', 'people.decide'] : 'customers.write')
  const { organizationId } = caller
  const customer = await findCustomer(deps.db, organizationId, ref)
  if (!customer) throw notFound(`no customer has that ${'id' in ref ? 'id' : 'externalId'}`, 'customer')
  const retention = retentionOf(await getOrganization(deps, caller))
  const now = deps.now(organizationId)
  const today = dateIn(deps.config.zone, now)
  const asking = inTransaction(deps.db, async (transaction) => {
    const { obstacles } =
      kind === 'erasure'
        ? await lockAndLook(deps, transaction, { organizationId, id: customer.id }, { retention, today })
        : { obstacles: [] }
    const state = kind !== 'erasure' ? 'open' : obstacles.length > 0 ? 'refused' : 'waiting'
    const asked = { customerId: customer.id, kind, state, reason: reason ?? null, proposed: false } as const
    const words = obstacles.map(obstacleText)
    return insertDataRequest(transaction, caller, { ...asked, dueOn: dueOf(today), obstacles: words }, now)
  })
  const id = await abortedWhereKeyTaken(asking)
  if (id !== undefined) return findKept(deps, caller, id)
  const waiting = { customerId: customer.id, kind, state: 'waiting' } as const
  const { items } = await findDataRequests(deps.db, organizationId, waiting, { page: 1, rows: 1 })
  if (!items[0]) throw failedPrecondition('an erasure of the customer has just been decided')
  return items[0]
}

/** Returns the retention of a lender; that of the longest duty where it has not said. */
export const retentionOf = ({ keepBorrowersYears, keepOthersYears }: Organization): Retention => ({
  borrowers: keepBorrowersYears ?? LONGEST_DUTY.borrowers,
  others: keepOthersYears ?? LONGEST_DUTY.others,
})

/** Locks a customer, and looks at what is against an erasure of the person. */
async function lockAndLook(
  { config }: Pick<Core, 'config'>,
  transaction: Transaction,
  { organizationId, id }: { readonly organizationId: number; readonly id: bigint },
  { retention, today }: { readonly retention: Retention; readonly today: LocalDate },
): Promise<{ readonly customer: Erasable; readonly obstacles: readonly Obstacle[] }> {
  const customer = await lockErasable(transaction, { organizationId, id })
  if (!customer) throw notFound('no customer has that id', 'customer')
  const facts = await readErasureFacts({ pool: transaction }, { organizationId, ...customer })
  const lastToldOn = dateIn(config.zone, customer.updatedAt)
  return { customer, obstacles: obstaclesOf({ ...facts, isErased: customer.isErased, lastToldOn }, retention, today) }
}

/** Returns a request without a check of roles. @throws LendingError `not_found` */
export async function findKept(
  { db }: Pick<Core, 'db'>,
  { organizationId }: Pick<Caller, 'organizationId'>,
  id: bigint,
): Promise<DataRequest> {
  const found = await findDataRequest(db, organizationId, id)
  if (!found) throw noSuchRequest()
  return found
}

/** Returns a request; for an ADMIN. @throws LendingError `permission_denied`, `not_found` */
export function getDataRequest(deps: Pick<Core, 'db'>, caller: Caller, id: bigint): Promise<DataRequest> {
  requirePermission(caller, 'people.read')
  return findKept(deps, caller, id)
}

/**
 * Returns a part of the requests of the organization, oldest first; for an ADMIN.
 * @throws LendingError `permission_denied`, `invalid_argument` for a range that names no part
 */
export async function listDataRequests(
  { db }: Pick<Core, 'db'>,
  caller: Caller,
  filter: DataRequestFilter,
  range: Range,
): Promise<Ranged<DataRequest>> {
  requirePermission(caller, 'people.read')
  const position = positionOf(range, { arrival: DATA_REQUESTS_ORDER })
  return rangedOf(await findDataRequests(db, caller.organizationId, filter, position))
}

/**
 * Erases a person, as another ADMIN than the one who asked for it: the key of the customer is destroyed, and the externalId becomes a
 * pseudonym. Whole or not at all; where something is against it by now, the request waits on.
 * @throws LendingError `permission_denied`, `not_found`, `failed_precondition`, `aborted`
 */
export async function confirmErasure(deps: RequestDeps, caller: Caller, id: bigint): Promise<DataRequest> {
  requirePermission(caller, 'people.decide')
  const retention = retentionOf(await getOrganization(deps, caller))
  return decide(deps, caller, id, async (transaction, request, now) => {
    requireConfirmable(request, caller.accountId)
    const today = dateIn(deps.config.zone, now)
    const { organizationId, customerId } = request
    const whose = { organizationId, id: customerId }
    const { customer, obstacles } = await lockAndLook(deps, transaction, whose, { retention, today })
    if (obstacles.length > 0)
      throw failedPrecondition(`the person cannot be erased: ${obstacles.map(obstacleText).join('; ')}`)
    const { externalId } = customer
    const hashes = externalId === null ? [] : [deps.people.externalIdHash(organizationId, externalId)]
    await endDataRequest(transaction, caller, { request, state: 'done', action: 'approve', note: null }, now)
    const { claim: _, ...author } = caller
    await eraseCustomer(transaction, author, customer, { today, now, hashes: arrayOf(hashes) })
  })
}

/**
 * Ends a request that no erasure answers, or that is refused or withdrawn, with the answer to the person.
 * @throws LendingError `permission_denied`, `not_found`, `failed_precondition`, `aborted`
 */
export async function endRequest(
  deps: RequestDeps,
  caller: Caller,
  id: bigint,
  { state, note = null }: { readonly state: DataRequestEnd; readonly note?: string | null },
): Promise<DataRequest> {
  requirePermission(caller, 'people.decide')
  if (note !== null && (note.trim() === '' || note.length > LONGEST_REASON))
    throw invalidArgument('note', `must be 1 to ${LONGEST_REASON} characters`)
  return decide(deps, caller, id, async (transaction, request, now) => {
    if (state === 'done') requireCompletable(request)
    else requireUndecided(request)
    await endDataRequest(transaction, caller, { request, state, action: DATA_REQUEST_ENDS[state], note }, now)
  })
}

/** Decides a request in a transaction that has locked it. */
async function decide(
  deps: RequestDeps,
  caller: Caller,
  id: bigint,
  work: (transaction: Transaction, request: LockedDataRequest, now: number) => Promise<void>,
): Promise<DataRequest> {
  const { organizationId } = caller
  const deciding = inTransaction(deps.db, async (transaction) => {
    const request = await lockDataRequest(transaction, organizationId, id)
    if (!request) throw noSuchRequest()
    await work(transaction, request, deps.now(organizationId))
    return true
  })
  await abortedWhereKeyTaken(deciding)
  return findKept(deps, caller, id)
}

const HOUR_MS = 3_600_000
/** Customers of whom an erasure is proposed in one round. */
const PROPOSALS_A_ROUND = 100

/**
 * Creates the job that proposes to erase the customers whose time is over, as the lender has said how long it keeps what it knows. People
 * decide; where the lender has said nothing, nothing is proposed.
 */
export const retentionJob = (deps: RequestDeps): Job => ({
  name: 'retention',
  failure: 'customers could not be looked at for their retention; they are looked at again',
  everyMs: HOUR_MS,
  organizations: async () => (await listOrganizations(deps.db)).filter(saysHowLong).map(({ id }) => id),
  async work(organizationId) {
    const organization = await deps.organizations.get(organizationId)
    const now = deps.now(organizationId)
    const today = dateIn(deps.config.zone, now)
    const { borrowers, others } = retentionOf(organization)
    const past = {
      borrowersBefore: addPeriods(today, -borrowers, 'years'),
      othersBefore: addPeriods(today, -others, 'years'),
    }
    const found = await findPastRetention(deps.db, organizationId, past, PROPOSALS_A_ROUND)
    for (const customerId of found) await propose(deps, organizationId, customerId, now)
    return found.length === PROPOSALS_A_ROUND ? 'more' : 'done'
  },
})

const saysHowLong = ({ keepBorrowersYears, keepOthersYears }: Organization): boolean =>
  keepBorrowersYears !== null || keepOthersYears !== null

async function propose(deps: RequestDeps, organizationId: number, customerId: bigint, now: number): Promise<void> {
  const dueOn = dueOf(dateIn(deps.config.zone, now))
  const proposal = { customerId, kind: 'erasure', state: 'waiting', reason: null, proposed: true, dueOn } as const
  await inTransaction(deps.db, (transaction) =>
    insertDataRequest(transaction, service(organizationId), { ...proposal, obstacles: [] }, now),
  )
}
