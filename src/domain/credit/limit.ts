import { addPeriods, type LocalDate } from '../dates.ts'
import type { CreditHistory } from './history.ts'
import type { CreditPolicy, Grade } from './policy.ts'

/** What of a wallet's or bank's statement bears on a limit. Minor units of the policy's currency. */
export interface Inflow {
  /** Whole months that the statement covers. */
  readonly months: number
  readonly averageMonthlyInflow: bigint
}

/**
 * The limit that a statement supports: a share of the average monthly inflow, capped; a statement of fewer months than
 * the policy wants counts in proportion. 0 for a grade that the policy does not raise.
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

/** What may be borrowed now: the limit while nothing is outstanding, else nothing (contract 4.5). */
export const availableLimit = (limit: bigint, { loansOpen }: Pick<CreditHistory, 'loansOpen'>): bigint =>
  loansOpen === 0 ? limit : 0n

/** What a boost has to know. Minor units. */
export interface BoostQuestion {
  readonly currentLimit: bigint
  readonly statementLimit: bigint
  /** The day on which a statement last raised the limit; null: never. */
  readonly lastRaisedOn: LocalDate | null
  /** A statement raises a limit once. */
  readonly seenBefore: boolean
  readonly today: LocalDate
  readonly cooldownDays: number
}

/** What became of a boost, and the limit after it. */
export interface Boost {
  readonly boostStatus: 'raised' | 'unchanged' | 'cooldown'
  readonly creditLimit: bigint
  /** The first day on which another statement may raise the limit. */
  readonly nextBoostOn: LocalDate
}

/** Decides a boost: a limit is raised to what the statement supports, never lowered, and not again within the cooldown. */
export function decideBoost(question: BoostQuestion): Boost {
  const { currentLimit, statementLimit, lastRaisedOn, seenBefore, today, cooldownDays } = question
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
