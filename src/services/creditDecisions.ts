import { type CreditStanding, findStanding } from '../db/credit.ts'
import { type KeptDecision, listDecisions } from '../db/creditDecisions.ts'
import type { Deps } from '../deps.ts'
import { type Decided, decideAgain } from '../domain/credit/decision.ts'
import { fromStored } from '../domain/credit/stored.ts'
import { notFound } from '../domain/errors.ts'
import { currencyOf } from '../domain/money.ts'
import type { Caller } from './caller.ts'
import { policyOfVersion } from './creditPolicies.ts'
import type { Listed, Page } from './paging.ts'

export type { KeptDecision } from '../db/creditDecisions.ts'

/** A page of what was decided of a customer, newest first. */
export const pageDecisions = (
  { db }: Pick<Deps, 'db'>,
  caller: Pick<Caller, 'organizationId'>,
  customerId: bigint,
  page: Page,
): Promise<Listed<KeptDecision>> => listDecisions(db, caller.organizationId, customerId, page)

/** Decides again what was decided, on the facts and by the policy of then. */
export async function replayDecision(
  deps: Pick<Deps, 'db'>,
  { organizationId }: Pick<Caller, 'organizationId'>,
  { customerId, kind, policyVersion, inputs, result }: KeptDecision,
): Promise<Decided['result']> {
  const { currency } = await findStandingOf(deps, organizationId, customerId)
  const policy = await policyOfVersion(deps, organizationId, policyVersion, currencyOf(currency))
  return decideAgain({ kind, inputs: fromStored(inputs), result: fromStored(result) } as Decided, policy)
}

/** Where a customer stands, by number. @throws LendingError `not_found` */
export async function findStandingOf(
  { db }: Pick<Deps, 'db'>,
  organizationId: number,
  customerId: bigint,
): Promise<CreditStanding> {
  const standing = await findStanding(db, organizationId, { externalId: null, id: customerId })
  if (!standing) throw notFound('no customer has that id')
  return standing
}
