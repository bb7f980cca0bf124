import { type FaultRole, invalidArgument } from '../errors.ts'
import { type Currency, type Decimal, type Rate, toMinor } from '../money.ts'
import { oneOf, rateOf, wholeOf } from './newValues.ts'
import {
  FEE_BASES,
  FEE_TIMES,
  FEE_TREATMENTS,
  type Fee,
  PENALTY_BASES,
  PENALTY_REPEATS,
  PENALTY_SCOPES,
  type PenaltyTerms,
  type Tax,
} from './terms.ts'

// The charges of a request for a product, read and checked: fees, taxes and penalties.

/** The size of a charge in a request: an amount where the base is `fixed`, else a rate in percent. */
interface NewSize {
  readonly rate?: Decimal | undefined
  readonly amount?: Decimal | undefined
}

/** A tax of a request. */
export interface NewTax {
  readonly name: string
  /** Of the charge that it is added to. */
  readonly percent: Decimal
}

/** A fee of a request; rates in percent. */
export interface NewFee extends NewSize {
  readonly name: string
  readonly base: string
  readonly when: string
  /** Default `added`. */
  readonly treatment?: string | undefined
  readonly tax?: NewTax | undefined
}

/** The most fees of a product, and the longest name of one. */
export const MOST_FEES = 10
export const LONGEST_FEE_NAME = 100

/** The penalties of a request; rates in percent. */
export interface NewPenalty extends NewSize {
  readonly base: string
  readonly every: string
  /** Default 0. */
  readonly graceDays?: number | undefined
  readonly maxTimes?: number | undefined
  readonly capPercentOfPrincipal?: Decimal | undefined
  readonly per: string
}

/** The penalties in a request for a product, in one of two forms. */
export interface AskedPenalties {
  /** The one-time penalty of contract 4.3.4, in percent of the principal. */
  readonly penaltyRate?: Decimal | undefined
  readonly penalty?: NewPenalty | undefined
}

/** The penalties of a product: a one-time penalty as a rate of the principal, or terms; both null: none. */
interface Penalties {
  readonly penaltyRate: Rate | null
  readonly penalty: PenaltyTerms | null
}

/** The longest grace of a penalty in days, and the most penalties that `maxTimes` can allow. */
export const MOST_GRACE_DAYS = 365
export const MOST_TIMES = 10_000

/** Returns the fees that a request asks for. @throws LendingError `invalid_argument` */
export function newFeesOf(fees: readonly NewFee[], currency: Currency): Fee[] {
  if (fees.length > MOST_FEES) throw invalidArgument('fees', `must have at most ${MOST_FEES} fees`)
  const first = new Map<string, number>()
  return fees.map((fee, index) => {
    const { name } = fee
    requireName(`fees[${index}].name`, name)
    const before = first.get(name)
    if (before !== undefined)
      throw invalidArgument(`fees[${index}].name`, (nameOf) => `is the name of ${nameOf(`fees[${before}]`)}, too`)
    first.set(name, index)
    return feeOf(fee, index, currency)
  })
}

function requireName(role: FaultRole, name: string): void {
  if (name.trim() === '' || [...name].length > LONGEST_FEE_NAME || /\p{Cc}/u.test(name))
    throw invalidArgument(role, `must be 1 to ${LONGEST_FEE_NAME} characters`)
  if (name !== name.trim()) throw invalidArgument(role, 'must not begin or end with a space')
}

const PERCENT_100 = 100_000_000n

/** Returns the tax that a request asks for. @param of the charge, or the member that has the tax @throws LendingError `invalid_argument` */
export function newTaxOf(of: 'interestTax' | `fees[${number}].tax`, { name, percent }: NewTax): Tax {
  requireName(`${of}.name`, name)
  return { name, rate: rateOf(`${of}.percent`, percent, 1n, PERCENT_100) }
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
  const tax = asked.tax === undefined ? null : newTaxOf(`fees[${index}].tax`, asked.tax)
  return { name, base, value, when, treatment, tax }
}

/**
 * Returns the penalties that a request asks for. Terms that say no more than a one-time rate are that rate, so that a
 * product has one form (contract 10.8).
 * @throws LendingError `invalid_argument`
 */
export function newPenaltiesOf({ penalty, penaltyRate }: AskedPenalties, currency: Currency): Penalties {
  const single = penaltyRate ? rateOf('penaltyRate', penaltyRate, 1n) : null
  if (penalty === undefined) return { penaltyRate: single, penalty: null }
  if (single !== null)
    throw invalidArgument(
      'penalty',
      (nameOf) => `cannot be given together with ${nameOf('penaltyRate')}: a product has one kind of penalty`,
    )
  const terms = penaltyOf(penalty, currency)
  return isSingle(terms) ? { penaltyRate: terms.value, penalty: null } : { penaltyRate: null, penalty: terms }
}

const isSingle = ({ base, every, per, graceDays, capOfPrincipal }: PenaltyTerms): boolean =>
  base === 'principal' && every === 'once' && per === 'loan' && graceDays === 0 && capOfPrincipal === null

function penaltyOf(asked: NewPenalty, currency: Currency): PenaltyTerms {
  const role = (member: string) => `penalty.${member}` as const
  const base = oneOf(role('base'), PENALTY_BASES, asked.base)
  const every = oneOf(role('every'), PENALTY_REPEATS, asked.every)
  const per = oneOf(role('per'), PENALTY_SCOPES, asked.per)
  const value = sizeOf(role, base, asked, currency)
  const graceDays = wholeOf(role('graceDays'), asked.graceDays ?? 0, 0, MOST_GRACE_DAYS)
  const { maxTimes, capPercentOfPrincipal: cap } = asked
  if (maxTimes !== undefined && every === 'once')
    throw invalidArgument(
      role('maxTimes'),
      (nameOf) => `cannot be given where ${nameOf(role('every'))} is once: such a penalty is not repeated`,
    )
  return {
    base,
    value,
    every,
    graceDays,
    per,
    maxTimes: maxTimes === undefined ? null : wholeOf(role('maxTimes'), maxTimes, 1, MOST_TIMES),
    capOfPrincipal: cap === undefined ? null : rateOf(role('capPercentOfPrincipal'), cap, 1n),
  }
}

/**
 * Returns the size of a charge: minor units for the base `fixed`, else millionths of a percent.
 * @param roleOf the role of a member of the charge
 * @throws LendingError `invalid_argument`, also where the size is not of the kind that the base takes
 */
function sizeOf(roleOf: (member: string) => FaultRole, base: string, asked: NewSize, currency: Currency): bigint {
  const isFixed = base === 'fixed'
  const [wanted, other] = isFixed ? (['amount', 'rate'] as const) : (['rate', 'amount'] as const)
  const value = asked[wanted]
  if (value === undefined)
    throw invalidArgument(roleOf(wanted), (nameOf) => `is required where ${nameOf(roleOf('base'))} is ${base}`)
  if (asked[other] !== undefined)
    throw invalidArgument(roleOf(other), (nameOf) => `cannot be given where ${nameOf(roleOf('base'))} is ${base}`)
  return isFixed ? toMinor(value, currency, roleOf(wanted)) : rateOf(roleOf(wanted), value, 1n)
}
