import {
  insertPolicy,
  listPolicies as list,
  type PolicyRow,
  readNewestPolicy,
  readPolicy,
  readPolicyAt,
} from '../../db/delinquency/policies.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import type { Instant } from '../../domain/dates.ts'
import { type NewPolicy, policyOf } from '../../domain/delinquency/newPolicy.ts'
import type { DelinquencyPolicy } from '../../domain/delinquency/policy.ts'
import { fromStoredPolicy, PRESETS, toStoredPolicy } from '../../domain/delinquency/policy.ts'
import { invalidArgument } from '../../domain/errors.ts'
import { currencyOf } from '../../domain/money.ts'
import { LARGEST_INT32 } from '../../toolbox/integers.ts'
import type { Caller } from '../access/caller.ts'
import type { Deps } from '../deps.ts'
import { getOrganization } from '../organizations/organizations.ts'

/** A policy that arrears are answered by. */
export interface NamedPolicy {
  /** The version of the lender's policies; 0 before the first one was set. Null: a preset that was asked for by name. */
  readonly version: number | null
  /** The name of the preset; null: the lender's own policy. */
  readonly name: string | null
  /** Where the figures of the preset are from; null: the lender's own policy. */
  readonly source: string | null
  readonly policy: DelinquencyPolicy
}

/** A version of a lender's policies. */
export interface PolicyVersion extends NamedPolicy {
  readonly version: number
  /** Null for version 0, which nobody has set. */
  readonly setAt: Instant | null
}

/** The policy that is asked for: by the name of a preset, by its version, or the one that was in force at an instant. */
export interface PolicyRequest {
  readonly name?: string | undefined
  readonly version?: number | undefined
  /** Left out: now. */
  readonly knownAt?: Instant | undefined
}

/** The versions that are listed at once. */
const MOST_LISTED = 1_000

/** The policy of a lender that has set none. */
const FIRST: PolicyVersion = { version: 0, setAt: null, ...PRESETS[0] }

const versionOf = (row: PolicyRow | undefined): PolicyVersion => {
  if (!row) return FIRST
  const { version, name, rules, createdAt } = row
  const source = PRESETS.find((preset) => preset.name === name)?.source ?? null
  return { version, name, source, policy: fromStoredPolicy(rules), setAt: createdAt }
}

/** Returns the name or the version that a text stands for. */
export const namedBy = (asked: string | undefined): Pick<PolicyRequest, 'name' | 'version'> =>
  asked !== undefined && /^\d{1,10}$/.test(asked) ? { version: Number(asked) } : { name: asked }

/**
 * Returns the policy of a lender that is asked for; without a name or a version, the one in force.
 * @throws LendingError `invalid_argument` for a name or a version that is none
 */
export async function findPolicy(
  { db }: Pick<Deps, 'db'>,
  organizationId: number,
  { name, version, knownAt }: PolicyRequest,
): Promise<NamedPolicy> {
  if (name !== undefined) {
    const preset = PRESETS.find((one) => one.name === name)
    if (!preset) throw noSuchPolicy()
    return { version: null, ...preset }
  }
  if (version === undefined)
    return versionOf(
      await (knownAt === undefined ? readNewestPolicy(db, organizationId) : readPolicyAt(db, organizationId, knownAt)),
    )
  const found = await findVersion(db, organizationId, version)
  if (!found) throw noSuchPolicy()
  return found
}

/** Returns the policy of a lender in force now; calls that arrive together share one statement. */
export const findPolicyInForce = async (
  { loanBatches }: Pick<Deps, 'loanBatches'>,
  organizationId: number,
): Promise<PolicyVersion> => versionOf(await loanBatches.readNewestPolicy(organizationId))

const noSuchPolicy = () =>
  invalidArgument(
    'policy',
    `must be one of ${PRESETS.map((one) => one.name).join(', ')}, or the number of a version of the policy`,
  )

/** Finds a version; undefined where there is none. */
async function findVersion(db: Deps['db'], organizationId: number, version: number) {
  if (version === FIRST.version) return FIRST
  const row = version > 0 && version <= LARGEST_INT32 ? await readPolicy(db, organizationId, version) : undefined
  return row && versionOf(row)
}

/**
 * Returns a version of the policies of the caller's organization; without a version, the one in force.
 * @throws LendingError `invalid_argument` for a version that there is not
 */
export async function getPolicy(
  { db }: Pick<Deps, 'db'>,
  { organizationId }: Pick<Caller, 'organizationId'>,
  version?: number,
): Promise<PolicyVersion> {
  if (version === undefined) return versionOf(await readNewestPolicy(db, organizationId))
  const found = await findVersion(db, organizationId, version)
  if (found) return found
  const newest = versionOf(await readNewestPolicy(db, organizationId))
  throw invalidArgument('version', `must be a version that there is: 0 to ${newest.version}`)
}

/** Returns the versions of the policies of the caller's organization, the newest first, 1,000 at most and version 0. */
export async function listPolicies(
  { db }: Pick<Deps, 'db'>,
  { organizationId }: Pick<Caller, 'organizationId'>,
): Promise<PolicyVersion[]> {
  return [...(await list(db, organizationId, MOST_LISTED)).map(versionOf), FIRST]
}

/**
 * Sets the policy of the caller's organization, which is in force from the next request on. The rules in force again make
 * no new version, unless the request gives them the name of a preset that they did not have.
 * @throws LendingError `permission_denied`; `invalid_argument` that lists what is at fault
 */
export async function setPolicy(
  deps: Pick<Deps, 'db' | 'now' | 'organizations'>,
  caller: Caller,
  request: NewPolicy,
): Promise<PolicyVersion> {
  requirePermission(caller, 'products.manage')
  const { currency } = await getOrganization(deps, caller)
  const { name, policy } = policyOf(request, currencyOf(currency))
  const rules = toStoredPolicy(policy)
  const now = deps.now(caller.organizationId)
  let inForce = FIRST
  const set = await insertPolicy(deps.db, caller, now, (newest) => {
    inForce = versionOf(newest)
    const before = { name: inForce.name, rules: toStoredPolicy(inForce.policy) }
    const isSame = JSON.stringify(before.rules) === JSON.stringify(rules) && (name === null || name === before.name)
    return isSame ? undefined : { version: inForce.version + 1, name, rules, before }
  })
  return set ? versionOf({ version: set.version, name, rules, createdAt: now }) : inForce
}
