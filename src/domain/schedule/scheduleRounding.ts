import type { Currency } from '../money.ts'
import type { Fraction } from './fraction.ts'
import type { DecimalPlaces } from './recordTerms.ts'

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
