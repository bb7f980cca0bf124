import { PERIOD_UNITS, type PeriodUnit } from '../dates.ts'
import { invalidArgument } from '../errors.ts'
import {
  type Currency,
  currencyCodes,
  currencyOf,
  type Decimal,
  divideHalfEven,
  min,
  RATE_UNIT,
  toMinor,
} from '../money.ts'
import { exactRatePerPeriod } from '../schedule/periodRates.ts'
import { requireBoundsLendable } from './charges.ts'
import { requireLendable } from './lendable.ts'
import { newPenaltiesOf } from './newPenalty.ts'
import { type NewTerms, newTermsOf, requireAllowed } from './newTerms.ts'
import { rateOf, wholeOf } from './newValues.ts'
import type { Product } from './product.ts'
import { LARGEST_ID } from './smallId.ts'

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
}

const LONGEST_NAME = 100
const MOST_REPAYMENTS = 2_000
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
  wholeOf('id', id, 1, LARGEST_ID)
  wholeOf('numberOfRepayments', request.numberOfRepayments, 1, MOST_REPAYMENTS)
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
  }
  requireAllowed(product)
  requireLendable(product)
  requireBoundsLendable(product)
  return product
}

/** The largest rate that the database holds (int64). */
const LARGEST_RATE = 2n ** 63n - 1n

/** Returns the rate per period in millionths of a percent, rounded: the schedule is computed from the exact one. */
function roundedRate(product: Parameters<typeof exactRatePerPeriod>[0]): bigint {
  const { over, under } = exactRatePerPeriod(product)
  return min(divideHalfEven(over * RATE_UNIT, under), LARGEST_RATE)
}

function currencyFor(code: string): Currency {
  if (!currencyCodes.includes(code)) throw invalidArgument('currency', `must be one of ${currencyCodes.join(', ')}`)
  return currencyOf(code)
}
