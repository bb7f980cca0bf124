import type { Author } from '../../db/audit/trail.ts'
import {
  findPresentCustomers,
  insertCustomers,
  type NewCustomer,
  type PresentCustomer,
} from '../../db/customers/insertCustomers.ts'
import { reserveAccountNumbers } from '../../db/organizations/accountNumbers.ts'
import { reserveIds } from '../../db/queries/idBlocks.ts'
import { BORROWER_DETAILS, type BorrowerDetail, detailsOf, requireOwnName } from '../../domain/customer/customer.ts'
import { type Identity, requirePossible, sameIdentity, UNKNOWN } from '../../domain/customer/identity.ts'
import { dateIn, type LocalDate } from '../../domain/dates.ts'
import { invalidArgument, LendingError } from '../../domain/errors.ts'
import type { Core, Writing } from '../deps.ts'
import { type Importer, type LineResult, lineResultOf, otherThere } from './bookImport.ts'

/** A line of an import of customers. The customer is Active from the activation date, or from today. */
export interface CustomerLine {
  readonly externalId: string
  readonly activationDate?: LocalDate | undefined
  readonly details: Readonly<Partial<Record<BorrowerDetail, string | undefined>>>
  /** Undefined: the line says nothing of it. */
  readonly identity?: Identity | undefined
}

/** Imports customers as `createCustomer` makes them, with the details that a record system would send. */
export function customerImporter(deps: Core & Writing, author: Author): Importer<CustomerLine> {
  const { db, now, config } = deps
  return {
    keyOf: ({ externalId }) => externalId,
    async decide(values) {
      const at = now(author.organizationId)
      const today = dateIn(config.zone, at)
      const externalIds = values.flatMap((value) => (value instanceof LendingError ? [] : [value.externalId]))
      const known = await findPresentCustomers(db, author.organizationId, externalIds)
      const nextId = await reserveIds(deps, 'customer', values.length)
      const made: Omit<NewCustomer, 'accountNo'>[] = []
      const results = values.map(
        (value): LineResult =>
          lineResultOf(() => {
            if (value instanceof LendingError) return value
            if (value.activationDate !== undefined && value.activationDate > today)
              throw invalidArgument('activationDate', `must not be in the future: today is ${today}`)
            requireOwnName(value.externalId)
            if (value.identity) requirePossible(value.identity, today)
            const present = known.get(value.externalId)
            if (present) return isSame(deps, author, value, present) ? 'present' : otherThere('the customer')
            const id = nextId()
            const whose = { organizationId: author.organizationId, id }
            const customer = {
              id,
              externalId: value.externalId,
              activationDate: value.activationDate ?? today,
              details: detailsOf((detail) => value.details[detail]),
              person: deps.people.seal(whose, value.identity ?? null, null),
            }
            made.push(customer)
            known.set(customer.externalId, { ...customer, ...customer.person })
            return 'imported'
          }),
      )
      const nextNo = await reserveAccountNumbers(deps, author.organizationId, 'customer', made.length)
      const customers = made.map((customer): NewCustomer => ({ ...customer, accountNo: nextNo() }))
      return {
        async save(batch) {
          if (customers.length > 0) await insertCustomers(batch, author, customers, at)
          return results
        },
      }
    },
  }
}

/** Returns whether a line equals a stored customer; a field that the line leaves out is not compared. */
const isSame = (
  { people }: Pick<Writing, 'people'>,
  { organizationId }: Author,
  { activationDate, details, identity }: CustomerLine,
  present: PresentCustomer,
): boolean =>
  (identity === undefined ||
    sameIdentity(people.open({ organizationId, id: present.id }, present) ?? UNKNOWN, identity)) &&
  (activationDate === undefined || activationDate === present.activationDate) &&
  BORROWER_DETAILS.every((detail) => details[detail] === undefined || details[detail] === present.details[detail])
