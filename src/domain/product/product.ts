import type { PeriodUnit } from '../dates.ts'
import { failedPrecondition, invalidArgument } from '../errors.ts'
import { type Currency, type Decimal, minorToText, type Rate, toMinor } from '../money.ts'
import { requirePaidOut } from './charges.ts'
import type { ProductTerms } from './terms.ts'

/** The terms that a lender offers. Every term of a partner-style loan comes from its product (contract 4.2). */
export interface Product {
  readonly id: number
  readonly name: string
  readonly currency: Currency
  /** Bounds of the principal, minor units, both included. */
  readonly principalMin: bigint
  readonly principalMax: bigint
  readonly numberOfRepayments: number
  readonly repayEvery: number
  readonly repayUnit: PeriodUnit
  /** Interest per period: of a product with terms, what its rate comes to, rounded. */
  readonly ratePerPeriod: Rate
  /** What the product has beyond flat interest per period (contract 10); null: nothing. */
  readonly terms: ProductTerms | null
  /** Each instalment's total is rounded to a multiple of this many minor units; null: not rounded. */
  readonly totalMultipleOf: bigint | null
  /** Share of the principal raised once as a penalty at the last due time; null: none. */
  readonly penaltyRate: Rate | null
  /** Whether loans must be within the customer's available credit limit. */
  readonly enforceCreditLimit: boolean
  readonly retired: boolean
}

/**
 * Returns the principal of a new loan, in minor units.
 * @throws LendingError `failed_precondition` for a retired product, `invalid_argument` outside the product's bounds,
 *   or where the fees that are deducted leave nothing to pay out.
 */
export function principalFor(product: Product, requested: Decimal): bigint {
  if (product.retired) throw failedPrecondition(`loan product ${product.id} is retired and takes no new loans`)
  const principal = toMinor(requested, product.currency, 'principal')
  const say = (minor: bigint) => `${minorToText(minor, product.currency)} ${product.currency.code}`
  if (principal < product.principalMin || principal > product.principalMax)
    throw invalidArgument(
      'principal',
      `must be between ${say(product.principalMin)} and ${say(product.principalMax)} for ${product.name}`,
    )
  requirePaidOut(product, principal)
  return principal
}
