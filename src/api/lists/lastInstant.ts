import type { Deps } from '../../app/deps.ts'
import { dateIn, dayAfter, type Instant, startOfDay } from '../../domain/dates.ts'
import type { DayOrInstant } from './query.ts'

/** Returns an instant; of a day the last one, of today the present one of an organization. */
export function lastInstantOf(
  asked: DayOrInstant,
  { config: { zone }, now }: Pick<Deps, 'config' | 'now'>,
  organizationId: number,
): Instant {
  if ('instant' in asked) return asked.instant
  const at = now(organizationId)
  return asked.day === dateIn(zone, at) ? at : startOfDay(dayAfter(asked.day), zone) - 1
}
