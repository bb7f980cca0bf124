import type { Portions } from '../portions.ts'

/** Writes an amount of each component; empty for 0. */
export const portionsToText = ({ penalty, fees, interest, principal }: Readonly<Portions>): string =>
  `${amountToText(penalty)},${amountToText(fees)},${amountToText(interest)},${amountToText(principal)}`

/**
 * Reads the last four parts of a text, from an index on; without a list of the parts, because most loans have dozens.
 * @throws SyntaxError where there are fewer parts, or one is not a number
 */
export function portionsFromText(text: string, from = 0): Portions {
  const fees = text.indexOf(',', from) + 1
  const interest = text.indexOf(',', fees) + 1
  const principal = text.indexOf(',', interest) + 1
  if (fees === 0 || interest === 0 || principal === 0) throw new SyntaxError('an amount of each component')
  return {
    penalty: amountFromText(text.slice(from, fees - 1)),
    fees: amountFromText(text.slice(fees, interest - 1)),
    interest: amountFromText(text.slice(interest, principal - 1)),
    principal: amountFromText(text.slice(principal)),
  }
}

/** Writes minor units; empty for 0. */
export const amountToText = (minor: bigint): string => (minor === 0n ? '' : String(minor))

/** Reads minor units. @throws SyntaxError where the text is not a number */
export const amountFromText = (text = ''): bigint => (text === '' ? 0n : BigInt(text))
