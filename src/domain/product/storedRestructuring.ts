import { invariant } from '../errors.ts'
import { digits, isCount } from './storedTerms.ts'
import type { RestructureLimits } from './terms.ts'

/** Bounds as they are stored: the rate in digits, which JSON keeps exactly. */
export type StoredRestructureLimits = Omit<RestructureLimits, 'minPaidPercent'> & {
  readonly minPaidPercent: string | null
}

/** Returns bounds in the form in which they are stored. */
export const toStoredLimits = ({
  maxTimes,
  minPaidPercent,
  maxDaysAdded,
}: RestructureLimits): StoredRestructureLimits => ({
  maxTimes,
  minPaidPercent: minPaidPercent?.toString() ?? null,
  maxDaysAdded,
})

/** Returns the bounds of their stored form. @throws InvariantError for a value that `toStoredLimits` did not make */
export function fromStoredLimits(stored: unknown): RestructureLimits | null {
  if (stored === null || stored === undefined) return null
  const { maxTimes, minPaidPercent, maxDaysAdded } = stored as StoredRestructureLimits
  invariant(
    (maxTimes === null || isCount(maxTimes)) && (maxDaysAdded === null || isCount(maxDaysAdded)),
    'stored bounds of restructures with whole numbers',
  )
  return { maxTimes, minPaidPercent: minPaidPercent === null ? null : digits(minPaidPercent), maxDaysAdded }
}
