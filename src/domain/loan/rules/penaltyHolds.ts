import { dayAfter, dayBefore, type Instant, type LocalDate } from '../../dates.ts'
import { type Decision, type Loan, stateOf } from '../loan.ts'
import { replay } from '../replay.ts'
import type { HeadTerms } from '../terms/terms.ts'
import type { HeldDays } from './heldDaysText.ts'
import { lastPenaltyDay } from './penalties.ts'

/** Returns the first day whose penalties are not raised yet at a moment: a hold changes none that was raised. */
export const firstHoldable = (terms: HeadTerms, now: Instant): LocalDate => dayAfter(lastPenaltyDay(terms, now))

/** Returns the held days of a loan with those of a hold that begins. */
export const withHold = ({ penaltyHolds = [] }: HeadTerms, hold: HeldDays): HeldDays[] => [...penaltyHolds, hold]

/**
 * Returns the held days of a loan with the last ones up to a day alone.
 * @param on the first day that is held no longer
 */
export const heldUntil = ({ penaltyHolds = [] }: HeadTerms, on: LocalDate): HeldDays[] =>
  penaltyHolds.flatMap(({ from, through }, index) => {
    if (index < penaltyHolds.length - 1 || through < on) return [{ from, through }]
    return from < on ? [{ from, through: dayBefore(on) }] : []
  })

/** Decides that no penalty is raised on some days. The days of before stay as they were. */
export function holdPenalties(loan: Loan, penaltyHolds: readonly HeldDays[], now: Instant): Decision {
  const before = stateOf(loan, now)
  const state = replay({ ...loan.terms, penaltyHolds }, loan.entries, now)
  return { before, reason: null, posted: null, outcome: undefined, reversed: null, state, penaltyHolds }
}
