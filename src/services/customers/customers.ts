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
import { type CustomerLifecycle, requireActivatable, requireClosable } from '../../domain/customer/customer.ts'
import { dateIn, type LocalDate } from '../../domain/dates.ts'
import { alreadyExists, failedPrecondition, notFound } from '../../domain/errors.ts'
import type { Caller } from '../access/caller.ts'
import { abortedWhereKeyTaken } from '../access/idempotency.ts'
import type { Caches, Core, Writing } from '../deps.ts'
import { positionOf, type Range, type Ranged, rangedOf } from '../paging.ts'

export type { Customer, CustomerFilter, CustomerRef } from '../../db/customers/customers.ts'

/**
 * Creates a customer, Active at once (contract 4.1).
 * @throws LendingError `already_exists` when the external id is taken
 */
export async function createCustomer(deps: Core & Writing, caller: Caller, externalId: string): Promise<Customer> {
  const now = deps.now(caller.organizationId)
  const activationDate = dateIn(deps.config.zone, now)
  const customer = await abortedWhereKeyTaken(insertCustomer(deps, caller, { externalId, activationDate }, now))
  if (!customer) throw alreadyExists('externalId', 'a customer with that externalId exists already')
  return customer
}

const noSuchCustomer = (ref: CustomerRef) =>
  notFound(`no customer has that ${'id' in ref ? 'id' : 'externalId'}`, 'customer')

/** Returns a customer. @throws LendingError `not_found` */
export async function getCustomer(deps: Core, caller: Caller, ref: CustomerRef): Promise<Customer> {
  const customer = await findCustomer(deps.db, caller.organizationId, ref)
  if (!customer) throw noSuchCustomer(ref)
  return customer
}

/**
 * Returns a part of the organization's customers.
 * @throws LendingError `invalid_argument` for a range that names no part, `unavailable`
 */
export async function listCustomers(
  deps: Core & Caches,
  { organizationId }: Caller,
  filter: CustomerFilter,
  range: Range,
): Promise<Ranged<Customer>> {
  const position = positionOf(range, CUSTOMER_ORDERS, filter.updatedSince)
  return rangedOf(await findCustomers(deps, { organizationId, filter, position }))
}

/**
 * Gives a customer that has none an external id, for good (contract 15). The same one again changes nothing.
 * @throws LendingError `not_found`; `failed_precondition` when it has another, `already_exists` when another has it
 */
export async function assignExternalId(deps: Core, caller: Caller, id: bigint, externalId: string): Promise<Customer> {
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
  const now = deps.now(caller.organizationId)
  const today = dateIn(deps.config.zone, now)
  const changing = changeCustomer(deps.db, caller, ref, action, (current) => decide(current, today), now)
  const customer = await abortedWhereKeyTaken(changing)
  if (!customer) throw noSuchCustomer(ref)
  return customer
}
