import { invariant } from '../errors.ts'
import type { Currency } from '../money.ts'
import type { DecimalPlaces } from './recordTerms.ts'

/**
 * An exact ratio that is not negative. Rates of the record style are divided by 30, 52 or 360 and raised to the 2,000th
 * power; a ratio of integers loses nothing before the one rounding.
 */
export interface Fraction {
  readonly over: bigint
  readonly under: bigint
}

/** Returns over / under in lowest terms, so that its powers stay short. */
export function fraction(over: bigint, under = 1n): Fraction {
  invariant(over >= 0n && under > 0n, 'a ratio that is not negative')
  let [a, b] = [over, under]
  while (b !== 0n) [a, b] = [b, a % b]
  return { over: over / a, under: under / a }
}

/** Returns a × b. */
export const times = (a: Fraction, b: Fraction): Fraction => fraction(a.over * b.over, a.under * b.under)

/** Returns a ÷ count, for a count of at least 1. */
export const dividedBy = (a: Fraction, count: number): Fraction => fraction(a.over, a.under * BigInt(count))

/** Returns the whole part of a ratio. */
export const wholePart = (a: Fraction): bigint => a.over / a.under

/** Returns a ratio less its whole part. */
export const restOf = (a: Fraction): Fraction => fraction(a.over % a.under, a.under)

/**
 * Returns (1 + rate)^count, not reduced; undefined as soon as it exceeds `limit`, so that an absurd rate costs no time.
 * It squares from the exponent's first binary digit: each step is a power with a smaller exponent than the next.
 */
export function growth(rate: Fraction, count: bigint, limit: bigint): Fraction | undefined {
  const step = rate.under + rate.over
  let over = 1n
  let under = 1n
  for (const bit of count.toString(2)) {
    over *= over
    under *= under
    if (bit === '1') {
      over *= step
      under *= rate.under
    }
    if (over > limit * under) return undefined
  }
  return { over, under }
}

type Way = 'nearest' | 'up' | 'down'

/**
 * For each `loan_decimal_places`, the step in hundredths of the currency's main unit, and the direction of rounding.
 */
const STEPS: Readonly<Record<DecimalPlaces, readonly [hundredths: bigint, way: Way]>> = {
  round_off_to_two_decimal: [1n, 'nearest'],
  round_off_to_one_decimal: [10n, 'nearest'],
  round_up_to_one_decimal: [10n, 'up'],
  round_off_to_integer: [100n, 'nearest'],
  round_down_to_integer: [100n, 'down'],
  round_up_to_integer: [100n, 'up'],
  // The name and its sibling (12.01 becomes 20) say "up"; the field's gloss "nearest 5" is read as "the next 5".
  round_up_to_five: [500n, 'up'],
  round_up_to_ten: [1_000n, 'up'],
  round_off_to_hundred: [10_000n, 'nearest'],
}

/** Rounds one cell: an exact amount of minor units, not negative, to whole minor units. */
export type CellRounding = (amount: Fraction) => bigint

/**
 * Returns the rounding of cells that `loan_decimal_places` names, in a currency (contract 5.3). Halves go away from
 * zero. A currency without decimals is never rounded finer than its own unit. Every rounding is monotone: of two cells
 * the larger never becomes the smaller.
 */
export function cellRounding(places: DecimalPlaces, currency: Currency): CellRounding {
  const [hundredths, way] = STEPS[places]
  const minorPerHundred = 10n ** BigInt(currency.decimals)
  // In UGX a step of a tenth is less than the smallest unit: the step is 1 then, in the same direction.
  const inMinor = (hundredths * minorPerHundred) / 100n
  const step = inMinor > 0n ? inMinor : 1n
  return ({ over, under }) => {
    const whole = under * step
    switch (way) {
      case 'nearest':
        return ((2n * over + whole) / (2n * whole)) * step
      case 'up':
        return ((over + whole - 1n) / whole) * step
      case 'down':
        return (over / whole) * step
    }
  }
}
