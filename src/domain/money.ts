import { type FaultRole, invalidArgument, invariant } from './errors.ts'

/** An ISO 4217 currency and the number of its decimals. */
export interface Currency {
  readonly code: string
  /** Digits after the point: 2 for KES, 0 for UGX. */
  readonly decimals: number
}

/** The currencies of the region (ISO 4217 minor units; contract 1.6). */
const DECIMALS: Readonly<Record<string, number>> = { KES: 2, TZS: 2, ETB: 2, UGX: 0, RWF: 0, BIF: 0 }

/** The codes of the currencies that can be lent in. */
export const currencyCodes: readonly string[] = Object.keys(DECIMALS)

/** Returns the currency of a code. @throws InvariantError for a code that no product or organization can have */
export function currencyOf(code: string): Currency {
  const decimals = DECIMALS[code]
  invariant(decimals !== undefined, `a known currency, not ${code}`)
  return { code, decimals }
}

/** An exact decimal number, `units / 10^scale`, before its currency is known. */
export interface Decimal {
  readonly units: bigint
  readonly scale: number
}

const JSON_NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/
const LONGEST_NUMBER = 64

/**
 * Reads the exact value of a JSON number's source, without trailing zeros of the fraction (100.10 has scale 1).
 * @returns undefined for a text that is not a JSON number, or so long or large that it cannot be an amount (1e400)
 */
export function parseDecimal(text: string): Decimal | undefined {
  if (text.length > LONGEST_NUMBER) return undefined
  const match = JSON_NUMBER.exec(text)
  if (!match) return undefined
  const [, sign, whole, fraction = '', exponent = '0'] = match
  let scale = fraction.length - Number(exponent)
  if (Math.abs(scale) > LONGEST_NUMBER) return undefined
  let units = BigInt(`${sign}${whole}${fraction}`)
  if (units === 0n) return { units, scale: 0 }
  for (; scale > 0 && units % 10n === 0n; scale--) units /= 10n
  if (scale < 0) {
    units *= 10n ** BigInt(-scale)
    scale = 0
  }
  return { units, scale }
}

/** 999,999,999,999.99: the largest amount, whatever the currency (contract 1.6), in hundredths. */
const LARGEST_IN_HUNDREDTHS = 99_999_999_999_999n

/** Returns the largest amount, in minor units of the currency. */
export const largestIn = (currency: Currency): bigint =>
  (LARGEST_IN_HUNDREDTHS * 10n ** BigInt(currency.decimals)) / 100n

/** Bounds of an amount: repayments are above 0, the amount of an adjustment may be 0. */
export interface AmountBounds {
  readonly zeroAllowed?: boolean
}

/**
 * Converts a decimal amount to minor units of the currency, exactly.
 * @param field the field at fault in a refusal (`amount`, `principal`)
 * @throws LendingError `invalid_argument` when it is not above 0, has more decimals than the currency, or is too large.
 */
export function toMinor(decimal: Decimal, currency: Currency, role: FaultRole, bounds: AmountBounds = {}): bigint {
  if (decimal.units < 0n || (decimal.units === 0n && !bounds.zeroAllowed))
    throw invalidArgument(role, bounds.zeroAllowed ? 'must not be negative' : 'must be greater than 0')
  if (decimal.scale > currency.decimals)
    throw invalidArgument(
      role,
      currency.decimals === 0
        ? `must be a whole number: ${currency.code} has no decimals`
        : `must have at most ${currency.decimals} decimals in ${currency.code}`,
    )
  if (decimal.units * 100n > LARGEST_IN_HUNDREDTHS * 10n ** BigInt(decimal.scale))
    throw invalidArgument(role, 'must be at most 999999999999.99')
  return toMinorUnits(decimal, currency)
}

/** Converts a decimal that has no more decimals than the currency to minor units. */
export const toMinorUnits = ({ units, scale }: Decimal, { decimals }: Currency): bigint =>
  units * 10n ** BigInt(decimals - scale)

/** Writes minor units as decimal text with all decimals of the currency: 1050n KES → `10.50`, 7n UGX → `7`. */
export function minorToText(minor: bigint, currency: Currency): string {
  if (currency.decimals === 0) return minor.toString()
  const digits = (minor < 0n ? -minor : minor).toString().padStart(currency.decimals + 1, '0')
  const point = digits.length - currency.decimals
  return `${minor < 0n ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point)}`
}

/**
 * Converts minor units to a JSON number. The result is exact up to 2^53 minor units, some 90 of the largest amounts:
 * the quotient of two exact numbers is the nearest double, as which its text would be read too. A larger sum loses its
 * last digit, as in any client that reads JSON numbers as doubles.
 */
export const minorToNumber = (minor: bigint, currency: Currency): number => Number(minor) / 10 ** currency.decimals

/** Returns a / b rounded half-even, for b > 0 (contract 4.3.1). */
export function divideHalfEven(a: bigint, b: bigint): bigint {
  invariant(b > 0n, 'a positive divisor')
  const floor = a >= 0n ? a / b : -((-a + b - 1n) / b)
  const twice = 2n * (a - floor * b)
  if (twice < b) return floor
  if (twice > b) return floor + 1n
  return floor % 2n === 0n ? floor : floor + 1n
}

/** Returns the multiple of `step` nearest to `amount`, halves to the even multiple. */
export const roundToMultiple = (amount: bigint, step: bigint): bigint => divideHalfEven(amount, step) * step

/** A rate in millionths of a percent: 10 % is 10,000,000n. */
export type Rate = bigint

/** The divisor that makes an amount of `amount × rate`. */
export const RATE_UNIT = 100_000_000n

/** Returns `amount × rate × times`, rounded half-even once, at the end. */
export const applyRate = (amount: bigint, rate: Rate, times = 1n): bigint =>
  divideHalfEven(amount * rate * times, RATE_UNIT)

/** Converts a rate to a JSON number of percent: 2.5 % → 2.5. */
export const rateToNumber = (rate: Rate): number => Number(rate) / 1_000_000

/** Returns whether an amount in minor units equals a decimal. */
export const isAmount = (minor: bigint, decimal: Decimal, currency: Currency): boolean =>
  minor * 10n ** BigInt(decimal.scale) === decimal.units * 10n ** BigInt(currency.decimals)

/** Returns the smaller of two amounts. */
export const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** Returns the sum of amounts. */
export const sum = (amounts: Iterable<bigint>): bigint => {
  let total = 0n
  for (const amount of amounts) total += amount
  return total
}
