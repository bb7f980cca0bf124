import {
  type Borrower,
  changeBorrower,
  findBorrower,
  findBorrowers,
  insertBorrower,
} from '../../db/customers/borrowers.ts'
import { CUSTOMER_ORDERS, type CustomerFilter } from '../../db/customers/customers.ts'
import { findPerson } from '../../db/customers/identities.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { type BorrowerDetails, displayName, sameDetails, withChanges } from '../../domain/customer/customer.ts'
import { type Identity, requirePossible, sameIdentity, UNKNOWN } from '../../domain/customer/identity.ts'
import { dateIn } from '../../domain/dates.ts'
import { alreadyExists, notFound } from '../../domain/errors.ts'
import type { Caller } from '../access/caller.ts'
import { abortedWhereKeyTaken } from '../access/idempotency.ts'
import type { Caches, Core, Writing } from '../deps.ts'
import { positionOf, type Range, type Ranged, rangedOf } from '../paging.ts'

export type { Borrower } from '../../db/customers/borrowers.ts'

/**
 * A resource under an id that the client chose; `replayed` where it existed already and nothing was made (contract
 * 5.1).
 */
export interface Recorded<T> {
  readonly item: T
  readonly replayed: boolean
}

const noSuchBorrower = () => notFound('no borrower has that id')

/** A borrower to be made. */
export interface NewBorrower {
  readonly id: bigint
  readonly details: BorrowerDetails
  /** Who the borrower is; left out: nothing is known. */
  readonly identity?: Identity | undefined
}

/** Returns whether the identity of a customer is the same as another. */
async function isIdentity(deps: Core & Writing, { organizationId }: Caller, id: bigint, identity: Identity) {
  const person = await findPerson(deps.db, organizationId, { id })
  return sameIdentity((person && deps.people.open({ organizationId, id }, person)) ?? UNKNOWN, identity)
}

/**
 * Creates a customer under an id that the client chose, Active at once (contract 5.1, 5.5). A repeated request with the
 * same content gets the stored customer, also after it was given an external id. A customer that a partner made has no
 * details until a change gives it some, and is never the same before.
 * @throws LendingError `already_exists` when the id is taken by another
 */
export async function createBorrower(
  deps: Core & Writing,
  caller: Caller,
  { id, details, identity }: NewBorrower,
): Promise<Recorded<Borrower>> {
  requirePermission(caller, 'customers.write')
  const { organizationId } = caller
  const now = deps.now(organizationId)
  const today = dateIn(deps.config.zone, now)
  if (identity) requirePossible(identity, today)
  const person = deps.people.seal({ organizationId, id }, identity ?? null, null)
  const inserting = insertBorrower(deps, caller, { id, details, activationDate: today, person }, now)
  const made = await abortedWhereKeyTaken(inserting)
  const borrower = made ?? (await getBorrower(deps, caller, id))
  const isSame = made !== undefined || identity === undefined || (await isIdentity(deps, caller, id, identity))
  if (!(sameDetails(borrower, details) && isSame))
    throw alreadyExists('id', 'a borrower with that id exists already, with other content')
  return { item: borrower, replayed: made === undefined }
}

/**
 * Changes some details of a borrower; a detail that is left out does not change.
 * @throws LendingError `not_found`
 */
export async function updateBorrower(
  deps: Core,
  caller: Caller,
  id: bigint,
  changes: Partial<BorrowerDetails>,
): Promise<Borrower> {
  requirePermission(caller, 'customers.write')
  const decide = (borrower: Borrower) => {
    const { businessName, ...others } = changes
    // A borrower without a business name is shown with another name, which changes nothing when it is sent back.
    const isShown = borrower.businessName === null && businessName === displayName(borrower)
    const details = withChanges(borrower, isShown ? others : changes)
    return sameDetails(borrower, details) ? undefined : details
  }
  const borrower = await abortedWhereKeyTaken(
    changeBorrower(deps.db, caller, id, decide, deps.now(caller.organizationId)),
  )
  if (!borrower) throw noSuchBorrower()
  return borrower
}

/** Returns a borrower. @throws LendingError `not_found` */
export async function getBorrower(deps: Core, caller: Caller, id: bigint): Promise<Borrower> {
  const borrower = await findBorrower(deps.db, caller.organizationId, id)
  if (!borrower) throw noSuchBorrower()
  return borrower
}

/**
 * Returns a part of the organization's borrowers.
 * @throws LendingError `invalid_argument` for a range that names no part, `unavailable`
 */
export async function listBorrowers(
  deps: Core & Caches,
  { organizationId }: Caller,
  filter: CustomerFilter,
  range: Range,
): Promise<Ranged<Borrower>> {
  const position = positionOf(range, CUSTOMER_ORDERS, filter.updatedSince)
  return rangedOf(await findBorrowers(deps, { organizationId, filter, position }))
}
