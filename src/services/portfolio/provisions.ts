import { aloneFor } from '../../db/postgres/transaction.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import type { LocalDate } from '../../domain/dates.ts'
import { failedPrecondition, LendingError } from '../../domain/errors.ts'
import { type Group, groupsOf, NO_SUMS } from '../../domain/portfolio/cells.ts'
import type { Caller } from '../access/caller.ts'
import { type BookedProvisions, bookProvisions, readBookedProvisions } from '../accounting/bookProvisions.ts'
import type { Caches, Core } from '../deps.ts'
import { type PortfolioDay, type PortfolioRequest, readPortfolio } from './portfolio.ts'

/** Seconds after which a booking that came while another was made is worth trying again. */
const AGAIN_SECONDS = 5

/** The provisions for the loans of a currency and product. Amounts in minor units. */
export interface ProvisionGroup extends Omit<Group, 'productId' | 'month' | 'isRestructured' | 'officerId'> {
  /** Null: loans of no product, but of a record system. */
  readonly productId: number | null
  /** The allowance in the journal with value dates up to the day. */
  readonly booked: bigint
}

/** The provisions of a portfolio. */
export interface Provisions extends Omit<PortfolioDay, 'cells' | 'knownAt'> {
  readonly groups: readonly ProvisionGroup[]
}

/**
 * Returns the provisions of the caller's organization as of a day, and what of them is booked (contract 11.12).
 * @throws LendingError `permission_denied`; `failed_precondition` for a policy without rates; `unavailable` while the
 *   journal is behind; and as `readPortfolio`
 */
export async function getProvisions(
  deps: Core & Caches,
  caller: Caller,
  request: Pick<PortfolioRequest, 'asOf' | 'policy'>,
): Promise<Provisions> {
  requirePermission(caller, 'reports.read')
  const { cells, asOf, policy } = await readPortfolio(deps, caller, request)
  requireRates(policy.policy.buckets)
  const booked = await readBookedProvisions(deps, caller.organizationId, asOf)
  const bookedOf = (currency: string, productId: number | null) =>
    booked.find((one) => one.currency === currency && one.productId === productId)?.amount ?? 0n
  const groups = groupsOf(cells, policy.policy, ['product']).map(({ productId = null, ...group }) => ({
    ...group,
    productId,
    booked: bookedOf(group.currency, productId),
  }))
  const isThere = ({ currency, productId }: { currency: string; productId: number | null }) =>
    groups.some((group) => group.currency === currency && group.productId === productId)
  // Booked for loans of which none is open any more.
  const gone = booked
    .filter((one) => !isThere(one))
    .map(({ currency, productId, amount }) => ({
      currency,
      productId,
      total: NO_SUMS,
      booked: amount,
      buckets: policy.policy.buckets.map((bucket) => ({ bucket, ...NO_SUMS })),
    }))
  return { asOf, policy, groups: [...groups, ...gone] }
}

/**
 * Books the provisions of the caller's organization as of a day, by the policy in force (contract 11.13): one booking at a
 * time, so that none books older sums than the one before.
 * @throws LendingError as `getProvisions` and `bookProvisions`; `unavailable` while another booking is made
 */
export async function bookPortfolioProvisions(
  deps: Core & Caches,
  caller: Caller,
  request: { readonly asOf?: LocalDate | undefined },
): Promise<BookedProvisions> {
  requirePermission(caller, 'accounting.manage')
  const booked = await aloneFor(deps.db, { name: 'provisions', organizationId: caller.organizationId }, () =>
    computeAndBook(deps, caller, request),
  )
  if (booked) return booked
  throw new LendingError('unavailable', 'other provisions are being booked; try again', [], AGAIN_SECONDS)
}

async function computeAndBook(
  deps: Core & Caches,
  caller: Caller,
  request: { readonly asOf?: LocalDate | undefined },
): Promise<BookedProvisions> {
  const { cells, asOf, policy } = await readPortfolio(deps, caller, request)
  requireRates(policy.policy.buckets)
  const provisions = groupsOf(cells, policy.policy, ['product']).map(({ currency, productId = null, total }) => ({
    currency,
    productId,
    amount: total.provision,
  }))
  const { version, name } = policy
  return bookProvisions(deps, caller, { asOf, policy: { version, ...(name !== null && { preset: name }) }, provisions })
}

/** @throws LendingError `failed_precondition` where no bucket has a rate */
function requireRates(buckets: PortfolioDay['policy']['policy']['buckets']): void {
  if (buckets.every(({ provisionRate }) => provisionRate === null))
    throw failedPrecondition(
      'no bucket of the policy has a provisionRate: set a policy with rates, such as {"preset": "cbk"}, and ask then',
    )
}
