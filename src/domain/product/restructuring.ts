import type { Decimal } from '../money.ts'
import { rateOf, wholeOf } from './newValues.ts'
import type { RestructureLimits } from './terms.ts'

/** The bounds of restructures in a request for a product. */
export interface NewRestructureLimits {
  readonly maxTimes?: number | undefined
  /** In percent of the principal. */
  readonly minPaidPercent?: Decimal | undefined
  readonly maxDaysAdded?: number | undefined
}

/** The most restructures and the most added days that a product may name. */
export const MOST_RESTRUCTURES = 100
export const MOST_DAYS_ADDED = 36_500

const PERCENT_100 = 100_000_000n

/** Returns the bounds that are asked for; null where none is given. @throws LendingError `invalid_argument` */
export function restructureLimitsOf(asked: NewRestructureLimits | undefined): RestructureLimits | null {
  if (asked === undefined) return null
  const { maxTimes, minPaidPercent, maxDaysAdded } = asked
  const limits = {
    maxTimes: maxTimes === undefined ? null : wholeOf('restructuring.maxTimes', maxTimes, 0, MOST_RESTRUCTURES),
    minPaidPercent:
      minPaidPercent === undefined ? null : rateOf('restructuring.minPaidPercent', minPaidPercent, 0n, PERCENT_100),
    maxDaysAdded:
      maxDaysAdded === undefined ? null : wholeOf('restructuring.maxDaysAdded', maxDaysAdded, 0, MOST_DAYS_ADDED),
  }
  return Object.values(limits).every((limit) => limit === null) ? null : limits
}
