import { isDeepStrictEqual } from 'node:util'
import type { Deps } from '../../app/deps.ts'
import {
  type CreditPosition,
  type CustomerNames,
  findCreditPosition,
  findDecision,
  type KeptDecision,
  listDecisions,
} from '../../db/credit/credit.ts'
import type { Listed, Page } from '../../db/queries/cursor.ts'
import { type Decided, decideAgain } from '../../domain/credit/decision.ts'
import { fromStored, type Json, toStored } from '../../domain/credit/policyJson.ts'
import { notFound } from '../../domain/errors.ts'
import { currencyOf } from '../../domain/money.ts'
import type { Caller } from '../access/caller.ts'
import { noSuchCustomer } from './credit.ts'
import { policyOfVersion } from './creditPolicies.ts'

export type { KeptDecision } from '../../db/credit/credit.ts'

/** A decision as it was kept, and the result of the same facts and the policy of that time now. */
export interface Replayed {
  readonly kept: KeptDecision
  /** As `kept.result` is stored: amounts as decimal text. */
  readonly again: Json
  /** Whether the result is what was decided then, as it always should be. */
  readonly same: boolean
}

/**
 * Returns a page of the decisions on a customer, newest first.
 * @throws LendingError `not_found`
 */
export async function pageDecisions(
  { db }: Pick<Deps, 'db'>,
  { organizationId }: Pick<Caller, 'organizationId'>,
  names: CustomerNames,
  page: Page,
): Promise<Listed<KeptDecision>> {
  const position = await findCreditPosition(db, organizationId, names)
  if (!position) throw noSuchCustomer()
  return listDecisions(db, organizationId, position.customerId, page)
}

/**
 * Decides a past decision again, on its facts and by the policy of that time.
 * @throws LendingError `not_found`
 */
export async function replayDecision(
  deps: Pick<Deps, 'db'>,
  { organizationId }: Pick<Caller, 'organizationId'>,
  id: bigint,
): Promise<Replayed> {
  const kept = await findDecision(deps.db, organizationId, id)
  if (!kept) throw notFound('no decision has that id')
  const { kind, policyVersion, inputs, result } = kept
  const currency = currencyOf((await creditPositionById(deps, organizationId, kept.customerId)).currency)
  const policy = await policyOfVersion(deps, organizationId, policyVersion, currency)
  const decided = { kind, inputs: fromStored(inputs), result: fromStored(result) } as Decided
  const again = toStored(decideAgain(decided, policy), currency)
  return { kept, again, same: isDeepStrictEqual(again, result) }
}

/** Returns the credit position of a customer, by number. @throws LendingError `not_found` */
export async function creditPositionById(
  { db }: Pick<Deps, 'db'>,
  organizationId: number,
  customerId: bigint,
): Promise<CreditPosition> {
  const position = await findCreditPosition(db, organizationId, { externalId: null, id: customerId })
  if (!position) throw notFound('no customer has that id')
  return position
}
