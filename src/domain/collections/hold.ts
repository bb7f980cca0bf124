import { addPeriods, type LocalDate } from '../dates.ts'
import { failedPrecondition, invalidArgument } from '../errors.ts'

/** What is not done with a loan while a hold stands: raise penalties, remind the borrower, list the loan at a bureau. */
export const HOLD_KINDS = ['penalties', 'reminders', 'listing'] as const
export type HoldKind = (typeof HOLD_KINDS)[number]

/** The most days of a hold. */
export const MOST_HOLD_DAYS = 366

/** The days of a hold. */
export interface HoldDays {
  readonly from: LocalDate
  /** The last day. */
  readonly until: LocalDate
  /** The first day on which it counts no longer; null: it was not released. */
  readonly releasedOn: LocalDate | null
}

/** Returns whether a hold counts on a day. */
export const holdsOn = ({ from, until, releasedOn }: HoldDays, day: LocalDate): boolean =>
  from <= day && day <= until && (releasedOn === null || day < releasedOn)

/**
 * Requires that a hold can begin.
 * @param standing whether another hold of the same kind counts today or later
 * @throws LendingError `invalid_argument` for its last day, `failed_precondition` while another one stands
 */
export function requireHold(
  { what, until }: { readonly what: HoldKind; readonly until: LocalDate },
  { isStanding, today }: { readonly isStanding: boolean; readonly today: LocalDate },
): void {
  const last = addPeriods(today, MOST_HOLD_DAYS, 'days')
  if (until < today || until > last) throw invalidArgument('holdUntil', `must be from ${today} to ${last}`)
  if (isStanding) throw failedPrecondition(`another hold of ${what} stands; release it before another begins`)
}
