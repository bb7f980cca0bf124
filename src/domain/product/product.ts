import type { LocalDate, PeriodUnit } from '../dates.ts'
import { failedPrecondition, invalidArgument } from '../errors.ts'
import { applyRate, type Currency, type Decimal, minorToText, type Rate, rateToNumber, sum, toMinor } from '../money.ts'
import { deductedOf } from '../schedule/fees.ts'
import { type Instalment, productSchedule } from '../schedule/schedule.ts'
import type { ProductTerms, RestructureLimits } from './terms.ts'

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
  /** The bounds within which its loans may be restructured; null or left out: none. */
  readonly restructuring?: RestructureLimits | null
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

// What the charges of a loan may come to when it is made. Amounts in minor units.

/** The day for which a product is checked: always the same one, so that a request is always accepted or never. */
const CHECKED_ON: LocalDate = '2026-01-01'

/** Returns the fees that are kept back from what is paid out of a principal (contract 10.4). */
export const feesDeducted = ({ terms }: Product, principal: bigint): bigint =>
  terms === null ? 0n : deductedOf(terms.fees, principal)

/** Returns interest and fees of a loan, deducted ones too. */
const chargesOf = (product: Product, principal: bigint, schedule: readonly Instalment[]): bigint =>
  feesDeducted(product, principal) + sum(schedule.map(({ interest, fees }) => interest + fees))

const textIn =
  ({ currency }: Product) =>
  (minor: bigint): string =>
    `${minorToText(minor, currency)} ${currency.code}`

/** Requires that something of a principal is paid out. @throws LendingError `invalid_argument` */
function requirePaidOut(product: Product, principal: bigint): void {
  const deducted = feesDeducted(product, principal)
  if (deducted < principal) return
  const text = textIn(product)
  throw invalidArgument(
    'principal',
    `must be more than the fees that are deducted from it: of ${text(principal)} they are ${text(deducted)}`,
  )
}

/** Returns what is at fault with charges above a cap; null where the charges are within it, or there is none. */
function excessOf(product: Product, principal: bigint, schedule: readonly Instalment[]): string | null {
  const cap = product.terms?.totalChargeCap ?? null
  if (cap === null) return null
  const [most, charges] = [applyRate(principal, cap), chargesOf(product, principal, schedule)]
  if (charges <= most) return null
  const text = textIn(product)
  return `on a principal of ${text(principal)} they come to ${text(charges)}, and ${rateToNumber(cap)} percent of that principal is ${text(most)}`
}

/**
 * Requires that interest and fees of a new loan are within the cap of its product (contract 10.9).
 * @param principal minor units
 * @param schedule of a loan of that principal
 * @throws LendingError `invalid_argument` for the principal
 */
export function requireWithinCap(product: Product, principal: bigint, schedule: readonly Instalment[]): void {
  const excess = excessOf(product, principal, schedule)
  if (excess !== null)
    throw invalidArgument(
      'principal',
      (nameOf) =>
        `must be such that interest and fees are within ${nameOf('totalChargeCap')} of the product: ${excess}`,
    )
}

/**
 * Requires that the smallest and the largest principal of a product can be lent: something is paid out of them, and
 * their interest and fees are within the cap.
 * @throws LendingError `invalid_argument`
 */
export function requireBoundsLendable(product: Product): void {
  const text = textIn(product)
  for (const principal of [product.principalMin, product.principalMax]) {
    const deducted = feesDeducted(product, principal)
    if (deducted >= principal)
      throw invalidArgument(
        'fees',
        `must leave something to pay out: of a principal of ${text(principal)}, ${text(deducted)} would be deducted`,
      )
    if (product.terms === null || product.terms.totalChargeCap === null) continue
    const schedule = productSchedule({ ...product, principal, disbursedOn: CHECKED_ON })
    const excess = excessOf(product, principal, schedule)
    if (excess !== null) throw invalidArgument('totalChargeCap', `must leave room for interest and fees: ${excess}`)
  }
}
