import { invalidArgument } from '../errors.ts'
import type { Currency } from '../money.ts'
import { type NewSize, oneOf, sizeOf } from './newValues.ts'
import { FEE_BASES, FEE_TIMES, FEE_TREATMENTS, type Fee } from './terms.ts'

/** A fee of a request; rates in percent. */
export interface NewFee extends NewSize {
  readonly name: string
  readonly base: string
  readonly when: string
  /** Default `added`. */
  readonly treatment?: string | undefined
}

/** The most fees of a product, and the longest name of one. */
export const MOST_FEES = 10
export const LONGEST_FEE_NAME = 100

/** Returns the fees that a request asks for. @throws LendingError `invalid_argument` */
export function newFeesOf(fees: readonly NewFee[], currency: Currency): Fee[] {
  if (fees.length > MOST_FEES) throw invalidArgument('fees', `must have at most ${MOST_FEES} fees`)
  const first = new Map<string, number>()
  return fees.map((fee, index) => {
    const { name } = fee
    requireName(name, index)
    const before = first.get(name)
    if (before !== undefined)
      throw invalidArgument(`fees[${index}].name`, (nameOf) => `is the name of ${nameOf(`fees[${before}]`)}, too`)
    first.set(name, index)
    return feeOf(fee, index, currency)
  })
}

function requireName(name: string, index: number): void {
  if (name.trim() === '' || [...name].length > LONGEST_FEE_NAME || /\p{Cc}/u.test(name))
    throw invalidArgument(`fees[${index}].name`, `must be 1 to ${LONGEST_FEE_NAME} characters`)
  if (name !== name.trim()) throw invalidArgument(`fees[${index}].name`, 'must not begin or end with a space')
}

function feeOf({ name, ...asked }: NewFee, index: number, currency: Currency): Fee {
  const role = (member: string) => `fees[${index}].${member}` as const
  const treatment = oneOf(role('treatment'), FEE_TREATMENTS, asked.treatment)
  const base = oneOf(role('base'), FEE_BASES, asked.base)
  const when = oneOf(role('when'), FEE_TIMES, asked.when)
  const value = sizeOf(role, base, asked, currency)
  if (treatment === 'deducted' && base === 'instalment')
    throw invalidArgument(
      role('base'),
      (nameOf) =>
        `must be fixed or principal where ${nameOf(role('treatment'))} is deducted: the fee is kept back from what is paid out, and is in no instalment`,
    )
  if (treatment === 'deducted' && when !== 'disbursement')
    throw invalidArgument(
      role('when'),
      (nameOf) =>
        `must be disbursement where ${nameOf(role('treatment'))} is deducted: the fee is kept back from what is paid out`,
    )
  if (base === 'instalment' && when !== 'each_instalment')
    throw invalidArgument(
      role('when'),
      (nameOf) => `must be each_instalment where ${nameOf(role('base'))} is instalment`,
    )
  return { name, base, value, when, treatment }
}
