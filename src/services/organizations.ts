import { isUniqueViolation } from '../db/faults.ts'
import {
  findOrganization,
  insertOrganization,
  listOrganizations as list,
  nextOrganizationId,
  type Organization,
} from '../db/organizations.ts'
import type { Author } from '../db/trail.ts'
import type { Deps } from '../deps.ts'
import { invalidField, invariant, LendingError } from '../domain/errors.ts'
import { currencyCodes } from '../domain/money.ts'
import { LARGEST_ID } from '../domain/smallId.ts'

export type { Organization } from '../db/organizations.ts'

/** What is told of a new organization. */
export interface NewOrganization {
  /** Undefined: the next one. */
  readonly id?: number | undefined
  readonly name: string
  readonly currency: string
  readonly officeId?: string | undefined
  readonly officeName?: string | undefined
}

const LONGEST_NAME = 200

/** The organization of whoever asks. */
export async function getOrganization(
  { db }: Pick<Deps, 'db'>,
  caller: Pick<Author, 'organizationId'>,
): Promise<Organization> {
  const organization = await findOrganization(db, caller.organizationId)
  invariant(organization, 'whoever asks belongs to an organization')
  return organization
}

/** Every organization, by id. */
export const listOrganizations = ({ db }: Pick<Deps, 'db'>): Promise<Organization[]> => list(db)

/**
 * A new organization.
 * @throws LendingError `invalid_argument`, `already_exists` for the id
 */
export async function createOrganization(
  { db, now }: Pick<Deps, 'db' | 'now'>,
  author: Author,
  { id, name, currency, officeId = '1', officeName = 'Head Office' }: NewOrganization,
): Promise<Organization> {
  for (const [field, text] of Object.entries({ name, officeId, officeName }))
    if (text.trim() === '' || text.length > LONGEST_NAME || /\p{Cc}/u.test(text))
      throw invalidField(field, `must be 1 to ${LONGEST_NAME} characters`)
  if (!currencyCodes.includes(currency)) throw invalidField('currency', `must be one of ${currencyCodes.join(', ')}`)
  if (id !== undefined && !(id >= 1 && id <= LARGEST_ID)) throw invalidField('id', `must be 1 to ${LARGEST_ID}`)
  for (;;) {
    const organization = { id: id ?? (await nextOrganizationId(db)), name, currency, officeId, officeName }
    try {
      await insertOrganization(db, organization, now(), author)
      return organization
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      // Of two that take the next id at once, one asks again.
      if (id !== undefined) throw new LendingError('already_exists', 'an organization with that id exists already')
    }
  }
}
