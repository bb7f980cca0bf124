import type { PeriodUnit } from '../dates.ts'
import type { Rate } from '../money.ts'
import { DAY_COUNTS, type DayCount } from '../schedule/dayCount.ts'

// The words of a product's terms (contract 10).

/** The methods of interest: flat on the principal, or on the balance with three ways to repay the principal. */
export const PRODUCT_METHODS = [
  'flat',
  'declining_equal_instalments',
  'declining_equal_principal',
  'interest_only',
] as const
export type ProductMethod = (typeof PRODUCT_METHODS)[number]

/** What a rate is per: a period is the distance of instalments. */
export const RATE_PERIODS = ['period', 'month', 'year'] as const
export type RatePer = (typeof RATE_PERIODS)[number]

/** How the length of a period becomes interest: each period alike, or by its days. */
export const PRODUCT_DAY_COUNTS = ['periods', ...DAY_COUNTS] as const
export type ProductDayCount = 'periods' | DayCount

export const FEE_BASES = ['fixed', 'principal', 'instalment'] as const
export type FeeBase = (typeof FEE_BASES)[number]

/** With which instalments a fee is due: the first, each, the last. */
export const FEE_TIMES = ['disbursement', 'each_instalment', 'due_date'] as const
export type FeeTime = (typeof FEE_TIMES)[number]

/** A fee that the schedule has from the beginning. */
export interface Fee {
  readonly name: string
  readonly base: FeeBase
  /** Minor units for the base `fixed`, else millionths of a percent of the base. */
  readonly value: bigint
  readonly when: FeeTime
}

/** A number of units of the calendar. */
export interface Distance {
  readonly every: number
  readonly unit: PeriodUnit
}

/** What a product has beyond flat interest per period. */
export interface ProductTerms {
  readonly interestMethod: ProductMethod
  readonly interestRate: Rate
  readonly ratePer: RatePer
  readonly dayCount: ProductDayCount
  /** Instalments at the beginning without principal. */
  readonly principalGrace: number
  /** Instalments at the beginning without interest, which is due with the one after them. */
  readonly interestGrace: number
  /** From disbursement to the first due date; null: the distance of instalments. */
  readonly firstDueAfter: Distance | null
  readonly fees: readonly Fee[]
  /** The highest rate per month that the product's regulator allows; null: none. */
  readonly maxRatePerMonth: Rate | null
}
