import { PERIOD_UNITS, type PeriodUnit } from '../dates.ts'
import { type FaultRole, invalidArgument } from '../errors.ts'
import { COMPONENTS } from '../loan/portions.ts'
import { type Currency, type Decimal, RATE_UNIT, type Rate, toMinor } from '../money.ts'
import { ratePerMonth } from '../schedule/periodRates.ts'
import type { Product } from './product.ts'
import {
  type AllocationOrder,
  EARLY_SETTLEMENTS,
  FEE_BASES,
  FEE_TIMES,
  FEE_TREATMENTS,
  type Fee,
  isUsualOrder,
  PENALTY_BASES,
  PENALTY_REPEATS,
  PENALTY_SCOPES,
  type PenaltyTerms,
  PRODUCT_DAY_COUNTS,
  PRODUCT_METHODS,
  type ProductTerms,
  RATE_PERIODS,
} from './terms.ts'

// Values of a request for a product, read and checked.

/** Decimals of a percentage, which is held in millionths. */
const RATE_DECIMALS = 6
const MOST_PERCENT = 10_000n

/** The size of a charge in a request: an amount where the base is `fixed`, else a rate in percent. */
interface NewSize {
  readonly rate?: Decimal | undefined
  readonly amount?: Decimal | undefined
}

/** A fee of a request; rates in percent. */
export interface NewFee extends NewSize {
  readonly name: string
  readonly base: string
  readonly when: string
  /** Default `added`. */
  readonly treatment?: string | undefined
}

/** The most fees of a product, and the longest name of one. */
export const MOST_FEES = 10
export const LONGEST_FEE_NAME = 100

/** The penalties of a request; rates in percent. */
export interface NewPenalty extends NewSize {
  readonly base: string
  readonly every: string
  /** Default 0. */
  readonly graceDays?: number | undefined
  readonly maxTimes?: number | undefined
  readonly capPercentOfPrincipal?: Decimal | undefined
  readonly per: string
}

/** The penalties in a request for a product, in one of two forms. */
interface AskedPenalties {
  /** The one-time penalty of contract 4.3.4, in percent of the principal. */
  readonly penaltyRate?: Decimal | undefined
  readonly penalty?: NewPenalty | undefined
}

/** The penalties of a product: a one-time penalty as a rate of the principal, or terms; both null: none. */
interface Penalties {
  readonly penaltyRate: Rate | null
  readonly penalty: PenaltyTerms | null
}

/** The longest grace of a penalty in days, and the most penalties that `maxTimes` can allow. */
export const MOST_GRACE_DAYS = 365
export const MOST_TIMES = 10_000

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
  /** In percent of the principal. */
  readonly totalChargeCap?: Decimal | undefined
  /** The components in the order in which money pays them, each once. */
  readonly allocation?: readonly string[] | undefined
  readonly maxRatePerMonth?: Decimal | undefined
}

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

/** Requires that terms go together; each refusal says why they do not. */
function requireTogether(terms: ProductTerms, { totalMultipleOf }: Ground): void {
  const { interestMethod, ratePer, dayCount, principalGrace } = terms
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
        `must be periods where ${nameOf('ratePer')} is period: days are charged as parts of a year, for which the rate has to be per month or year`,
    )
  if (interestMethod === 'interest_only' && principalGrace > 0)
    throw invalidArgument(
      'grace.principalPeriods',
      (nameOf) =>
        `must be 0 where ${nameOf('interestMethod')} is interest_only: all principal is due with the last instalment`,
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

/** Returns the fees that a request asks for. @throws LendingError `invalid_argument` */
function newFeesOf(fees: readonly NewFee[], currency: Currency): Fee[] {
  if (fees.length > MOST_FEES) throw invalidArgument('fees', `must have at most ${MOST_FEES} fees`)
  const first = new Map<string, number>()
  return fees.map((fee, index) => {
    const { name } = fee
    requireName(name, index)
    const before = first.get(name)
    if (before !== undefined)
      throw invalidArgument(`fees[${index}].name`, (nameOf) => `is the name of ${nameOf(`fees[${before}]`)}, too`)
    first.set(name, index)
    return feeOf(fee, index, currency)
  })
}

function requireName(name: string, index: number): void {
  if (name.trim() === '' || [...name].length > LONGEST_FEE_NAME || /\p{Cc}/u.test(name))
    throw invalidArgument(`fees[${index}].name`, `must be 1 to ${LONGEST_FEE_NAME} characters`)
  if (name !== name.trim()) throw invalidArgument(`fees[${index}].name`, 'must not begin or end with a space')
}

function feeOf({ name, ...asked }: NewFee, index: number, currency: Currency): Fee {
  const role = (member: string) => `fees[${index}].${member}` as const
  const treatment = oneOf(role('treatment'), FEE_TREATMENTS, asked.treatment)
  const base = oneOf(role('base'), FEE_BASES, asked.base)
  const when = oneOf(role('when'), FEE_TIMES, asked.when)
  const value = sizeOf(role, base, asked, currency)
  if (treatment === 'deducted' && base === 'instalment')
    throw invalidArgument(
      role('base'),
      (nameOf) =>
        `must be fixed or principal where ${nameOf(role('treatment'))} is deducted: the fee is kept back from what is paid out, and is in no instalment`,
    )
  if (treatment === 'deducted' && when !== 'disbursement')
    throw invalidArgument(
      role('when'),
      (nameOf) =>
        `must be disbursement where ${nameOf(role('treatment'))} is deducted: the fee is kept back from what is paid out`,
    )
  if (base === 'instalment' && when !== 'each_instalment')
    throw invalidArgument(
      role('when'),
      (nameOf) => `must be each_instalment where ${nameOf(role('base'))} is instalment`,
    )
  return { name, base, value, when, treatment }
}

/**
 * Returns the penalties that a request asks for. Terms that say no more than a one-time rate are that rate, so that a
 * product has one form (contract 10.8).
 * @throws LendingError `invalid_argument`
 */
export function newPenaltiesOf({ penalty, penaltyRate }: AskedPenalties, currency: Currency): Penalties {
  const single = penaltyRate ? rateOf('penaltyRate', penaltyRate, 1n) : null
  if (penalty === undefined) return { penaltyRate: single, penalty: null }
  if (single !== null)
    throw invalidArgument(
      'penalty',
      (nameOf) => `cannot be given together with ${nameOf('penaltyRate')}: a product has one kind of penalty`,
    )
  const terms = penaltyOf(penalty, currency)
  return isSingle(terms) ? { penaltyRate: terms.value, penalty: null } : { penaltyRate: null, penalty: terms }
}

const isSingle = ({ base, every, per, graceDays, capOfPrincipal }: PenaltyTerms): boolean =>
  base === 'principal' && every === 'once' && per === 'loan' && graceDays === 0 && capOfPrincipal === null

function penaltyOf(asked: NewPenalty, currency: Currency): PenaltyTerms {
  const role = (member: string) => `penalty.${member}` as const
  const base = oneOf(role('base'), PENALTY_BASES, asked.base)
  const every = oneOf(role('every'), PENALTY_REPEATS, asked.every)
  const per = oneOf(role('per'), PENALTY_SCOPES, asked.per)
  const value = sizeOf(role, base, asked, currency)
  const graceDays = wholeOf(role('graceDays'), asked.graceDays ?? 0, 0, MOST_GRACE_DAYS)
  const { maxTimes, capPercentOfPrincipal: cap } = asked
  if (maxTimes !== undefined && every === 'once')
    throw invalidArgument(
      role('maxTimes'),
      (nameOf) => `cannot be given where ${nameOf(role('every'))} is once: such a penalty is not repeated`,
    )
  return {
    base,
    value,
    every,
    graceDays,
    per,
    maxTimes: maxTimes === undefined ? null : wholeOf(role('maxTimes'), maxTimes, 1, MOST_TIMES),
    capOfPrincipal: cap === undefined ? null : rateOf(role('capPercentOfPrincipal'), cap, 1n),
  }
}

/** Converts percent to millionths of a percent, exactly. @throws LendingError `invalid_argument` */
export function rateOf(
  role: FaultRole,
  { units, scale }: Decimal,
  least: Rate = 0n,
  most: Rate = MOST_PERCENT * 1_000_000n,
): Rate {
  if (scale > RATE_DECIMALS) throw invalidArgument(role, `must have at most ${RATE_DECIMALS} decimals`)
  const millionths = units * 10n ** BigInt(RATE_DECIMALS - scale)
  if (millionths < least || millionths > most)
    throw invalidArgument(role, `must be ${least > 0n ? 'above 0' : '0'} to ${most / 1_000_000n} percent`)
  return millionths
}

/** Returns a whole number within its bounds, both included. @throws LendingError `invalid_argument` */
export function wholeOf(role: FaultRole, value: number, least: number, most: number): number {
  if (!Number.isInteger(value) || value < least || value > most)
    throw invalidArgument(role, `must be a whole number, ${least} to ${most}`)
  return value
}

/**
 * Returns a word of a vocabulary; the first where the word is left out.
 * @throws LendingError `invalid_argument`
 */
function oneOf<Word extends string>(role: FaultRole, words: readonly Word[], given: string = words[0]!): Word {
  const word = words.find((one) => one === given)
  if (word === undefined) throw invalidArgument(role, `must be one of ${words.join(', ')}`)
  return word
}

/**
 * Returns the size of a charge: minor units for the base `fixed`, else millionths of a percent.
 * @param roleOf the role of a member of the charge
 * @throws LendingError `invalid_argument`, also where the size is not of the kind that the base takes
 */
function sizeOf(roleOf: (member: string) => FaultRole, base: string, asked: NewSize, currency: Currency): bigint {
  const isFixed = base === 'fixed'
  const [wanted, other] = isFixed ? (['amount', 'rate'] as const) : (['rate', 'amount'] as const)
  const value = asked[wanted]
  if (value === undefined)
    throw invalidArgument(roleOf(wanted), (nameOf) => `is required where ${nameOf(roleOf('base'))} is ${base}`)
  if (asked[other] !== undefined)
    throw invalidArgument(roleOf(other), (nameOf) => `cannot be given where ${nameOf(roleOf('base'))} is ${base}`)
  return isFixed ? toMinor(value, currency, roleOf(wanted)) : rateOf(roleOf(wanted), value, 1n)
}
