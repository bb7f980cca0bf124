import { addPeriods, type Instant, type LocalDate } from '../dates.ts'
import { invalidArgument } from '../errors.ts'

/** How a customer was contacted. */
export const CONTACT_CHANNELS = ['call', 'sms', 'whatsapp', 'visit', 'email', 'letter', 'office', 'other'] as const
export type ContactChannel = (typeof CONTACT_CHANNELS)[number]

/** What came of a contact. */
export const CONTACT_OUTCOMES = [
  'reached',
  'promised',
  'refused',
  'disputed',
  'message_left',
  'no_answer',
  'wrong_number',
  'other',
] as const
export type ContactOutcome = (typeof CONTACT_OUTCOMES)[number]

/** The most characters of a note or a reason. */
export const LONGEST_NOTE = 1_000
/** The most days until the next action. */
export const MOST_DAYS_AHEAD = 366

/**
 * Requires that a contact was made by now, and that the next action is today or within `MOST_DAYS_AHEAD` days.
 * @throws LendingError `invalid_argument`
 */
export function requireContact(
  { contactedAt, nextOn }: { readonly contactedAt: Instant; readonly nextOn: LocalDate | null },
  now: Instant,
  today: LocalDate,
): void {
  if (contactedAt > now) throw invalidArgument('contactedAt', 'must not be in the future')
  if (nextOn === null) return
  const last = addPeriods(today, MOST_DAYS_AHEAD, 'days')
  if (nextOn < today || nextOn > last) throw invalidArgument('nextOn', `must be from ${today} to ${last}`)
}
