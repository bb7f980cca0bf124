import { invalidArgument } from '../errors.ts'
import type { Currency, Decimal, Rate } from '../money.ts'
import { type NewSize, oneOf, rateOf, sizeOf, wholeOf } from './newValues.ts'
import { PENALTY_BASES, PENALTY_REPEATS, PENALTY_SCOPES, type PenaltyTerms } from './terms.ts'

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
export interface Penalties {
  readonly penaltyRate: Rate | null
  readonly penalty: PenaltyTerms | null
}

/** The longest grace of a penalty in days, and the most penalties that `maxTimes` can allow. */
export const MOST_GRACE_DAYS = 365
export const MOST_TIMES = 10_000

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
