import { LARGEST_INT32, LARGEST_INT64 } from '../../toolbox/integers.ts'
import { addPeriods, PERIOD_UNITS, type PeriodUnit } from '../dates.ts'
import { invalidArgument } from '../errors.ts'
import {
  applyRate,
  type Currency,
  currencyCodes,
  currencyOf,
  type Decimal,
  divideHalfEven,
  largestIn,
  min,
  RATE_UNIT,
  toMinor,
} from '../money.ts'
import { exactRatePerPeriod, firstPeriods, periodRates } from '../schedule/periodRates.ts'
import { MOST_INSTALMENTS } from '../schedule/schedule.ts'
import { taxOn } from '../schedule/taxes.ts'
import { newPenaltiesOf } from './newCharges.ts'
import { type NewTerms, newTermsOf, requireAllowed } from './newTerms.ts'
import { rateOf, wholeOf } from './newValues.ts'
import type { Product } from './product.ts'
import { requireBoundsLendable } from './product.ts'
import { type NewRestructureLimits, restructureLimitsOf } from './restructuring.ts'
import type { Fee, ProductTerms } from './terms.ts'

/** An operator's request for a new product; rates in percent. */
export interface NewProduct extends NewTerms {
  /** Undefined: the next one. */
  readonly id?: number | undefined
  readonly name: string
  readonly currency?: string | undefined
  readonly principalMin: Decimal
  readonly principalMax: Decimal
  readonly numberOfRepayments: number
  readonly repayEvery: number
  readonly repayUnit: string
  /** Per `ratePer`; per period where that is left out. */
  readonly interestRate: Decimal
  readonly totalMultipleOf?: Decimal | undefined
  /** Keeps its loans to the customer's credit limit. */
  readonly enforceCreditLimit?: boolean | undefined
  /** The bounds within which its loans may be restructured; undefined: none. */
  readonly restructuring?: NewRestructureLimits | undefined
}

const LONGEST_NAME = 100
const MOST_EVERY = 3_650
/** The longest loan in each unit: a century. */
const LONGEST: Readonly<Record<PeriodUnit, number>> = { days: 36_500, weeks: 5_200, months: 1_200, years: 100 }

/**
 * Checks a request for a product and returns the product.
 * @throws LendingError `invalid_argument`
 */
export function productOf(request: NewProduct, id: number): Product {
  const { name, repayUnit } = request
  if (name.trim() === '' || [...name].length > LONGEST_NAME || /\p{Cc}/u.test(name))
    throw invalidArgument('name', `must be 1 to ${LONGEST_NAME} characters`)
  wholeOf('id', id, 1, LARGEST_INT32)
  wholeOf('numberOfRepayments', request.numberOfRepayments, 1, MOST_INSTALMENTS)
  wholeOf('repayEvery', request.repayEvery, 1, MOST_EVERY)
  const unit = PERIOD_UNITS.find((one) => one === repayUnit)
  if (!unit) throw invalidArgument('repayUnit', `must be one of ${PERIOD_UNITS.join(', ')}`)
  const currency = currencyFor(request.currency ?? '')
  const principalMin = toMinor(request.principalMin, currency, 'principalMin')
  const principalMax = toMinor(request.principalMax, currency, 'principalMax')
  if (principalMax < principalMin)
    throw invalidArgument('principalMax', (nameOf) => `must not be less than ${nameOf('principalMin')}`)
  const { numberOfRepayments, repayEvery, totalMultipleOf } = request
  if (numberOfRepayments * repayEvery > LONGEST[unit])
    throw invalidArgument('numberOfRepayments', 'must be so few that a loan ends within a hundred years')
  const multiple = totalMultipleOf ? toMinor(totalMultipleOf, currency, 'totalMultipleOf') : null
  const interestRate = rateOf('interestRate', request.interestRate)
  const { penaltyRate, penalty } = newPenaltiesOf(request, currency)
  const ground = { currency, numberOfRepayments, totalMultipleOf: multiple }
  const terms = newTermsOf(request, { interestRate, penalty }, ground)
  const rated = { ratePerPeriod: interestRate, repayEvery, repayUnit: unit, terms }
  const product: Product = {
    ...rated,
    id,
    name,
    currency,
    principalMin,
    principalMax,
    numberOfRepayments,
    ratePerPeriod: roundedRate(rated),
    totalMultipleOf: multiple,
    penaltyRate,
    retired: false,
    enforceCreditLimit: request.enforceCreditLimit ?? false,
    restructuring: restructureLimitsOf(request.restructuring),
  }
  requireAllowed(product)
  requireLendable(product)
  requireBoundsLendable(product)
  return product
}

/** Returns the rate per period in millionths of a percent, rounded: the schedule is computed from the exact one. */
function roundedRate(product: Parameters<typeof exactRatePerPeriod>[0]): bigint {
  const { over, under } = exactRatePerPeriod(product)
  return min(divideHalfEven(over * RATE_UNIT, under), LARGEST_INT64)
}

function currencyFor(code: string): Currency {
  if (!currencyCodes.includes(code)) throw invalidArgument('currency', `must be one of ${currencyCodes.join(', ')}`)
  return currencyOf(code)
}

const TOO_DEAR = 'must be so low that the largest principal costs at most 999999999999.99'

/** Some day after which a year, a quarter and a month are as long as they can be, by every rule. */
const LONG_FROM = '2024-01-01'

/**
 * Requires that the costs of the largest loan fit an amount: interest on the full principal in every period, by the longest
 * days where days count, and after the last due date; all fees, deducted ones too; taxes; a penalty.
 * @throws LendingError `invalid_argument`
 */
function requireLendable(product: Product): void {
  const { currency, principalMax, penaltyRate, terms } = product
  const most = largestIn(currency)
  const interest = mostInterest(product)
  const { interestTax = null } = terms ?? {}
  const tax = taxOn(interest, interestTax) + (interestTax === null ? 0n : BigInt(product.numberOfRepayments))
  if (interest + tax > most) throw invalidArgument('interestRate', TOO_DEAR)
  if (applyRate(principalMax, penaltyRate ?? 0n) > most) throw invalidArgument('penaltyRate', TOO_DEAR)
  const { penalty } = terms ?? { penalty: null }
  if (penalty && penalty.base !== 'fixed' && applyRate(principalMax, penalty.value) > most)
    throw invalidArgument('penalty.rate', TOO_DEAR)
  if (terms && mostFees(product, terms.fees, interest) > most)
    throw invalidArgument(
      'fees',
      'must be so low that the fees of the largest principal come to at most 999999999999.99',
    )
}

function mostInterest(product: Product): bigint {
  const { principalMax, terms } = product
  const ofDay = terms === null || terms.daysAfterDue === null ? 0n : applyRate(principalMax, terms.interestRate) + 1n
  return mostScheduled(product) + ofDay * BigInt(terms?.daysAfterDue ?? 0)
}

function mostScheduled(product: Product): bigint {
  const { principalMax, numberOfRepayments, terms } = product
  if (terms !== null && terms.dayCount !== 'periods') return mostByDays(product, terms)
  const [rate, first] = [exactRatePerPeriod(product), firstPeriods(product)]
  const count = BigInt(numberOfRepayments)
  const periods = first.over + (count - 1n) * first.under
  const interest = divideHalfEven(principalMax * rate.over * periods, rate.under * first.under)
  // On the balance, each instalment may be rounded up.
  return terms === null || terms.interestMethod === 'flat' ? interest : interest + count
}

/** Returns more than the interest by days can be: a day more in each period than after 1 January of a leap year. */
function mostByDays(product: Product, terms: ProductTerms): bigint {
  const { principalMax, repayEvery, repayUnit, numberOfRepayments } = product
  const first = terms.firstDueAfter ?? { every: repayEvery, unit: repayUnit }
  const oneOf = (every: number, unit: typeof repayUnit) => {
    const end = addPeriods(addPeriods(LONG_FROM, every, unit), 3, 'days')
    const { overs, under } = periodRates(product, [LONG_FROM, end])
    return (principalMax * overs[0]!) / under + 1n
  }
  return oneOf(first.every, first.unit) + BigInt(numberOfRepayments - 1) * oneOf(repayEvery, repayUnit)
}

function mostFees({ principalMax, numberOfRepayments }: Product, fees: readonly Fee[], interest: bigint): bigint {
  const count = BigInt(numberOfRepayments)
  return fees.reduce((total, { base, value, when, tax }) => {
    const times = when === 'each_instalment' ? count : 1n
    const ofAll = base === 'instalment' ? principalMax + interest : principalMax * times
    const amount = base === 'fixed' ? value * times : (ofAll * value) / RATE_UNIT + times
    return total + amount + taxOn(amount, tax) + (tax === null ? 0n : times)
  }, 0n)
}
