import { invariant } from '../errors.ts'
import type { Currency } from '../money.ts'

/** The grades of scores, best first. */
export const GRADES = ['A', 'B', 'C', 'D'] as const

/** A grade, or `XX` for a customer who is unscored, because the book has no history yet (contract 4.5). */
export type Grade = (typeof GRADES)[number] | 'XX'

/** Points for a fact that grows: all of `weight` from `full` on, in proportion below. */
export interface Ramp<T> {
  readonly weight: number
  readonly full: T
}

/** The limit of a grade: a share of the largest principal repaid, within bounds in minor units. */
export interface GradeLimit {
  readonly percent: number
  readonly least: bigint
  readonly most: bigint
}

/**
 * The weights and bounds by which an organization turns a history into a score and a limit. The same version and the
 * same history always give the same result, so a change of any figure needs a new version. Amounts in minor units.
 */
export interface CreditPolicy {
  readonly version: string
  readonly currency: Currency
  readonly score: {
    /** The points of every scored customer; with the weights below they sum to 1000 at most. */
    readonly base: number
    /**
     * Points for the share of instalments paid by their due date, among all and `prior` further ones that count as
     * unpaid.
     */
    readonly onTime: { readonly weight: number; readonly prior: number }
    readonly loansClosed: Ramp<number>
    readonly months: Ramp<number>
    readonly largestRepaid: Ramp<bigint>
    /** Points taken off for the longest delay ever: in proportion up to `fullDays`. */
    readonly worstDelay: { readonly most: number; readonly fullDays: number }
    /** Points taken off while something is overdue: `first` at once, growing to `most` at `fullDays`. */
    readonly overdueNow: { readonly first: number; readonly most: number; readonly fullDays: number }
    /** The highest score after a loss: written off, charged off and still owed, or either and since paid back. */
    readonly ceilings: { readonly writtenOff: number; readonly chargedOff: number; readonly recovered: number }
  }
  /** The lowest score of each grade; below C is D. */
  readonly grades: { readonly A: number; readonly B: number; readonly C: number }
  readonly limits: Readonly<Record<(typeof GRADES)[number], GradeLimit>>
  /** Limits are multiples of this, rounded down. */
  readonly step: bigint
  readonly statement: {
    /** Percent of the average monthly inflow. */
    readonly percent: number
    /** Months from which a statement counts in full; below, it counts in proportion. */
    readonly fullMonths: number
    readonly most: bigint
    readonly leastMonths: number
    /** The most days since the end of a statement. */
    readonly oldestDays: number
    /** Days between two raises of a limit. */
    readonly cooldownDays: number
    /** The grades whose limit a statement may raise; a bad history excludes a customer with any inflow. */
    readonly grades: readonly Grade[]
    /** Whether a statement counts where the caller gave neither the name nor the number on it. */
    readonly anonymous: boolean
  }
}

/** The unit of the default amounts: major units worth about 4 US dollars in each currency. */
const UNITS: Readonly<Record<string, bigint>> = {
  TZS: 10_000n,
  KES: 500n,
  UGX: 10_000n,
  RWF: 5_000n,
  BIF: 10_000n,
  ETB: 500n,
}

/** Returns the policy of an organization that has set none, with amounts for its currency; see docs/credit.md. */
export function defaultPolicy(currency: Currency): CreditPolicy {
  const major = UNITS[currency.code]
  invariant(major !== undefined, `a default policy for ${currency.code}`)
  const unit = major * 10n ** BigInt(currency.decimals)
  return {
    version: 'default-1',
    currency,
    score: {
      base: 300,
      onTime: { weight: 300, prior: 2 },
      loansClosed: { weight: 150, full: 6 },
      months: { weight: 100, full: 24 },
      largestRepaid: { weight: 150, full: 100n * unit },
      worstDelay: { most: 250, fullDays: 90 },
      overdueNow: { first: 60, most: 300, fullDays: 30 },
      ceilings: { writtenOff: 150, chargedOff: 250, recovered: 550 },
    },
    grades: { A: 750, B: 600, C: 300 },
    limits: {
      A: { percent: 200, least: 20n * unit, most: 1000n * unit },
      B: { percent: 150, least: 10n * unit, most: 500n * unit },
      C: { percent: 100, least: 5n * unit, most: 200n * unit },
      D: { percent: 0, least: 0n, most: 0n },
    },
    step: unit / 10n,
    statement: {
      percent: 30,
      fullMonths: 6,
      most: 300n * unit,
      leastMonths: 2,
      oldestDays: 90,
      cooldownDays: 30,
      grades: ['XX', 'A', 'B', 'C'],
      anonymous: false,
    },
  }
}
