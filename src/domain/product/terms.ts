import type { PeriodUnit } from '../dates.ts'
import { COMPONENTS, type Component } from '../loan/portions.ts'
import type { Rate } from '../money.ts'

/** The rules by which days become years, by their names in contracts (contract 10.2). */
export const DAY_COUNTS = ['actual/365', 'actual/360', 'actual/actual', '30/360'] as const
export type DayCount = (typeof DAY_COUNTS)[number]

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
export const RATE_PERIODS = ['period', 'day', 'month', 'year'] as const
export type RatePer = (typeof RATE_PERIODS)[number]

/** How the length of a period becomes interest: each period alike, or by its days. */
export const PRODUCT_DAY_COUNTS = ['periods', ...DAY_COUNTS] as const
export type ProductDayCount = 'periods' | DayCount

export const FEE_BASES = ['fixed', 'principal', 'instalment'] as const
export type FeeBase = (typeof FEE_BASES)[number]

/** With which instalments a fee is due: the first, each, the last. */
export const FEE_TIMES = ['disbursement', 'each_instalment', 'due_date'] as const
export type FeeTime = (typeof FEE_TIMES)[number]

/** How a fee is collected: in the schedule, or kept back from what is paid out. */
export const FEE_TREATMENTS = ['added', 'deducted'] as const
export type FeeTreatment = (typeof FEE_TREATMENTS)[number]

/** Whether interest goes on after the last due date (contract 10.13). */
export const AFTER_DUE = ['none', 'runs_on'] as const

/** A tax that is added to a charge of a loan (contract 10.14). */
export interface Tax {
  readonly name: string
  /** In percent of the charge. */
  readonly rate: Rate
}

/** A fee that a loan has from the beginning. */
export interface Fee {
  readonly name: string
  readonly base: FeeBase
  /** Minor units for the base `fixed`, else millionths of a percent of the base. */
  readonly value: bigint
  readonly when: FeeTime
  readonly treatment: FeeTreatment
  /** Null: none. */
  readonly tax: Tax | null
}

/** What a penalty is a share of; `fixed` is an amount. */
export const PENALTY_BASES = ['principal', 'overdue_principal', 'overdue_total', 'fixed'] as const
export type PenaltyBase = (typeof PENALTY_BASES)[number]

/** How often a penalty is raised while something is unpaid; a period is the distance of instalments. */
export const PENALTY_REPEATS = ['once', 'day', 'week', 'period'] as const
export type PenaltyRepeat = (typeof PENALTY_REPEATS)[number]

/** Whether a penalty follows the last due date, or that of each instalment. */
export const PENALTY_SCOPES = ['loan', 'instalment'] as const
export type PenaltyScope = (typeof PENALTY_SCOPES)[number]

/** The penalties of a product (contract 10.7). */
export interface PenaltyTerms {
  readonly base: PenaltyBase
  /** Minor units for the base `fixed`, else millionths of a percent of the base. */
  readonly value: bigint
  readonly every: PenaltyRepeat
  readonly graceDays: number
  /** The most penalties of a loan, or of an instalment; null: no limit. */
  readonly maxTimes: number | null
  /** The most penalties of a loan, as a share of its principal; null: no limit. */
  readonly capOfPrincipal: Rate | null
  readonly per: PenaltyScope
}

/** The interest that a loan bears which is paid off early (contract 10.11). */
export const EARLY_SETTLEMENTS = ['full_interest', 'interest_to_date', 'interest_to_period_end'] as const
export type EarlySettlement = (typeof EARLY_SETTLEMENTS)[number]

/** The components of an instalment, in the order in which money pays them. */
export type AllocationOrder = readonly Component[]

/** Returns whether an order is the one of contract 4.3.5. */
export const isUsualOrder = (order: AllocationOrder): boolean => COMPONENTS.every((one, index) => order[index] === one)

/** A number of units of the calendar. */
export interface Distance {
  readonly every: number
  readonly unit: PeriodUnit
}

/** The bounds within which a loan of a product may be restructured; null: no such bound. */
export interface RestructureLimits {
  /** The most restructures of a loan, reversed ones not among them. */
  readonly maxTimes: number | null
  /** The least part of the principal that has to be repaid. */
  readonly minPaidPercent: Rate | null
  /** The most days from the last due date as it was lent to the last due date in force. */
  readonly maxDaysAdded: number | null
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
  /** Null: none, or the one-time penalty of `penaltyRate`. */
  readonly penalty: PenaltyTerms | null
  readonly earlySettlement: EarlySettlement
  /** How many days interest goes on after the last due date; null: it does not. */
  readonly daysAfterDue: number | null
  /** The tax on interest; null: none. */
  readonly interestTax: Tax | null
  /** The most interest, fees and penalties together, as a share of the principal; null: no limit. */
  readonly totalChargeCap: Rate | null
  readonly allocation: AllocationOrder
  /** The highest rate per month that the product's regulator allows; null: none. */
  readonly maxRatePerMonth: Rate | null
}

/** Returns whether a product has a tax, on its interest or on a fee. */
export const isTaxed = ({ interestTax, fees }: Pick<ProductTerms, 'interestTax' | 'fees'>): boolean =>
  interestTax !== null || fees.some(({ tax }) => tax !== null)
