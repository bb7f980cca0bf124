import { isDeepStrictEqual } from 'node:util'
import {
  type CreditPosition,
  type CustomerNames,
  findCreditPosition,
  findDecision,
  type KeptDecision,
  listDecisions,
} from '../../db/credit/credit.ts'
import { hasRaised, keepBoost, raiseLimit, type StatementPrint } from '../../db/credit/limitIncreases.ts'
import type { Listed, Page } from '../../db/queries/cursor.ts'
import { requirePermission } from '../../domain/access/permissions.ts'
import {
  type BoostInputs,
  type BoostResult,
  type Decided,
  decideAgain,
  decideStatement,
} from '../../domain/credit/decision.ts'
import { fromStored, type Json, toStored } from '../../domain/credit/policyJson.ts'
import { dateIn } from '../../domain/dates.ts'
import { LendingError, notFound } from '../../domain/errors.ts'
import { type Currency, currencyOf } from '../../domain/money.ts'
import { holderOf } from '../../toolbox/gate.ts'
import type { Caller } from '../access/caller.ts'
import { abortedWhereKeyTaken } from '../access/idempotency.ts'
import type { Caches, Core, Deps } from '../deps.ts'
import { checkStatement, requireClaim } from '../walletStatements/check.ts'
import type { StatementFigures } from '../walletStatements/parse.ts'
import { statementHash } from '../walletStatements/reader.ts'
import { getScorecard, noSuchCustomer, policyInForce, policyOfVersion, type ScorecardNow } from './credit.ts'

export type { KeptDecision } from '../../db/credit/credit.ts'

/** A statement that a customer shows, with the name and the number that should be on it. */
export interface ShownStatement {
  readonly file: Uint8Array
  readonly fullName: string | undefined
  readonly mobileNumber: string | undefined
}

/** The figures that are kept of a statement, without the file and its owner. Minor units. */
export type ReadStatement = Omit<StatementFigures, 'owner' | 'phone' | 'fingerprint'> & {
  /** Whether a name and a number were given, and are those on the statement. */
  readonly nameChecked: boolean
  readonly mobileNumberChecked: boolean
}

/** A boost as it was decided. */
export interface BoostDecided {
  readonly externalId: string | null
  readonly currency: Currency
  readonly inputs: BoostInputs & { readonly statement: ReadStatement }
  readonly result: BoostResult
}

/** The most tries of a raise when another raise was faster each time. */
const MOST_TRIES = 20

/**
 * Raises a customer's limit by the statement of a wallet or a bank account (contract 4.5), or returns why not.
 * @param signal ends the reading, when the caller disconnects
 * @throws LendingError `not_found`; `invalid_argument` on `statement`, `fullName` or `mobileNumber`, saying what is
 *   wrong with it; `resource_exhausted` when too many statements are being read; nothing is changed then
 */
export async function boostLimit(
  deps: Core & Caches,
  caller: Caller,
  names: CustomerNames,
  { signal, ...shown }: ShownStatement & { readonly signal: AbortSignal },
): Promise<BoostDecided> {
  requirePermission(caller, 'loans.write')
  const position = await findCreditPosition(deps.db, caller.organizationId, names)
  if (!position) throw noSuchCustomer()
  const currency = currencyOf(position.currency)
  const { policy } = policyInForce(deps, position.policy, currency)
  const { fullName, mobileNumber } = shown
  requireClaim(shown, policy.statement)
  const figures = await deps.gates.statements.run(holderOf(caller), () =>
    deps.statements.read(shown.file, currency, signal),
  )
  const claim = { fullName, mobileNumber, today: dateIn(deps.config.zone, deps.now(caller.organizationId)) }
  checkStatement(figures, claim, policy.statement)
  const print = { hash: statementHash(shown.file), fingerprint: figures.fingerprint }
  const { owner: _owner, phone, fingerprint: _print, ...read } = figures
  const statement = {
    ...read,
    nameChecked: fullName !== undefined,
    mobileNumberChecked: mobileNumber !== undefined && phone !== null,
  }
  for (let attempt = 1; attempt <= MOST_TRIES; attempt++) {
    const decided = await tryBoost(deps, caller, names, { statement, print })
    if (decided) return decided
  }
  throw new LendingError('aborted', "the customer's limit is being changed by others at once; try again", [], 1)
}

/** Decides a boost on the customer's current position. @returns undefined when another raise was faster */
async function tryBoost(
  deps: Core,
  caller: Caller,
  names: CustomerNames,
  { statement, print }: { readonly statement: ReadStatement; readonly print: StatementPrint },
): Promise<BoostDecided | undefined> {
  const scored = await getScorecard(deps, caller, names)
  const { position, currency, card, scoredAt, inForce } = scored
  const inputs = {
    statement,
    score: card.score,
    grade: card.grade,
    currentLimit: card.creditLimit,
    lastRaisedOn: position.boosted?.on ?? null,
    seenBefore: await hasRaised(deps.db, caller.organizationId, print),
    today: dateIn(deps.config.zone, scoredAt),
    cooldownDays: inForce.cooldownDays,
  }
  const result = decideStatement(inputs, inForce.policy)
  const decision = toDecision(scored, inputs, result, print)
  if (result.boostStatus === 'raised') {
    const raise = { ...print, limit: result.creditLimit, on: inputs.today, boosts: position.boosts }
    if (!(await abortedWhereKeyTaken(raiseLimit(deps.db, caller, decision, raise)))) return undefined
  } else await abortedWhereKeyTaken(keepBoost(deps.db, caller, decision))
  return { externalId: position.externalId, currency, inputs, result }
}

function toDecision(
  { position, currency, card, scoredAt }: ScorecardNow,
  inputs: BoostInputs,
  result: BoostResult,
  print: StatementPrint,
) {
  const { boostStatus, creditLimit } = result
  return {
    customerId: position.customerId,
    at: scoredAt,
    policyVersion: card.policyVersion,
    inputs: JSON.stringify(toStored({ ...inputs, ...print }, currency)),
    result: JSON.stringify(toStored(result, currency)),
    trace: {
      action: 'boost',
      before: { creditLimit: inputs.currentLimit },
      after: { boostStatus, creditLimit, statement: print.hash },
    },
  }
}

/**
 * Returns a boost that was kept.
 * @throws LendingError `not_found`
 */
export async function getBoost(deps: Core, caller: Caller, decisionId: bigint): Promise<BoostDecided> {
  const kept = await findDecision(deps.db, caller.organizationId, decisionId)
  if (kept?.kind !== 'boost') throw notFound('no boost has that id')
  const position = await creditPositionById(deps, caller.organizationId, kept.customerId)
  return {
    externalId: position.externalId,
    currency: currencyOf(position.currency),
    inputs: fromStored(kept.inputs) as BoostDecided['inputs'],
    result: fromStored(kept.result) as BoostResult,
  }
}

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
async function creditPositionById(
  { db }: Pick<Deps, 'db'>,
  organizationId: number,
  customerId: bigint,
): Promise<CreditPosition> {
  const position = await findCreditPosition(db, organizationId, { externalId: null, id: customerId })
  if (!position) throw notFound('no customer has that id')
  return position
}
