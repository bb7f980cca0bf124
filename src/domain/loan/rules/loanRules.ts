import { applyRate, largestIn, type Rate } from '../../money.ts'
import type { Product } from '../../product/product.ts'
import {
  type AllocationOrder,
  type Distance,
  type EarlySettlement,
  isTaxed,
  isUsualOrder,
  type PenaltyBase,
  type PenaltyScope,
  type PenaltyTerms,
  type ProductTerms,
  type Tax,
} from '../../product/terms.ts'
import { deductedOf, type FeeTax, feeTaxesOf } from '../../schedule/fees.ts'
import type { Instalment } from '../../schedule/schedule.ts'
import { withoutInterestTax } from '../../schedule/taxes.ts'
import { COMPONENTS } from '../portions.ts'
import type { HeldDays } from './heldDaysText.ts'

/** The penalties of a loan (contract 10.7). Amounts in minor units. */
export interface PenaltyRule {
  /** What a penalty is a share of; `fixed`: the value is the amount itself. */
  readonly base: Exclude<PenaltyBase, 'principal'>
  /** Minor units for the base `fixed`, else millionths of a percent of the base. */
  readonly value: bigint
  /** The distance of penalties; null: there is one. */
  readonly every: Distance | null
  readonly graceDays: number
  /** How many penalties may be raised on the loan, or on an instalment; null: no limit. */
  readonly maxTimes: number | null
  /** The largest sum of the loan's penalties, minor units; single charges are among them. */
  readonly most: bigint
  readonly per: PenaltyScope
  /** Days on which none is raised: of a loan, and not of its terms; left out: none. */
  readonly held?: readonly HeldDays[] | undefined
}

/** A loan that another one paid off out of its principal. */
export interface SettledLoan {
  readonly loanId: bigint
  /** By which the request for the new loan named it. */
  readonly externalId: string
  /** Minor units. */
  readonly amount: bigint
}

/** Interest that runs on after the last due date while principal is unpaid (contract 10.13). */
export interface AfterDueRule {
  /** Of a day, without tax. */
  readonly rate: Rate
  /** The days after the last due date on which it is raised. */
  readonly maxDays: number
}

/** The taxes of a loan (contract 10.14). */
export interface LoanTaxes {
  /** Null: none. */
  readonly interest: Tax | null
  readonly fees: readonly FeeTax[]
}

/** What a loan has of its product's terms besides its schedule and the one-time penalty (contract 10). */
export interface LoanRules {
  /** Fees that were kept back from what was paid out, minor units. */
  readonly deducted: bigint
  /** Null: none, or the one-time penalty of `penaltyAmount`. */
  readonly penalty: PenaltyRule | null
  readonly allocation: AllocationOrder
  readonly earlySettlement: EarlySettlement
  /** Instalments at the beginning whose interest is due with the first one after them. */
  readonly interestGrace: number
  /** The most interest, fees and penalties together, minor units; null: no limit. */
  readonly mostCharges: bigint | null
  /** Null: no interest runs on. */
  readonly afterDue: AfterDueRule | null
  /** Null: none. */
  readonly taxes: LoanTaxes | null
  /** The loans that were paid off out of the principal. */
  readonly settled: readonly SettledLoan[]
}

/**
 * Returns the rules that a product makes of a principal, in minor units; null where they are those of contract 4.3.
 * @param schedule of the loan, as the product makes it
 */
export function rulesOf(product: Product, principal: bigint, schedule: readonly Instalment[]): LoanRules | null {
  const { terms } = product
  if (terms === null || hasUsualRules(terms)) return null
  return {
    deducted: deductedOf(terms.fees, principal),
    penalty: terms.penalty && penaltyRuleOf(product, terms.penalty, principal),
    allocation: terms.allocation,
    earlySettlement: terms.earlySettlement,
    interestGrace: terms.interestGrace,
    mostCharges: terms.totalChargeCap === null ? null : applyRate(principal, terms.totalChargeCap),
    afterDue: terms.daysAfterDue === null ? null : { rate: terms.interestRate, maxDays: terms.daysAfterDue },
    taxes: taxesOf(terms, principal, schedule),
    settled: [],
  }
}

function taxesOf(terms: ProductTerms, principal: bigint, schedule: readonly Instalment[]): LoanTaxes | null {
  if (!isTaxed(terms)) return null
  const { interestTax, fees } = terms
  const cells = withoutInterestTax(schedule, interestTax)
  return { interest: interestTax, fees: feeTaxesOf(fees, principal, cells) }
}

const hasUsualRules = (terms: ProductTerms): boolean =>
  terms.penalty === null &&
  terms.totalChargeCap === null &&
  terms.daysAfterDue === null &&
  !isTaxed(terms) &&
  terms.earlySettlement === 'full_interest' &&
  isUsualOrder(terms.allocation) &&
  terms.fees.every(({ treatment }) => treatment === 'added')

function penaltyRuleOf(product: Product, terms: PenaltyTerms, principal: bigint): PenaltyRule {
  const { base, value, every, graceDays, maxTimes, capOfPrincipal, per } = terms
  const most = largestIn(product.currency)
  const cap = capOfPrincipal === null ? most : applyRate(principal, capOfPrincipal)
  const ofWhat = base === 'principal' ? { base: 'fixed' as const, value: applyRate(principal, value) } : { base, value }
  return { ...ofWhat, every: distanceOf(product, every), graceDays, maxTimes, most: cap < most ? cap : most, per }
}

function distanceOf({ repayEvery, repayUnit }: Product, every: PenaltyTerms['every']): Distance | null {
  if (every === 'once') return null
  if (every === 'period') return { every: repayEvery, unit: repayUnit }
  return { every: 1, unit: every === 'day' ? 'days' : 'weeks' }
}

/** The rules of contract 4.3, for a loan that has no others. */
export const USUAL_RULES: LoanRules = {
  deducted: 0n,
  penalty: null,
  allocation: COMPONENTS,
  earlySettlement: 'full_interest',
  interestGrace: 0,
  mostCharges: null,
  afterDue: null,
  taxes: null,
  settled: [],
}
