import {
  CUSTOMER_ORDERS,
  type Customer,
  type CustomerChange,
  type CustomerFilter,
  type CustomerRef,
  changeCustomer,
  findCustomer,
  findCustomers,
  insertCustomer,
  setExternalId,
} from '../../db/customers/customers.ts'
import { changePerson, findPerson } from '../../db/customers/identities.ts'
import { arrayOf } from '../../db/queries/rows.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import {
  type CustomerLifecycle,
  requireActivatable,
  requireClosable,
  requireOwnName,
} from '../../domain/customer/customer.ts'
import { type Identity, requirePossible, sameIdentity, UNKNOWN } from '../../domain/customer/identity.ts'
import { dateIn, type LocalDate } from '../../domain/dates.ts'
import { alreadyExists, failedPrecondition, invalidArgument, notFound } from '../../domain/errors.ts'
import type { Caller } from '../access/caller.ts'
import { abortedWhereKeyTaken } from '../access/idempotency.ts'
import type { Caches, Core, Writing } from '../deps.ts'
import { positionOf, type Range, type Ranged, rangedOf } from '../paging.ts'

export type { Customer, CustomerFilter, CustomerRef } from '../../db/customers/customers.ts'

/**
 * Creates a customer, Active at once (contract 4.1).
 * @throws LendingError `already_exists` when the external id is taken
 */
export async function createCustomer(
  deps: Core & Writing,
  caller: Caller,
  externalId: string,
  identity?: Identity,
): Promise<Customer> {
  requirePermission(caller, 'customers.write')
  requireOwnName(externalId)
  const { organizationId } = caller
  const now = deps.now(organizationId)
  const activationDate = dateIn(deps.config.zone, now)
  if (identity) requirePossible(identity, activationDate)
  const personOf = (id: bigint) => deps.people.seal({ organizationId, id }, identity ?? null, null)
  const inserting = insertCustomer(deps, caller, { externalId, activationDate, personOf }, now)
  const customer = await abortedWhereKeyTaken(inserting)
  if (!customer) throw alreadyExists('externalId', 'a customer with that externalId exists already')
  return customer
}

/** Returns the refusal of a customer that is not there. */
export const noSuchCustomer = (ref: CustomerRef) =>
  notFound(`no customer has that ${'id' in ref ? 'id' : 'externalId'}`, 'customer')

/** Returns a customer. @throws LendingError `not_found` */
export async function getCustomer(deps: Core, caller: Caller, ref: CustomerRef): Promise<Customer> {
  const customer = await findCustomer(deps.db, caller.organizationId, ref)
  if (!customer) throw noSuchCustomer(ref)
  return customer
}

/** What a list of customers is asked for by. */
export interface CustomerQuery extends Omit<CustomerFilter, 'allHashes' | 'anyHashes'> {
  /** Words of a name, or the whole phone number, e-mail or number of a document, as an identity has it. */
  readonly person?: string | undefined
}

/**
 * Returns a part of the organization's customers.
 * @throws LendingError `permission_denied` where a person is looked for and the caller is no ADMIN, `invalid_argument` for a range
 *   that names no part, `unavailable`
 */
export async function listCustomers(
  deps: Core & Caches & Pick<Writing, 'people'>,
  caller: Caller,
  { person, ...query }: CustomerQuery,
  range: Range,
): Promise<Ranged<Customer>> {
  const { organizationId } = caller
  const filter = { ...query, ...(person !== undefined && hashesOf(deps, caller, person)) }
  const position = positionOf(range, CUSTOMER_ORDERS, filter.updatedSince)
  return rangedOf(await findCustomers(deps, { organizationId, filter, position }))
}

/** Returns the hashes by which a person is found. @throws LendingError `permission_denied`, `invalid_argument` */
function hashesOf({ people }: Pick<Writing, 'people'>, caller: Caller, person: string) {
  requirePermission(caller, 'people.read')
  const asked = people.searched(caller.organizationId, person)
  if (!asked)
    throw invalidArgument('person', 'must be words of a name, or a whole phone number, e-mail or number of a document')
  return 'all' in asked ? { allHashes: arrayOf(asked.all) } : { anyHashes: arrayOf(asked.any) }
}

/**
 * Says who a customer is, in place of all that was known before.
 * @throws LendingError `not_found`, `aborted`
 */
export async function identifyCustomer(
  deps: Core & Pick<Writing, 'people'>,
  caller: Caller,
  ref: CustomerRef,
  identity: Identity,
): Promise<Customer> {
  requirePermission(caller, 'customers.write')
  const { organizationId } = caller
  const now = deps.now(organizationId)
  requirePossible(identity, dateIn(deps.config.zone, now))
  const changing = changePerson(deps.db, caller, ref, {
    now,
    decide(person) {
      const whose = { organizationId, id: person.id }
      const known = deps.people.open(whose, person)
      return sameIdentity(known ?? UNKNOWN, identity) ? undefined : deps.people.seal(whose, identity, person.personKey)
    },
  })
  const id = await abortedWhereKeyTaken(changing)
  if (id === undefined) throw noSuchCustomer(ref)
  return getCustomer(deps, caller, { id })
}

/** Returns who a customer is. @throws LendingError `permission_denied` for any but an ADMIN, `not_found` */
export async function getIdentity(
  { db, people }: Pick<Core, 'db'> & Pick<Writing, 'people'>,
  caller: Caller,
  ref: CustomerRef,
): Promise<Identity> {
  requirePermission(caller, 'people.read')
  const person = await findPerson(db, caller.organizationId, ref)
  if (!person) throw noSuchCustomer(ref)
  return people.open({ organizationId: caller.organizationId, id: person.id }, person) ?? UNKNOWN
}

/**
 * Gives a customer that has none an external id, for good (contract 15). The same one again changes nothing.
 * @throws LendingError `not_found`; `failed_precondition` when it has another, `already_exists` when another has it
 */
export async function assignExternalId(deps: Core, caller: Caller, id: bigint, externalId: string): Promise<Customer> {
  requirePermission(caller, 'customers.write')
  requireOwnName(externalId)
  const given = await abortedWhereKeyTaken(
    setExternalId(deps.db, caller, { id, externalId }, deps.now(caller.organizationId)),
  )
  if (given === 'taken') throw alreadyExists('externalId', 'another customer has that externalId')
  if (given === undefined) throw noSuchCustomer({ id })
  if (given.externalId === externalId) return getCustomer(deps, caller, { id })
  throw failedPrecondition(`the customer has an externalId already, ${given.externalId}`)
}

/**
 * Activates a customer (Pending → Active), from today unless a day is given.
 * @throws LendingError `not_found`, `failed_precondition`, `invalid_argument`
 */
export const activateCustomer = (deps: Core, caller: Caller, ref: CustomerRef, activationDate: LocalDate | undefined) =>
  change(deps, caller, { ref, action: 'activate' }, (customer, today) => {
    const on = activationDate ?? today
    requireActivatable(customer, on, today)
    return { status: 'Active', activationDate: on, closedOn: null, closeReason: null }
  })

/**
 * Closes a customer (Active → Closed), today unless a day is given; refused while a loan is open.
 * @throws LendingError `not_found`, `failed_precondition`, `invalid_argument`
 */
export const closeCustomer = (
  deps: Core,
  caller: Caller,
  ref: CustomerRef,
  closure: { closureDate?: LocalDate | undefined; reason?: string | undefined },
) =>
  change(deps, caller, { ref, action: 'close' }, (customer, today) => {
    const closedOn = closure.closureDate ?? today
    requireClosable(customer, closedOn, today)
    const { activationDate } = customer
    return { status: 'Closed', activationDate, closedOn, closeReason: closure.reason ?? null }
  })

async function change(
  deps: Core,
  caller: Caller,
  { ref, action }: { readonly ref: CustomerRef; readonly action: string },
  decide: (customer: CustomerLifecycle, today: LocalDate) => CustomerChange,
): Promise<Customer> {
  requirePermission(caller, 'customers.write')
  const now = deps.now(caller.organizationId)
  const today = dateIn(deps.config.zone, now)
  const changing = changeCustomer(deps.db, caller, ref, action, (current) => decide(current, today), now)
  const customer = await abortedWhereKeyTaken(changing)
  if (!customer) throw noSuchCustomer(ref)
  return customer
}
