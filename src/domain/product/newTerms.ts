import { PERIOD_UNITS, type PeriodUnit } from '../dates.ts'
import { type FaultRole, invalidArgument } from '../errors.ts'
import { type Currency, type Decimal, RATE_UNIT, type Rate, toMinor } from '../money.ts'
import { ratePerMonth } from '../schedule/periodRates.ts'
import type { Product } from './product.ts'
import { rateOf } from './rate.ts'
import {
  FEE_BASES,
  FEE_TIMES,
  type Fee,
  PRODUCT_DAY_COUNTS,
  PRODUCT_METHODS,
  type ProductTerms,
  RATE_PERIODS,
} from './terms.ts'

/** A fee of a request; rates in percent. */
export interface NewFee {
  readonly name: string
  readonly base: string
  readonly rate?: Decimal | undefined
  readonly amount?: Decimal | undefined
  readonly when: string
  /** Default `added`, the only treatment that there is. */
  readonly treatment?: string | undefined
}

/** The terms of a request for a product, beyond flat interest per period. */
export interface NewTerms {
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
  readonly maxRatePerMonth?: Decimal | undefined
}

/** The most fees of a product, and the longest name of one. */
export const MOST_FEES = 10
export const LONGEST_FEE_NAME = 100
/** The treatments of a fee that a request can name; only the first is supported. */
const FEE_TREATMENTS = ['added', 'deducted'] as const
/** The refusal of a fee that is deducted. */
export const NO_DEDUCTION = 'must be added: fees that are deducted from what is paid out are not supported'

/** The longest time to the first due date in each unit: ten years. */
export const LONGEST_FIRST: Readonly<Record<PeriodUnit, number>> = { days: 3_650, weeks: 520, months: 120, years: 10 }

/** What terms are checked against. */
type Ground = Pick<Product, 'currency' | 'numberOfRepayments' | 'totalMultipleOf'>

/**
 * Returns the terms that a request asks for; null where it asks for none beyond flat interest per period.
 * @throws LendingError `invalid_argument`, also for terms that do not go together
 */
export function newTermsOf(request: NewTerms, interestRate: Rate, ground: Ground): ProductTerms | null {
  const { grace = {} } = request
  const terms: ProductTerms = {
    interestMethod: oneOf('interestMethod', PRODUCT_METHODS, request.interestMethod),
    interestRate,
    ratePer: oneOf('ratePer', RATE_PERIODS, request.ratePer),
    dayCount: oneOf('dayCount', PRODUCT_DAY_COUNTS, request.dayCount),
    principalGrace: graceOf('grace.principalPeriods', grace.principalPeriods, ground),
    interestGrace: graceOf('grace.interestPeriods', grace.interestPeriods, ground),
    firstDueAfter: firstDueAfterOf(grace.firstDueAfter),
    fees: feesOf(request.fees ?? [], ground.currency),
    maxRatePerMonth: request.maxRatePerMonth ? rateOf('maxRatePerMonth', request.maxRatePerMonth) : null,
  }
  requireTogether(terms, ground)
  return isPlain(terms) ? null : terms
}

const isPlain = (terms: ProductTerms): boolean =>
  terms.interestMethod === 'flat' &&
  terms.ratePer === 'period' &&
  terms.principalGrace + terms.interestGrace + terms.fees.length === 0 &&
  terms.firstDueAfter === null &&
  terms.maxRatePerMonth === null

/** Returns a word of a vocabulary; the first where it is left out. */
function oneOf<Word extends string>(role: FaultRole, words: readonly Word[], given: string = words[0]!): Word {
  const word = words.find((one) => one === given)
  if (word === undefined) throw invalidArgument(role, `must be one of ${words.join(', ')}`)
  return word
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

function feesOf(fees: readonly NewFee[], currency: Currency): Fee[] {
  if (fees.length > MOST_FEES) throw invalidArgument('fees', `must have at most ${MOST_FEES} fees`)
  const first = new Map<string, number>()
  return fees.map((fee, index) => {
    const { name } = fee
    if (name.trim() === '' || [...name].length > LONGEST_FEE_NAME || /\p{Cc}/u.test(name))
      throw invalidArgument(`fees[${index}].name`, `must be 1 to ${LONGEST_FEE_NAME} characters`)
    if (first.has(name)) throw invalidArgument(`fees[${index}].name`, `is the name of fees[${first.get(name)}], too`)
    first.set(name, index)
    return feeOf(fee, index, currency)
  })
}

function feeOf({ name, treatment, ...asked }: NewFee, index: number, currency: Currency): Fee {
  const role = (member: string) => `fees[${index}].${member}` as const
  if (treatment === 'deducted') throw invalidArgument(role('treatment'), NO_DEDUCTION)
  oneOf(role('treatment'), FEE_TREATMENTS, treatment)
  const base = oneOf(role('base'), FEE_BASES, asked.base)
  const when = oneOf(role('when'), FEE_TIMES, asked.when)
  const [wanted, other] = base === 'fixed' ? (['amount', 'rate'] as const) : (['rate', 'amount'] as const)
  const value = asked[wanted]
  if (value === undefined) throw invalidArgument(role(wanted), `is required where ${role('base')} is ${base}`)
  if (asked[other] !== undefined) throw invalidArgument(role(other), `cannot be given where ${role('base')} is ${base}`)
  if (base === 'instalment' && when !== 'each_instalment')
    throw invalidArgument(role('when'), `must be each_instalment where ${role('base')} is instalment`)
  const isFixed = base === 'fixed'
  return { name, base, when, value: isFixed ? toMinor(value, currency, role(wanted)) : rateOf(role(wanted), value, 1n) }
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
