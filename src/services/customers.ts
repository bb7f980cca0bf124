import { type Customer, type CustomerRef, findCustomer, insertCustomer, listCustomers } from '../db/customers.ts'
import type { Listed, Page } from '../db/loans.ts'
import type { Deps } from '../deps.ts'
import { dateIn } from '../domain/dates.ts'
import { LendingError, notFound } from '../domain/errors.ts'
import type { Caller } from './caller.ts'

export type { Customer, CustomerRef } from '../db/customers.ts'

/**
 * A new customer, Active at once (contract 4.1).
 * @throws LendingError `already_exists` when the external id is taken
 */
export async function createCustomer(deps: Deps, caller: Caller, externalId: string): Promise<Customer> {
  const now = deps.now()
  const activationDate = dateIn(deps.config.zone, now)
  const customer = await insertCustomer(deps.db, caller.organizationId, { externalId, activationDate }, now)
  if (!customer)
    throw new LendingError('already_exists', 'a customer with that externalId exists already', [
      { field: 'externalId', message: 'is taken' },
    ])
  return customer
}

/** @throws LendingError `not_found` */
export async function getCustomer(deps: Deps, caller: Caller, ref: CustomerRef): Promise<Customer> {
  const customer = await findCustomer(deps.db, caller.organizationId, ref)
  if (!customer) throw notFound(`no customer has that ${'id' in ref ? 'id' : 'externalId'}`)
  return customer
}

/** A page of the organization's customers; with an external id, the one that has it or none. */
export const pageCustomers = (
  deps: Deps,
  caller: Caller,
  filter: { externalId?: string | undefined },
  page: Page,
): Promise<Listed<Customer>> => listCustomers(deps.db, caller.organizationId, filter, page)
