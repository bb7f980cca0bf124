import { type FaultRole, invalidArgument } from '../errors.ts'
import type { Decimal, Rate } from '../money.ts'

// Values of the requests of operators, read and checked.

/** Decimals of a percentage, which is held in millionths. */
const RATE_DECIMALS = 6
const MOST_PERCENT = 10_000n

/** Converts percent to millionths of a percent, exactly. @throws LendingError `invalid_argument` */
export function rateOf(
  role: FaultRole,
  { units, scale }: Decimal,
  least: Rate = 0n,
  most: Rate = MOST_PERCENT * 1_000_000n,
): Rate {
  if (scale > RATE_DECIMALS) throw invalidArgument(role, `must have at most ${RATE_DECIMALS} decimals`)
  const millionths = units * 10n ** BigInt(RATE_DECIMALS - scale)
  if (millionths < least || millionths > most)
    throw invalidArgument(role, `must be ${least > 0n ? 'above 0' : '0'} to ${most / 1_000_000n} percent`)
  return millionths
}

/** Returns a whole number within its bounds, both included. @throws LendingError `invalid_argument` */
export function wholeOf(role: FaultRole, value: number, least: number, most: number): number {
  if (!Number.isInteger(value) || value < least || value > most)
    throw invalidArgument(role, `must be a whole number, ${least} to ${most}`)
  return value
}

/**
 * Returns a word of a vocabulary; the first where the word is left out.
 * @throws LendingError `invalid_argument`
 */
export function oneOf<Word extends string>(role: FaultRole, words: readonly Word[], given: string = words[0]!): Word {
  const word = words.find((one) => one === given)
  if (word === undefined) throw invalidArgument(role, `must be one of ${words.join(', ')}`)
  return word
}
