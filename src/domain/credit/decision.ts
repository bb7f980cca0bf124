import { addPeriods, type LocalDate } from '../dates.ts'
import { failedPrecondition } from '../errors.ts'
import { type Currency, min, minorToText } from '../money.ts'
import type { CreditHistory } from './history.ts'
import type { CreditPolicy, Grade } from './policy.ts'
import { type CreditScore, inWords, scoreCustomer } from './score.ts'

/** A limit that a statement raised, and the day. Minor units. */
interface BoostedLimit {
  readonly limit: bigint
  readonly on: LocalDate
}

/** A score and its limits. Minor units of the policy's currency. */
export interface Scorecard extends CreditScore {
  /** The limit by the history, or the one that a statement raised. */
  readonly creditLimit: bigint
  /** 0 while anything is outstanding. */
  readonly availableLimit: bigint
}

/** The facts from which a score is computed. */
export interface ScoreInputs {
  readonly history: CreditHistory
  readonly boosted: BoostedLimit | null
}

/** The facts of a statement from which a limit follows. Minor units of the policy's currency. */
interface Inflow {
  /** Whole months that the statement covers. */
  readonly months: number
  readonly averageMonthlyInflow: bigint
}

/** The facts from which a boost is decided. Minor units. */
interface BoostFacts {
  readonly currentLimit: bigint
  readonly statementLimit: bigint
  /** The day on which a statement last raised the limit; null: never. */
  readonly lastRaisedOn: LocalDate | null
  /** True where the statement has raised a limit before; a statement raises a limit once. */
  readonly seenBefore: boolean
  readonly today: LocalDate
  readonly cooldownDays: number
}

/** The result of a boost, and the limit after it. */
interface Boost {
  readonly boostStatus: 'raised' | 'unchanged' | 'cooldown'
  readonly creditLimit: bigint
  /** The first day on which another statement may raise the limit. */
  readonly nextBoostOn: LocalDate
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

/**
 * Computes a customer's scorecard (contract 4.5). A limit that a statement raised counts up to the policy's maximum for
 * statements, and only while the policy lets statements raise the customer's grade: a customer who falls to D loses the
 * limit, and has it again after rising.
 */
export function scorecardOf(history: CreditHistory, boosted: BoostedLimit | null, policy: CreditPolicy): Scorecard {
  const score = scoreCustomer(history, policy)
  const { grades, most } = policy.statement
  const raised = boosted !== null && grades.includes(score.grade) ? min(boosted.limit, most) : 0n
  const creditLimit = raised > score.limit ? raised : score.limit
  return {
    ...score,
    creditLimit,
    availableLimit: availableLimit(creditLimit, history),
    reasons: boosted === null ? score.reasons : [...score.reasons, ...sayBoosted(boosted, raised, score, policy)],
  }
}

function sayBoosted(
  { limit, on }: BoostedLimit,
  raised: bigint,
  score: CreditScore,
  { currency }: CreditPolicy,
): string[] {
  if (limit <= score.limit) return []
  if (raised === 0n) return [`the limit that a statement raised on ${on} does not count at grade ${score.grade}`]
  return raised <= score.limit ? [] : [`limit raised to ${inWords(raised, currency)} by a statement on ${on}`]
}

/**
 * Requires that a loan is within the available credit limit.
 * @throws LendingError `failed_precondition`, with the limit in its message
 */
export function requireWithinLimit(
  { creditLimit, availableLimit: available, grade }: Scorecard,
  limits: Currency,
  { principal, currency }: { readonly principal: bigint; readonly currency: Currency },
): void {
  if (currency.code !== limits.code)
    throw failedPrecondition(
      `the product lends in ${currency.code} up to the credit limit, and limits here are in ${limits.code}`,
    )
  if (principal <= available) return
  const say = (amount: bigint) => `${minorToText(amount, currency)} ${currency.code}`
  const why =
    available === creditLimit
      ? `the customer's grade is ${grade}`
      : `the limit of ${say(creditLimit)} is available while nothing is outstanding`
  throw failedPrecondition(`the principal is above the available credit limit of ${say(available)}: ${why}`)
}

/**
 * Returns the limit that a statement supports: a share of the average monthly inflow, capped. A statement of fewer
 * months than the policy wants counts in proportion. 0 for a grade that the policy does not raise.
 */
export function limitFromStatement(
  { months, averageMonthlyInflow }: Inflow,
  { statement, step }: CreditPolicy,
  grade: Grade,
): bigint {
  if (!statement.grades.includes(grade)) return 0n
  const counted = BigInt(Math.min(months, statement.fullMonths))
  const inflow = averageMonthlyInflow > 0n ? averageMonthlyInflow : 0n
  const share = (inflow * BigInt(statement.percent) * counted) / (100n * BigInt(statement.fullMonths))
  const capped = share < statement.most ? share : statement.most
  return capped - (capped % step)
}

/** Returns what may be borrowed now: the limit while nothing is outstanding, else 0 (contract 4.5). */
export const availableLimit = (limit: bigint, { loansOpen }: Pick<CreditHistory, 'loansOpen'>): bigint =>
  loansOpen === 0 ? limit : 0n

/**
 * Decides a boost: a limit is raised to what the statement supports, never lowered, and not again within the cooldown.
 */
export function decideBoost(facts: BoostFacts): Boost {
  const { currentLimit, statementLimit, lastRaisedOn, seenBefore, today, cooldownDays } = facts
  const freeOn = lastRaisedOn === null ? today : addPeriods(lastRaisedOn, cooldownDays, 'days')
  if (freeOn > today) return { boostStatus: 'cooldown', creditLimit: currentLimit, nextBoostOn: freeOn }
  if (seenBefore || statementLimit <= currentLimit)
    return { boostStatus: 'unchanged', creditLimit: currentLimit, nextBoostOn: today }
  return {
    boostStatus: 'raised',
    creditLimit: statementLimit,
    nextBoostOn: addPeriods(today, cooldownDays, 'days'),
  }
}
