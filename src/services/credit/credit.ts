import { createHash } from 'node:crypto'
import type { Author } from '../../db/audit/trail.ts'
import {
  type CreditPosition,
  type CustomerNames,
  findCreditPosition,
  findPolicy,
  findPolicyInForce,
  insertPolicy,
  keepScore,
  readLoansOf,
} from '../../db/credit/credit.ts'
import type { StoredLoan } from '../../db/loans/storedLoan.ts'
import type { Queries } from '../../db/queries/statement.ts'
import { hasPermission } from '../../domain/access/permissions.ts'
import { decideScore, type Scorecard, type ScoreInputs } from '../../domain/credit/decision.ts'
import { historyOf } from '../../domain/credit/history.ts'
import { type CreditPolicy, defaultPolicy } from '../../domain/credit/policy.ts'
import { policyToJson, policyToKeep, readPolicy, toStored } from '../../domain/credit/policyJson.ts'
import { scoreCustomer } from '../../domain/credit/score.ts'
import type { Instant } from '../../domain/dates.ts'
import { alreadyExists, invalidArgument, invariant, notFound } from '../../domain/errors.ts'
import { type Currency, currencyOf } from '../../domain/money.ts'
import { type Caller, mayOnlyPropose } from '../access/caller.ts'
import type { Core, Deps } from '../deps.ts'

export type { CustomerNames } from '../../db/credit/credit.ts'

/** The prefix of the service's own versions. */
const OF_THE_SERVICE = 'default-'

/** The policy of an organization in force. */
interface PolicyInForce {
  readonly policy: CreditPolicy
  /** Days between two raises of a limit: the organization's own, or else the service's setting. */
  readonly cooldownDays: number
}

/** A customer's scorecard at a moment, and its facts. Amounts in minor units of `currency`. */
export interface ScorecardNow {
  readonly position: CreditPosition
  readonly currency: Currency
  readonly inForce: PolicyInForce
  readonly inputs: ScoreInputs
  readonly card: Scorecard
  readonly scoredAt: Instant
}

/**
 * Computes a customer's scorecard (contract 4.5) from the book at this moment, and keeps it as a decision where it
 * differs from the one that was kept last. Nothing is kept for a caller without `loans.write`, nor for one who only proposes.
 * @throws LendingError `not_found`
 */
export async function getScorecard(deps: Core, caller: Caller, names: CustomerNames): Promise<ScorecardNow> {
  if (hasPermission(caller, 'loans.write') && !mayOnlyPropose(caller)) return scoreAndKeep(deps, caller, names)
  const scored = await scoreNow(deps, deps.db, caller.organizationId, names)
  if (!scored) throw noSuchCustomer()
  return scored
}

/** Computes and keeps a scorecard as `getScorecard` does, for a change by an author. @throws LendingError `not_found` */
export async function scoreAndKeep(deps: Core, author: Author, names: CustomerNames): Promise<ScorecardNow> {
  const scored = await scoreNow(deps, deps.db, author.organizationId, names)
  if (!scored) throw noSuchCustomer()
  await keep(deps, author, scored)
  return scored
}

/** Returns the refusal for a customer that does not exist. */
export const noSuchCustomer = () => notFound('no customer has that externalId or id')

/**
 * Scores a customer without keeping the score.
 * @param queries a connection, or a transaction whose view of the book counts
 */
export async function scoreNow(
  deps: Pick<Deps, 'now' | 'config'>,
  queries: Queries,
  organizationId: number,
  names: CustomerNames,
): Promise<ScorecardNow | undefined> {
  const position = await findCreditPosition(queries, organizationId, names)
  if (!position) return undefined
  const { customerId } = position
  const { zone } = deps.config
  const loans = await readLoansOf(queries, zone, organizationId, [customerId])
  const currency = currencyOf(position.currency)
  const inForce = policyInForce(deps, position.policy, currency)
  const scoredAt = deps.now(organizationId)
  const history = historyOf(loans.get(customerId) ?? [], { asOf: scoredAt, zone, currency })
  const inputs = { history, boosted: position.boosted }
  return { position, currency, inForce, inputs, card: decideScore(inputs, inForce.policy), scoredAt }
}

async function keep({ db }: Pick<Deps, 'db'>, author: Author, scored: ScorecardNow): Promise<void> {
  const { position, currency, inputs, card, scoredAt } = scored
  const digest = digestOf(scored)
  if (digest === position.scoreDigest) return
  const { score, grade, creditLimit, availableLimit, policyVersion } = card
  const decision = {
    customerId: position.customerId,
    at: scoredAt,
    policyVersion,
    inputs: JSON.stringify(toStored(inputs, currency)),
    result: JSON.stringify(toStored(card, currency)),
    trace: { action: 'score', before: null, after: { score, grade, creditLimit, availableLimit, policyVersion } },
  }
  // The Idempotency-Key of the request, if any, belongs to the change that the request makes.
  await keepScore(db, { ...author, claim: undefined }, decision, digest)
}

/** Returns a digest of facts, policy and result; without the day, which alone makes no new decision. */
function digestOf({ inputs: { history, boosted }, currency, card }: ScorecardNow): string {
  const { asOf: _, ...facts } = history
  const decided = JSON.stringify(toStored({ facts, boosted, card }, currency))
  return createHash('sha256').update(decided).digest('hex')
}

/**
 * Returns the scores of some customers of an organization, as of now, with two SQL statements for all of them. Unscored
 * customers (`XX`) are not in the result. Nothing is kept, because a list decides nothing.
 */
export async function scoresOf(
  deps: Core,
  { organizationId }: Pick<Author, 'organizationId'>,
  customerIds: readonly bigint[],
): Promise<ReadonlyMap<bigint, number>> {
  if (customerIds.length === 0) return new Map()
  const { zone } = deps.config
  const [found, loans] = await Promise.all([
    findPolicyInForce(deps.db, organizationId),
    readLoansOf(deps.db, zone, organizationId, customerIds),
  ])
  if (!found) return new Map()
  const currency = currencyOf(found.currency)
  const { policy } = policyInForce(deps, found.policy, currency)
  const asOf = deps.now(organizationId)
  const score = (of: readonly StoredLoan[]) => scoreCustomer(historyOf(of, { asOf, zone, currency }), policy)
  return new Map(
    [...loans].flatMap(([customerId, borrowed]) => {
      const scored = score(borrowed)
      return scored.grade === 'XX' ? [] : [[customerId, scored.score] as const]
    }),
  )
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
