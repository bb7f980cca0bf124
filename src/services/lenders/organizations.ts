import type { Deps } from '../../app/deps.ts'
import type { Author } from '../../db/audit/trail.ts'
import {
  changeOrganization,
  findOrganization,
  insertOrganization,
  listOrganizations as list,
  type Mode,
  nextOrganizationId,
  type Organization,
  type OrganizationChange,
} from '../../db/lenders/organizations.ts'
import type { Db } from '../../db/postgres/client.ts'
import { isUniqueViolation } from '../../db/postgres/errors.ts'
import { type FaultRole, invalidArgument, invariant, LendingError, notFound } from '../../domain/errors.ts'
import { currencyCodes } from '../../domain/money.ts'
import { LARGEST_ID } from '../../domain/product/smallId.ts'
import { createReadCache, type ReadCache } from '../access/credentialCache.ts'

export { MODES, type Mode, type Organization } from '../../db/lenders/organizations.ts'

/** An operator's request for a new organization. */
export interface NewOrganization {
  /** Undefined: the next one. */
  readonly id?: number | undefined
  readonly name: string
  readonly currency: string
  readonly officeId?: string | undefined
  readonly officeName?: string | undefined
  readonly paymentMethod?: string | undefined
  /** Undefined: `live`. */
  readonly mode?: Mode | undefined
}

const LONGEST_NAME = 200
const LONGEST_METHOD = 100
const DEFAULT_METHOD = 'Mobile Money'

/** Organizations by id, each of which must exist; each was read within the last seconds. */
export type Organizations = Pick<ReadCache<number, Organization>, 'get'>

const MOST_CACHED = 10_000

/** Creates a cache that keeps each organization for a few seconds, because every repayment needs one. */
export const cacheOrganizations = (db: Db, now: () => number): Organizations =>
  createReadCache(now, MOST_CACHED, async (id) => {
    const organization = await findOrganization(db, id)
    invariant(organization, 'a caller belongs to an organization')
    return organization
  })

/** Returns the organization of the caller. */
export const getOrganization = (
  { organizations }: Pick<Deps, 'organizations'>,
  caller: Pick<Author, 'organizationId'>,
): Promise<Organization> => organizations.get(caller.organizationId)

/** Returns every organization, by id. */
export const listOrganizations = ({ db }: Pick<Deps, 'db'>): Promise<Organization[]> => list(db)

/**
 * Creates an organization.
 * @throws LendingError `invalid_argument`, `already_exists` for the id
 */
export async function createOrganization(
  { db, machineNow }: Pick<Deps, 'db' | 'machineNow'>,
  author: Author,
  {
    id,
    name,
    currency,
    officeId = '1',
    officeName = 'Head Office',
    paymentMethod = DEFAULT_METHOD,
    mode = 'live',
  }: NewOrganization,
): Promise<Organization> {
  requireText('name', name, LONGEST_NAME)
  requireText('officeId', officeId, LONGEST_NAME)
  requireText('officeName', officeName, LONGEST_NAME)
  requireText('paymentMethod', paymentMethod, LONGEST_METHOD)
  if (!currencyCodes.includes(currency)) throw invalidArgument('currency', `must be one of ${currencyCodes.join(', ')}`)
  if (id !== undefined && !(id >= 1 && id <= LARGEST_ID)) throw invalidArgument('id', `must be 1 to ${LARGEST_ID}`)
  for (;;) {
    const chosen = id ?? (await nextOrganizationId(db))
    const organization = { id: chosen, name, currency, officeId, officeName, paymentMethod, mode }
    try {
      await insertOrganization(db, organization, machineNow(), author)
      return organization
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      // Of two requests that take the next id at once, one tries again.
      if (id !== undefined) throw new LendingError('already_exists', 'an organization with that id exists already')
    }
  }
}

/**
 * Changes the settings of the author's organization. Earlier transactions keep their payment method.
 * @throws LendingError `invalid_argument`, `not_found`
 */
export async function updateOrganization(
  { db, machineNow }: Pick<Deps, 'db' | 'machineNow'>,
  author: Author,
  change: OrganizationChange,
): Promise<Organization> {
  requireText('paymentMethod', change.paymentMethod, LONGEST_METHOD)
  const organization = await changeOrganization(db, author, change, machineNow())
  if (!organization) throw notFound('no organization has that id')
  return organization
}

function requireText(role: FaultRole, text: string, longest: number): void {
  if (text.trim() === '' || text.length > longest || /\p{Cc}/u.test(text))
    throw invalidArgument(role, `must be 1 to ${longest} characters`)
}
