import { addPeriods, type LocalDate } from '../dates.ts'
import type { CreditHistory } from './history.ts'
import type { CreditPolicy, Grade } from './policy.ts'

/** The facts of a statement from which a limit follows. Minor units of the policy's currency. */
export interface Inflow {
  /** Whole months that the statement covers. */
  readonly months: number
  readonly averageMonthlyInflow: bigint
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

/** The facts from which a boost is decided. Minor units. */
export interface BoostFacts {
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
export interface Boost {
  readonly boostStatus: 'raised' | 'unchanged' | 'cooldown'
  readonly creditLimit: bigint
  /** The first day on which another statement may raise the limit. */
  readonly nextBoostOn: LocalDate
}

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
