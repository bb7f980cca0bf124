import type { LocalDate } from '../dates.ts'
import type { CreditHistory } from './history.ts'
import { type Boost, decideBoost, type Inflow, limitFromStatement } from './limit.ts'
import type { CreditPolicy, Grade } from './policy.ts'
import { type BoostedLimit, type Scorecard, scorecardOf } from './scorecard.ts'

/** The facts from which a score is computed. */
export interface ScoreInputs {
  readonly history: CreditHistory
  readonly boosted: BoostedLimit | null
}

/** The facts from which a boost is decided. Minor units. */
export interface BoostInputs {
  readonly statement: Inflow
  readonly score: number
  readonly grade: Grade
  readonly currentLimit: bigint
  readonly lastRaisedOn: LocalDate | null
  /** True where the statement has raised a limit before, of this customer or of another. */
  readonly seenBefore: boolean
  readonly today: LocalDate
  readonly cooldownDays: number
}

export interface BoostResult extends Boost {
  readonly statementLimit: bigint
}

/** A decision with its facts, as it is kept, so that it can be explained and decided again. */
export type Decided =
  | { readonly kind: 'score'; readonly inputs: ScoreInputs; readonly result: Scorecard }
  | { readonly kind: 'boost'; readonly inputs: BoostInputs; readonly result: BoostResult }

/** Computes the scorecard from the facts and a policy. */
export const decideScore = ({ history, boosted }: ScoreInputs, policy: CreditPolicy): Scorecard =>
  scorecardOf(history, boosted, policy)

/** Decides a boost from the facts and a policy. */
export function decideStatement(inputs: BoostInputs, policy: CreditPolicy): BoostResult {
  const statementLimit = limitFromStatement(inputs.statement, policy, inputs.grade)
  return { ...decideBoost({ ...inputs, statementLimit }), statementLimit }
}

/** Decides a decision's facts again, by the policy of that time; the same facts make the same result. */
export const decideAgain = (decided: Decided, policy: CreditPolicy): Decided['result'] =>
  decided.kind === 'score' ? decideScore(decided.inputs, policy) : decideStatement(decided.inputs, policy)
