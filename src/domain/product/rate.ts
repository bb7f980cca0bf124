import { type FaultRole, invalidArgument } from '../errors.ts'
import type { Decimal, Rate } from '../money.ts'

/** Decimals of a percentage, which is held in millionths. */
const RATE_DECIMALS = 6
const MOST_PERCENT = 10_000n

/** Converts percent to millionths of a percent, exactly. @throws LendingError `invalid_argument` */
export function rateOf(role: FaultRole, { units, scale }: Decimal, least: Rate = 0n): Rate {
  if (scale > RATE_DECIMALS) throw invalidArgument(role, `must have at most ${RATE_DECIMALS} decimals`)
  const millionths = units * 10n ** BigInt(RATE_DECIMALS - scale)
  if (millionths < least || millionths > MOST_PERCENT * 1_000_000n)
    throw invalidArgument(role, `must be ${least > 0n ? 'above 0' : '0'} to ${MOST_PERCENT} percent`)
  return millionths
}
