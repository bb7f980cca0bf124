import { PERIOD_UNITS, type PeriodUnit } from '../dates.ts'
import { type FaultRole, invalidArgument } from '../errors.ts'
import {
  applyRate,
  type Currency,
  currencyCodes,
  currencyOf,
  type Decimal,
  largestIn,
  type Rate,
  toMinor,
} from '../money.ts'
import type { Product } from './product.ts'
import { LARGEST_ID } from './smallId.ts'

/** An operator's request for a new product; rates in percent. */
export interface NewProduct {
  /** Undefined: the next one. */
  readonly id?: number | undefined
  readonly name: string
  readonly currency?: string | undefined
  readonly principalMin: Decimal
  readonly principalMax: Decimal
  readonly numberOfRepayments: number
  readonly repayEvery: number
  readonly repayUnit: string
  readonly ratePerPeriod: Decimal
  readonly totalMultipleOf?: Decimal | undefined
  readonly penaltyRate?: Decimal | undefined
  /** Keeps its loans to the customer's credit limit. */
  readonly enforceCreditLimit?: boolean | undefined
}

const LONGEST_NAME = 100
const MOST_REPAYMENTS = 2_000
const MOST_EVERY = 3_650
/** Decimals of a percentage, which is held in millionths. */
const RATE_DECIMALS = 6
const MOST_PERCENT = 10_000n
/** The longest loan in each unit: a century. */
const LONGEST: Readonly<Record<PeriodUnit, number>> = { days: 36_500, weeks: 5_200, months: 1_200, years: 100 }

/**
 * Checks a request for a product and returns the product.
 * @throws LendingError `invalid_argument`
 */
export function productOf(request: NewProduct, id: number): Product {
  const { name, repayUnit } = request
  if (name.trim() === '' || name.length > LONGEST_NAME || /\p{Cc}/u.test(name))
    throw invalidArgument('name', `must be 1 to ${LONGEST_NAME} characters`)
  whole('id', id, LARGEST_ID)
  whole('numberOfRepayments', request.numberOfRepayments, MOST_REPAYMENTS)
  whole('repayEvery', request.repayEvery, MOST_EVERY)
  const unit = PERIOD_UNITS.find((one) => one === repayUnit)
  if (!unit) throw invalidArgument('repayUnit', `must be one of ${PERIOD_UNITS.join(', ')}`)
  const currency = currencyFor(request.currency ?? '')
  const principalMin = toMinor(request.principalMin, currency, 'principalMin')
  const principalMax = toMinor(request.principalMax, currency, 'principalMax')
  if (principalMax < principalMin)
    throw invalidArgument('principalMax', (nameOf) => `must not be less than ${nameOf('principalMin')}`)
  const { numberOfRepayments, repayEvery, penaltyRate, totalMultipleOf } = request
  if (numberOfRepayments * repayEvery > LONGEST[unit])
    throw invalidArgument('numberOfRepayments', 'must be so few that a loan ends within a hundred years')
  const product: Product = {
    id,
    name,
    currency,
    principalMin,
    principalMax,
    numberOfRepayments,
    repayEvery,
    repayUnit: unit,
    ratePerPeriod: rate('ratePerPeriod', request.ratePerPeriod),
    totalMultipleOf: totalMultipleOf ? toMinor(totalMultipleOf, currency, 'totalMultipleOf') : null,
    penaltyRate: penaltyRate ? rate('penaltyRate', penaltyRate, 1n) : null,
    retired: false,
    enforceCreditLimit: request.enforceCreditLimit ?? false,
  }
  requireLendable(product)
  return product
}

/** Requires that the costs of the largest loan fit an amount. */
function requireLendable(product: Product): void {
  const { currency, principalMax, ratePerPeriod, numberOfRepayments, penaltyRate } = product
  const most = largestIn(currency)
  const tooDear = 'must be so low that the largest principal costs at most 999999999999.99'
  if (applyRate(principalMax, ratePerPeriod, BigInt(numberOfRepayments)) > most)
    throw invalidArgument('ratePerPeriod', tooDear)
  if (applyRate(principalMax, penaltyRate ?? 0n) > most) throw invalidArgument('penaltyRate', tooDear)
}

function currencyFor(code: string): Currency {
  if (!currencyCodes.includes(code)) throw invalidArgument('currency', `must be one of ${currencyCodes.join(', ')}`)
  return currencyOf(code)
}

function whole(role: FaultRole, value: number, most: number): void {
  if (!Number.isInteger(value) || value < 1 || value > most)
    throw invalidArgument(role, `must be a whole number, 1 to ${most}`)
}

/** Percent → millionths of a percent, exactly. */
function rate(role: FaultRole, { units, scale }: Decimal, least: Rate = 0n): Rate {
  if (scale > RATE_DECIMALS) throw invalidArgument(role, `must have at most ${RATE_DECIMALS} decimals`)
  const millionths = units * 10n ** BigInt(RATE_DECIMALS - scale)
  if (millionths < least || millionths > MOST_PERCENT * 1_000_000n)
    throw invalidArgument(role, `must be ${least > 0n ? 'above 0' : '0'} to ${MOST_PERCENT} percent`)
  return millionths
}
