import { dateIn, dayAfter, type Instant, type LocalDate, startOfDay } from '../dates.ts'
import type { Entry } from '../loan/entry.ts'

/**
 * Returns the moment of a day that is looked at: its end; of the day of the knowledge, the instant of the knowledge.
 * @param knownAt now, or an earlier instant
 */
export const momentOf = (day: LocalDate, knownAt: Instant, zone: string): Instant =>
  day === dateIn(zone, knownAt) ? knownAt : startOfDay(dayAfter(day), zone) - 1

/** Returns the entries that were posted up to an instant; those reversed later count as unreversed. */
export const knownThen = <Posted extends Pick<Entry, 'postedAt' | 'reversedAt'>>(
  entries: readonly Posted[],
  at: Instant,
): Posted[] =>
  entries
    .filter(({ postedAt }) => postedAt <= at)
    .map((entry) => (entry.reversedAt !== null && entry.reversedAt > at ? { ...entry, reversedAt: null } : entry))

/** Returns the entries that are dated up to a day. */
export const datedUpTo = <Dated extends Pick<Entry, 'valueDate'>>(day: LocalDate, entries: readonly Dated[]): Dated[] =>
  entries.filter(({ valueDate }) => valueDate <= day)
