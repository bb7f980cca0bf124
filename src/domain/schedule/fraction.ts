import { invariant } from '../errors.ts'

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
