import { type FaultRole, invalidArgument } from '../errors.ts'
import { type Currency, type Decimal, type Rate, toMinor } from '../money.ts'

// Values of a request for a product, read and checked.

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

/** The size of a charge in a request: an amount where the base is `fixed`, else a rate in percent. */
export interface NewSize {
  readonly rate?: Decimal | undefined
  readonly amount?: Decimal | undefined
}

/**
 * Returns the size of a charge: minor units for the base `fixed`, else millionths of a percent.
 * @param roleOf the role of a member of the charge
 * @throws LendingError `invalid_argument`, also where the size is not of the kind that the base takes
 */
export function sizeOf(
  roleOf: (member: string) => FaultRole,
  base: string,
  asked: NewSize,
  currency: Currency,
): bigint {
  const isFixed = base === 'fixed'
  const [wanted, other] = isFixed ? (['amount', 'rate'] as const) : (['rate', 'amount'] as const)
  const value = asked[wanted]
  if (value === undefined)
    throw invalidArgument(roleOf(wanted), (nameOf) => `is required where ${nameOf(roleOf('base'))} is ${base}`)
  if (asked[other] !== undefined)
    throw invalidArgument(roleOf(other), (nameOf) => `cannot be given where ${nameOf(roleOf('base'))} is ${base}`)
  return isFixed ? toMinor(value, currency, roleOf(wanted)) : rateOf(roleOf(wanted), value, 1n)
}
