import type { Author } from '../../db/audit/trail.ts'
import { listAbsent } from '../../db/directory/absent.ts'
import {
  changeOrganization,
  findLogo,
  findOrganization,
  hasLogo,
  insertOrganization,
  listOrganizations as list,
  type Mode,
  nextOrganizationId,
  type Organization,
  type OrganizationChange,
} from '../../db/organizations/organizations.ts'
import type { Db } from '../../db/postgres/client.ts'
import { isUniqueViolation } from '../../db/postgres/errors.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import { type FaultRole, invalidArgument, invariant, LendingError, notFound } from '../../domain/errors.ts'
import { currencyCodes, currencyOf, type Decimal, toMinor } from '../../domain/money.ts'
import { type Logo, readLogo } from '../../domain/organization/logo.ts'
import { LARGEST_INT32 } from '../../toolbox/integers.ts'
import { createReadCache, type ReadCache } from '../../toolbox/readCache.ts'
import type { Caller } from '../access/caller.ts'
import type { Base } from '../base.ts'

export { MODES, type Mode, type Organization } from '../../db/organizations/organizations.ts'

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

/** The most characters of the name of an organization, and of its licence number. */
export const LONGEST_NAME = 200
export const LONGEST_LICENCE = 100
const LONGEST_METHOD = 100
const DEFAULT_METHOD = 'Mobile Money'

/** Organizations by id, each of which must exist; each was read within the last seconds. */
export type Organizations = Pick<ReadCache<number, Organization>, 'get' | 'forget'>

/** What is said of an organization when it is made. */
export type NamedOrganization = Omit<
  Organization,
  'legalName' | 'licenceNumber' | 'approvalAbove' | 'keepBorrowersYears' | 'keepOthersYears' | 'reminderPolicy'
>

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
  { organizations }: { readonly organizations: Organizations },
  caller: Pick<Author, 'organizationId'>,
): Promise<Organization> => organizations.get(caller.organizationId)

/** Returns every organization, by id, but for those on their way into this book or gone to another one. */
export async function listOrganizations({ db }: Pick<Base, 'db'>): Promise<Organization[]> {
  const [all, absent] = await Promise.all([list(db), listAbsent(db)])
  return all.filter(({ id }) => !absent.includes(id))
}

/**
 * Creates an organization.
 * @throws LendingError `invalid_argument`, `already_exists` for the id
 */
export async function createOrganization(
  { db, machineNow }: Pick<Base, 'db' | 'machineNow'>,
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
): Promise<NamedOrganization> {
  requireText('name', name, LONGEST_NAME)
  requireText('officeId', officeId, LONGEST_NAME)
  requireText('officeName', officeName, LONGEST_NAME)
  requireText('paymentMethod', paymentMethod, LONGEST_METHOD)
  if (!currencyCodes.includes(currency)) throw invalidArgument('currency', `must be one of ${currencyCodes.join(', ')}`)
  if (id !== undefined && !(id >= 1 && id <= LARGEST_INT32))
    throw invalidArgument('id', `must be 1 to ${LARGEST_INT32}`)
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

/** The settings of an organization. */
export interface OrganizationSettings extends Organization {
  readonly hasLogo: boolean
}

/** Returns the settings of the caller's organization, as they are now. */
export async function organizationSettings(
  { db }: Pick<Base, 'db'>,
  { organizationId }: Pick<Caller, 'organizationId'>,
): Promise<OrganizationSettings> {
  const [organization, withLogo] = await Promise.all([
    findOrganization(db, organizationId),
    hasLogo(db, organizationId),
  ])
  invariant(organization, 'a caller belongs to an organization')
  return { ...organization, hasLogo: withLogo }
}

/** What documents say of a lender. */
export interface LenderDetails {
  readonly legalName: string
  readonly licenceNumber: string | null
  readonly logo: Logo | null
}

/** Returns what documents say of the caller's organization; without a legal name, its name. */
export async function lenderDetails(
  { db }: Pick<Base, 'db'>,
  { organizationId }: Pick<Caller, 'organizationId'>,
): Promise<LenderDetails> {
  const [organization, logo] = await Promise.all([findOrganization(db, organizationId), findLogo(db, organizationId)])
  invariant(organization, 'a caller belongs to an organization')
  const { name, legalName, licenceNumber } = organization
  return { legalName: legalName ?? name, licenceNumber, logo }
}

/** A request to change settings: what is left out stays, and null clears. */
export interface SettingsChange {
  readonly paymentMethod?: string | undefined
  readonly legalName?: string | null | undefined
  readonly licenceNumber?: string | null | undefined
  /** The bytes of a PNG or a JPEG. */
  readonly logo?: Uint8Array | null | undefined
  /** In the currency of the organization; may be 0. */
  readonly approvalAbove?: Decimal | null | undefined
  readonly keepBorrowersYears?: number | null | undefined
  readonly keepOthersYears?: number | null | undefined
}

/**
 * Changes the settings of the caller's organization. Earlier transactions keep their payment method. The command line alone
 * raises or clears the amount above which actions wait: one ADMIN could else do so, and post alone.
 * @throws LendingError `invalid_argument`, `not_found`, `permission_denied` for a caller without the role ADMIN, and for an
 *   account that raises or clears `approvalAbove`
 */
export async function updateOrganization(
  { db, machineNow, organizations }: Pick<Base, 'db' | 'machineNow'> & { readonly organizations: Organizations },
  caller: Caller,
  asked: SettingsChange,
): Promise<OrganizationSettings> {
  requirePermission(caller, 'organization.manage')
  const { organizationId } = caller
  const organization = await findOrganization(db, organizationId)
  if (!organization) throw notFound('no organization has that id')
  const change = changeOf(asked, organization)
  if (caller.accountId !== null) requireNoHigher(organization, change)
  const changed = await changeOrganization(db, caller, change, machineNow())
  invariant(changed, 'an organization is never deleted')
  organizations.forget(organizationId)
  return { ...changed, hasLogo: await hasLogo(db, organizationId) }
}

function changeOf(asked: SettingsChange, { currency }: Organization): OrganizationChange {
  const { paymentMethod, legalName, licenceNumber, logo, approvalAbove, keepBorrowersYears, keepOthersYears } = asked
  if (paymentMethod !== undefined) requireText('paymentMethod', paymentMethod, LONGEST_METHOD)
  if (legalName) requireText('legalName', legalName, LONGEST_NAME)
  if (licenceNumber) requireText('licenceNumber', licenceNumber, LONGEST_LICENCE)
  const change = {
    ...(paymentMethod !== undefined && { paymentMethod }),
    ...(legalName !== undefined && { legalName: legalName || null }),
    ...(licenceNumber !== undefined && { licenceNumber: licenceNumber || null }),
    ...(logo !== undefined && { logo: logo && logoOf(logo) }),
    ...(approvalAbove !== undefined && { approvalAbove: approvalAbove && limitOf(approvalAbove, currency) }),
    ...(keepBorrowersYears !== undefined && { keepBorrowersYears }),
    ...(keepOthersYears !== undefined && { keepOthersYears }),
  }
  if (Object.keys(change).length === 0) throw new LendingError('invalid_argument', 'at least one setting must be given')
  return change
}

function requireNoHigher({ approvalAbove: before }: Organization, { approvalAbove: after }: OrganizationChange): void {
  if (before === null || after === undefined || (after !== null && after <= before)) return
  throw new LendingError(
    'permission_denied',
    (nameOf) =>
      `${nameOf('approvalAbove')} can be set and lowered here; it is raised or cleared at the command line of the service, so that nobody who posts does so alone`,
  )
}

const limitOf = (amount: Decimal, currency: string): bigint =>
  toMinor(amount, currencyOf(currency), 'approvalAbove', { zeroAllowed: true })

function logoOf(content: Uint8Array): Logo {
  const logo = readLogo(content)
  if (typeof logo === 'string') throw invalidArgument('logo', logo)
  return logo
}

function requireText(role: FaultRole, text: string, longest: number): void {
  if (text.trim() === '' || text.length > longest || /\p{Cc}/u.test(text))
    throw invalidArgument(role, `must be 1 to ${longest} characters`)
}
