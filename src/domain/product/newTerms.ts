import { PERIOD_UNITS, type PeriodUnit } from '../dates.ts'
import { type FaultRole, invalidArgument } from '../errors.ts'
import { COMPONENTS } from '../loan/portions.ts'
import { type Decimal, RATE_UNIT } from '../money.ts'
import { ratePerMonth } from '../schedule/periodRates.ts'
import { type AskedPenalties, type NewFee, type NewTax, newFeesOf, newTaxOf } from './newCharges.ts'
import { oneOf, rateOf, wholeOf } from './newValues.ts'
import type { Product } from './product.ts'
import {
  AFTER_DUE,
  type AllocationOrder,
  EARLY_SETTLEMENTS,
  isUsualOrder,
  PRODUCT_DAY_COUNTS,
  PRODUCT_METHODS,
  type ProductTerms,
  RATE_PERIODS,
} from './terms.ts'

/** The terms of a request for a product, beyond flat interest per period. */
export interface NewTerms extends AskedPenalties {
  readonly interestMethod?: string | undefined
  readonly ratePer?: string | undefined
  readonly dayCount?: string | undefined
  readonly grace?:
    | {
        readonly principalPeriods?: number | undefined
        readonly interestPeriods?: number | undefined
        readonly firstDueAfter?: { readonly every: number; readonly unit: string } | undefined
      }
    | undefined
  readonly fees?: readonly NewFee[] | undefined
  readonly earlySettlement?: string | undefined
  /** Interest after the last due date; left out: none. */
  readonly afterDue?: NewAfterDue | undefined
  readonly interestTax?: NewTax | undefined
  /** In percent of the principal. */
  readonly totalChargeCap?: Decimal | undefined
  /** The components in the order in which money pays them, each once. */
  readonly allocation?: readonly string[] | undefined
  readonly maxRatePerMonth?: Decimal | undefined
}

/** Interest after the last due date, in a request for a product. */
export interface NewAfterDue {
  readonly interest: string
  /** Required where interest runs on. */
  readonly maxDays?: number | undefined
}

/** The most days that interest can run on. */
export const MOST_DAYS_AFTER_DUE = 366

/** The longest time to the first due date in each unit: ten years. */
export const LONGEST_FIRST: Readonly<Record<PeriodUnit, number>> = { days: 3_650, weeks: 520, months: 120, years: 10 }

/** What terms are checked against. */
type Ground = Pick<Product, 'currency' | 'numberOfRepayments' | 'totalMultipleOf'>

/** Terms that were read before the others. */
type ReadTerms = Pick<ProductTerms, 'interestRate' | 'penalty'>

/**
 * Returns the terms that a request asks for; null where it asks for none beyond flat interest per period.
 * @throws LendingError `invalid_argument`, also for terms that do not go together
 */
export function newTermsOf(
  request: NewTerms,
  { interestRate, penalty }: ReadTerms,
  ground: Ground,
): ProductTerms | null {
  const { grace = {}, totalChargeCap: cap, maxRatePerMonth } = request
  const terms: ProductTerms = {
    interestMethod: oneOf('interestMethod', PRODUCT_METHODS, request.interestMethod),
    interestRate,
    ratePer: oneOf('ratePer', RATE_PERIODS, request.ratePer),
    dayCount: oneOf('dayCount', PRODUCT_DAY_COUNTS, request.dayCount),
    principalGrace: graceOf('grace.principalPeriods', grace.principalPeriods, ground),
    interestGrace: graceOf('grace.interestPeriods', grace.interestPeriods, ground),
    firstDueAfter: firstDueAfterOf(grace.firstDueAfter),
    fees: newFeesOf(request.fees ?? [], ground.currency),
    penalty,
    earlySettlement: oneOf('earlySettlement', EARLY_SETTLEMENTS, request.earlySettlement),
    daysAfterDue: daysAfterDueOf(request.afterDue),
    interestTax: request.interestTax === undefined ? null : newTaxOf('interestTax', request.interestTax),
    totalChargeCap: cap ? rateOf('totalChargeCap', cap, 1n) : null,
    allocation: allocationOf(request.allocation),
    maxRatePerMonth: maxRatePerMonth ? rateOf('maxRatePerMonth', maxRatePerMonth) : null,
  }
  requireTogether(terms, ground)
  return isPlain(terms) ? null : terms
}

const isPlain = (terms: ProductTerms): boolean =>
  terms.interestMethod === 'flat' &&
  terms.ratePer === 'period' &&
  terms.principalGrace + terms.interestGrace + terms.fees.length === 0 &&
  terms.firstDueAfter === null &&
  terms.penalty === null &&
  terms.earlySettlement === 'full_interest' &&
  terms.daysAfterDue === null &&
  terms.interestTax === null &&
  terms.totalChargeCap === null &&
  isUsualOrder(terms.allocation) &&
  terms.maxRatePerMonth === null

function allocationOf(asked: readonly string[] = COMPONENTS): AllocationOrder {
  const order = asked.flatMap((one) => COMPONENTS.filter((component) => component === one))
  if (asked.length !== COMPONENTS.length || new Set(order).size !== COMPONENTS.length)
    throw invalidArgument('allocation', `must have each of ${COMPONENTS.join(', ')} once`)
  return order
}

function graceOf(role: FaultRole, count = 0, { numberOfRepayments }: Ground): number {
  if (!Number.isInteger(count) || count < 0 || count >= numberOfRepayments)
    throw invalidArgument(
      role,
      (nameOf) => `must be a whole number from 0 and less than ${nameOf('numberOfRepayments')}, ${numberOfRepayments}`,
    )
  return count
}

function firstDueAfterOf(asked: { readonly every: number; readonly unit: string } | undefined) {
  if (asked === undefined) return null
  const unit = PERIOD_UNITS.find((one) => one === asked.unit)
  if (!unit) throw invalidArgument('grace.firstDueAfter.unit', `must be one of ${PERIOD_UNITS.join(', ')}`)
  const { every } = asked
  if (!Number.isInteger(every) || every < 1 || every > LONGEST_FIRST[unit])
    throw invalidArgument('grace.firstDueAfter.every', `must be a whole number, 1 to ${LONGEST_FIRST[unit]} ${unit}`)
  return { every, unit }
}

function daysAfterDueOf(asked: NewAfterDue | undefined): number | null {
  if (asked === undefined) return null
  const { interest, maxDays } = asked
  if (oneOf('afterDue.interest', AFTER_DUE, interest) === 'runs_on') {
    if (maxDays === undefined)
      throw invalidArgument(
        'afterDue.maxDays',
        (nameOf) => `is required where ${nameOf('afterDue.interest')} is runs_on`,
      )
    return wholeOf('afterDue.maxDays', maxDays, 1, MOST_DAYS_AFTER_DUE)
  }
  if (maxDays !== undefined)
    throw invalidArgument(
      'afterDue.maxDays',
      (nameOf) => `cannot be given where ${nameOf('afterDue.interest')} is none`,
    )
  return null
}

/** Requires that terms go together; each refusal says why they do not. */
function requireTogether(terms: ProductTerms, { totalMultipleOf }: Ground): void {
  const { interestMethod, ratePer, dayCount, principalGrace, daysAfterDue } = terms
  if (dayCount !== 'periods' && interestMethod === 'flat')
    throw invalidArgument(
      'dayCount',
      (nameOf) =>
        `must be periods where ${nameOf('interestMethod')} is flat: flat interest is fixed by the number of periods, whatever their days`,
    )
  if (dayCount !== 'periods' && ratePer === 'period')
    throw invalidArgument(
      'dayCount',
      (nameOf) =>
        `must be periods where ${nameOf('ratePer')} is period: days are charged as parts of a year, for which the rate has to be per day, month or year`,
    )
  if (interestMethod === 'interest_only' && principalGrace > 0)
    throw invalidArgument(
      'grace.principalPeriods',
      (nameOf) =>
        `must be 0 where ${nameOf('interestMethod')} is interest_only: all principal is due with the last instalment`,
    )
  if (daysAfterDue !== null && ratePer !== 'day')
    throw invalidArgument(
      'afterDue.interest',
      (nameOf) => `must be none where ${nameOf('ratePer')} is ${ratePer}: interest that runs on has a rate per day`,
    )
  if (interestMethod === 'interest_only' && totalMultipleOf !== null)
    throw invalidArgument(
      'totalMultipleOf',
      (nameOf) =>
        `cannot be given where ${nameOf('interestMethod')} is interest_only: an instalment has no principal that could give way`,
    )
}

/** Requires that the rate of a product is allowed. @throws LendingError `invalid_argument` */
export function requireAllowed(product: Product): void {
  const most = product.terms?.maxRatePerMonth ?? null
  if (most === null) return
  const { over, under } = ratePerMonth(product)
  if (over * RATE_UNIT > most * under)
    throw invalidArgument(
      'interestRate',
      (nameOf) =>
        `must not come to more per month than ${nameOf('maxRatePerMonth')}, and comes to ${shown(over, under)} percent`,
    )
}

/** Returns a share in percent, cut after six decimals. */
const shown = (over: bigint, under: bigint): number => Number((over * RATE_UNIT) / under) / 1_000_000
