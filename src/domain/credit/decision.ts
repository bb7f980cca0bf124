import type { LocalDate } from '../dates.ts'
import type { CreditHistory } from './history.ts'
import { type Boost, decideBoost, type Inflow, limitFromStatement } from './limit.ts'
import type { CreditPolicy, Grade } from './policy.ts'
import { type BoostedLimit, type Scorecard, scorecardOf } from './scorecard.ts'

/** The facts that a score is made of. */
export interface ScoreInputs {
  readonly history: CreditHistory
  readonly boosted: BoostedLimit | null
}

/** The facts that a boost is decided on. Minor units. */
export interface BoostInputs {
  readonly statement: Inflow
  readonly score: number
  readonly grade: Grade
  readonly currentLimit: bigint
  readonly lastRaisedOn: LocalDate | null
  /** The statement has raised a limit before, this customer's or another's. */
  readonly seenBefore: boolean
  readonly today: LocalDate
  readonly cooldownDays: number
}

export interface BoostResult extends Boost {
  readonly statementLimit: bigint
}

/** What was decided, and on what: as it is kept, so that it can be explained and decided again. */
export type Decided =
  | { readonly kind: 'score'; readonly inputs: ScoreInputs; readonly result: Scorecard }
  | { readonly kind: 'boost'; readonly inputs: BoostInputs; readonly result: BoostResult }

/** The score that the facts and the policy make. */
export const decideScore = ({ history, boosted }: ScoreInputs, policy: CreditPolicy): Scorecard =>
  scorecardOf(history, boosted, policy)

/** What becomes of a statement, by the facts and the policy. */
export function decideStatement(inputs: BoostInputs, policy: CreditPolicy): BoostResult {
  const statementLimit = limitFromStatement(inputs.statement, policy, inputs.grade)
  return { ...decideBoost({ ...inputs, statementLimit }), statementLimit }
}

/** Decides again what was decided, by the policy of that time: the same facts make the same result. */
export const decideAgain = (decided: Decided, policy: CreditPolicy): Decided['result'] =>
  decided.kind === 'score' ? decideScore(decided.inputs, policy) : decideStatement(decided.inputs, policy)
