import type { LocalDate } from '../dates.ts'
import { invalidArgument } from '../errors.ts'
import { applyRate, minorToText, rateToNumber, sum } from '../money.ts'
import { deductedOf } from '../schedule/onBalance.ts'
import { type Instalment, productSchedule } from '../schedule/schedule.ts'
import type { Product } from './product.ts'

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
export function requirePaidOut(product: Product, principal: bigint): void {
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
