import type { Deps } from '../../app/deps.ts'
import type { Author } from '../../db/audit/trail.ts'
import { findPolicy, findPolicyInForce, insertPolicy } from '../../db/credit/credit.ts'
import { type CreditPolicy, defaultPolicy } from '../../domain/credit/policy.ts'
import { policyToJson, policyToKeep, readPolicy } from '../../domain/credit/policyJson.ts'
import { alreadyExists, invalidArgument, invariant, notFound } from '../../domain/errors.ts'
import { type Currency, currencyOf } from '../../domain/money.ts'

/** The prefix of the service's own versions. */
const OF_THE_SERVICE = 'default-'

/** The policy of an organization in force. */
export interface PolicyInForce {
  readonly policy: CreditPolicy
  /** Days between two raises of a limit: the organization's own, or else the service's setting. */
  readonly cooldownDays: number
}

/** Returns the organization's own policy, or the default of its currency. */
export function policyInForce({ config }: Pick<Deps, 'config'>, stored: unknown, currency: Currency): PolicyInForce {
  if (stored === null) return { policy: defaultPolicy(currency), cooldownDays: config.boostCooldownDays }
  const policy = readPolicy(stored)
  return { policy, cooldownDays: policy.statement.cooldownDays }
}

/** Returns the policy by which a decision was made. */
export async function policyOfVersion(
  { db }: Pick<Deps, 'db'>,
  organizationId: number,
  version: string,
  currency: Currency,
): Promise<CreditPolicy> {
  const stored = await findPolicy(db, organizationId, version)
  if (stored !== undefined) return readPolicy(stored)
  const policy = defaultPolicy(currency)
  // A default policy with other figures gets another version, beside this one.
  invariant(policy.version === version, `a credit policy of version ${version}`)
  return policy
}

/** Returns an organization's policy in force. @throws LendingError `not_found` */
export async function getCreditPolicy(
  deps: Pick<Deps, 'db' | 'config'>,
  organizationId: number,
): Promise<PolicyInForce> {
  const found = await findPolicyInForce(deps.db, organizationId)
  if (!found) throw notFound('no organization has that id')
  return policyInForce(deps, found.policy, currencyOf(found.currency))
}

/**
 * Puts a policy in force for the author's organization, from the next request on. A policy with the same figures as the
 * one in force changes nothing.
 * @throws LendingError `invalid_argument` naming the first figure at fault, `not_found` for the organization,
 *   `already_exists` when the version has other figures or is no longer the one in force
 */
export async function setCreditPolicy(
  deps: Pick<Deps, 'db' | 'now' | 'config'>,
  author: Author,
  json: unknown,
): Promise<CreditPolicy> {
  const policy = readPolicy(json)
  const { version, currency } = policy
  const { policy: before } = await getCreditPolicy(deps, author.organizationId)
  if (version.startsWith(OF_THE_SERVICE))
    throw invalidArgument('policy.version', `must not begin with ${OF_THE_SERVICE}: those are the service's own`)
  if (currency.code !== before.currency.code)
    throw invalidArgument('policy.currency', `must be ${before.currency.code}, the organization's`)
  if (JSON.stringify(policyToJson(before)) === JSON.stringify(policyToJson(policy))) return policy
  if (
    !(await insertPolicy(deps.db, author, { version, policy: policyToKeep(policy) }, deps.now(author.organizationId)))
  )
    throw alreadyExists('policy.version', 'a credit policy of that version exists already: take a new one')
  return policy
}
